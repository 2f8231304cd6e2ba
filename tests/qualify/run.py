#!/usr/bin/env python3
"""weir gen, a pipeline, weir verify: exact after kills at every named point, not exact after any change of an output.

  run.py [--seed N] [--only SUBSTRING]

What verify says is held against a second opinion that shares nothing with it: the raw files are read here, and counted.
"""
import argparse
import base64
import collections
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))

from weirtest import oracle  # noqa: E402
from weirtest.books import require_balance  # noqa: E402
from weirtest.report import Failure, Report  # noqa: E402
from weirtest.weir import KILLED, LOG_DIR, ROOT, WORK_DIR, Weir  # noqa: E402

PIPELINE = os.path.join(ROOT, "docs", "examples", "qualify.sql")
WINDOW_MS = 10000
GEN = ["--partitions", "4", "--records", "24000", "--rate", "400", "--items", "40", "--jitter", "1500 ms", "--bound", "5 s",
       "--late-by", "40 s", "--out-of-order", "0.02", "--late", "0.02", "--duplicates", "0.01", "--poison", "0.01"]
LAYERS = ["--raw", "events", "--cleaned", "cleaned", "--windows", "sqlite:results.db:counts", "--late", "late.jsonl",
          "--dead", "dead.jsonl", "--window", "10 s"]
RUN = ["run", "qualify.sql", "--progress", "never", "--trace", "trace.jsonl"]
SMALL_STEPS = ["--set", "weir.batch-rows=64", "--set", "execution.checkpointing.interval=1 ms"]


def directory(name):
    work = os.path.join(WORK_DIR, "qualify", name)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(os.path.join(work, "cleaned"))
    shutil.copyfile(PIPELINE, os.path.join(work, "qualify.sql"))
    return work


def verify(weir, *more, want=0, layers=None, ledger="events.ledger"):
    life = weir("verify", ledger, *(LAYERS if layers is None else layers), *more, "--json", want=want)
    try:
        return json.loads(life.out)
    except ValueError as error:
        raise Failure(f"verify --json printed no JSON: {error}", weir.log()) from None


def require_only(verdict, layer, faults, count=1):
    """The verdict has faults of one of these kinds in this layer, and no others."""
    faults = (faults,) if isinstance(faults, str) else faults
    met = {(entry["layer"], name): entry[name] for entry in verdict["layers"]
           for name in ("missing", "duplicate", "conflicting", "foreign", "on_time") if entry[name]}
    if len(met) != 1 or not any(met.get((layer, fault)) == count for fault in faults):
        raise Failure(f"want {faults} in {layer}, got {met}", json.dumps(verdict, indent=1))
    return [f["text"] for entry in verdict["layers"] for f in entry["findings"]]


class Raw:
    """The generated files, read without weir: what the ledger's options promise, counted."""

    def __init__(self, work):
        self.events, self.poison, self.partitions = [], [], 0
        for name in sorted(os.listdir(os.path.join(work, "events"))):
            self.partitions += 1
            with open(os.path.join(work, "events", name), "rb") as f:
                for line in f.read().splitlines():
                    event = self.decode(line)
                    if event is None:
                        self.poison.append(line)
                    else:
                        self.events.append(event)

    @staticmethod
    def decode(line):
        try:
            row = json.loads(line.decode("utf-8"))
            if not isinstance(row["amount"], int):
                return None
            return row["part"], row["seq"], row["item"], row["amount"], oracle.ms(row["ts"])
        except ValueError:
            return None


def second_opinion(work):
    """Every decodable record is in its window or among the late rows; every other is a dead letter."""
    raw = Raw(work)
    late = []
    with open(os.path.join(work, "late.jsonl"), encoding="utf-8") as f:
        for line in f:
            row = json.loads(line)
            late.append((row["part"], row["seq"], row["item"], row["amount"], oracle.ms(row["ts"])))
    windows = collections.Counter()
    for part, seq, item, amount, ts in raw.events:
        windows[ts // WINDOW_MS * WINDOW_MS, item, "n"] += 1
        windows[ts // WINDOW_MS * WINDOW_MS, item, "total"] += amount
    for part, seq, item, amount, ts in late:
        windows[ts // WINDOW_MS * WINDOW_MS, item, "n"] -= 1
        windows[ts // WINDOW_MS * WINDOW_MS, item, "total"] -= amount
    got = collections.Counter()
    with sqlite3.connect(os.path.join(work, "results.db")) as db:
        for start, item, n, total in db.execute("SELECT window_start, item, n, total FROM counts"):
            got[oracle.ms(start), item, "n"] += n
            got[oracle.ms(start), item, "total"] += total
    db.close()
    with open(os.path.join(work, "dead.jsonl"), encoding="utf-8") as f:
        dead = [base64.b64decode(json.loads(line)["raw"]) for line in f]
    if +windows != +got:
        raise Failure("the windows are not those of the raw files")
    if sorted(dead) != sorted(raw.poison):
        raise Failure("the dead letters are not the poison of the raw files")
    if not late or not raw.poison or len(late) > len(raw.events) // 20:
        raise Failure(f"{len(late)} late of {len(raw.events)}, {len(raw.poison)} dead: the input shows too little")
    return raw


def prepared(name, seed, run=True):
    weir = Weir(directory(name))
    weir("gen", "events.ledger", "--to", "events", "--seed", str(seed), *GEN, "--progress", "never", want=0)
    if run:
        weir(*RUN, want=0)
    return weir


def exact(seed):
    """Straight through: every layer exact, and the second opinion agrees."""
    weir = prepared("exact", seed)
    verdict = verify(weir, "--input-ended")
    raw = second_opinion(weir.cwd)
    counts = {entry["layer"]: entry["judged"] for entry in verdict["layers"]}
    if counts["cleaned"] != len(raw.events) or counts["dead"] != len(raw.poison) or counts["raw"] != 24000:
        raise Failure(f"verify judged {counts}, the files hold {len(raw.events)} and {len(raw.poison)}", weir.log())
    require_balance(weir.status("qualify.sql"), weir.log())
    # The same seed gives the same bytes, another one does not.
    weir("gen", "again.ledger", "--to", "again", "--seed", str(seed), *GEN, want=0)
    weir("gen", "other.ledger", "--to", "other", "--seed", str(seed + 1), *GEN, want=0)
    bytes_of = {name: open(os.path.join(weir.cwd, name, "part-2.jsonl"), "rb").read()
                for name in ("events", "again", "other")}
    if bytes_of["events"] != bytes_of["again"] or bytes_of["events"] == bytes_of["other"]:
        raise Failure("the events are no function of the seed", weir.log())
    # Without the word that the input has ended, the last windows are not judged.
    if verify(weir)["verdict"] != "exact":
        raise Failure("exact with --input-ended, and not without", weir.log())
    # Another ledger's events are not these.
    weir("verify", "other.ledger", *LAYERS, "--input-ended", want=65)


POINTS = ["seal.before_commit", "seal.after_commit", "deliver.before_commit", "deliver.between_commit_and_ack",
          "scan.after_batch", "takeover.after_run_row"]


def killed(seed, rng):
    """Killed at named points and random batches, run again, exact. A run that comes to its end before its point is the
    last one."""
    weir = prepared("killed", seed, run=False)
    slow = "scan.after_batch=wait:4@every"
    kills = 0
    for point in rng.sample(POINTS, len(POINTS)):
        if weir.finished("qualify.sql"):
            break
        at = rng.randrange(2, 40) if point == "scan.after_batch" else 1 if point.startswith("takeover") else rng.randrange(1, 4)
        life = weir(*RUN, *SMALL_STEPS, fault=f"{point}=kill@{at},{slow}")
        if life.code == KILLED and life.witness:
            kills += 1
        elif life.code != 0:
            raise Failure(f"{point}: ended with {life.code}", weir.log())
    if kills < 4:
        raise Failure(f"only {kills} kills", weir.log())
    if not weir.finished("qualify.sql"):
        weir(*RUN, *SMALL_STEPS, want=0)
    verify(weir, "--input-ended")
    second_opinion(weir.cwd)
    weir("trace", "verify", "trace.jsonl", want=0)


def lines_of(path):
    with open(path, "rb") as f:
        return f.read().splitlines(keepends=True)


def write_lines(path, lines):
    with open(path, "wb") as f:
        f.writelines(lines)


def part_of(work):
    name = max((n for n in os.listdir(os.path.join(work, "cleaned")) if not n.startswith(".")),
               key=lambda n: os.path.getsize(os.path.join(work, "cleaned", n)))
    return os.path.join("cleaned", name)


def tampered(seed, rng):
    """Each layer changed in each way: not exact, for what was done and nothing else."""
    weir = prepared("tampered", seed)
    work = weir.cwd
    verify(weir, "--input-ended")

    def change(name, layer, fault, edit):
        path = os.path.join(work, name)
        before = lines_of(path)
        lines = list(before)
        edit(lines, rng.randrange(len(lines)))
        write_lines(path, lines)
        texts = require_only(verify(weir, "--input-ended", want=65), layer, fault)
        if not re.search(r"\d+:\d+|row \d+ of", texts[0]):
            raise Failure(f"no sequence number in {texts[0]}", weir.log())
        write_lines(path, before)

    def gone(lines, i):
        del lines[i]

    def twice(lines, i):
        lines.insert(0, lines[i])

    def altered(lines, i):
        lines[i] = re.sub(rb'("amount":)(\d+)', rb"\g<1>1\2", lines[i])

    def stranger(lines, i):
        lines[i:i] = [b'{"part":0,"seq":77777777,"item":"i1","amount":1,"ts":"2026-01-01 00:00:00.000"}\n']

    for name, layer in (("events/part-1.jsonl", "raw"), (part_of(work), "cleaned"), ("dead.jsonl", "dead")):
        change(name, layer, "missing", gone)
        change(name, layer, "duplicate", twice)
        change(name, layer, "foreign", stranger)
    change(part_of(work), "cleaned", "conflicting", altered)
    change("late.jsonl", "late", "conflicting", altered)
    change("late.jsonl", "late", "foreign", stranger)
    # A late row that is lost is missing from its window: from the sum, or as the only event of its item.
    change("late.jsonl", "windows", ("conflicting", "missing"), gone)

    db_path = os.path.join(work, "results.db")

    def sql(statement, fault):
        shutil.copy(db_path, os.path.join(work, "whole.db"))
        db = sqlite3.connect(db_path)
        with db:
            if db.execute(statement).rowcount != 1:
                raise Failure(f"{statement} changed nothing")
        db.close()
        require_only(verify(weir, "--input-ended", want=65), "windows", fault)
        shutil.copy(os.path.join(work, "whole.db"), db_path)

    some = "(SELECT rowid FROM counts WHERE n > 3 LIMIT 1 OFFSET 9)"
    sql(f"DELETE FROM counts WHERE rowid = {some}", "missing")
    sql(f"INSERT INTO counts SELECT * FROM counts WHERE rowid = {some}", "duplicate")
    sql(f"UPDATE counts SET n = n - 1 WHERE rowid = {some}", "conflicting")
    sql("INSERT INTO counts SELECT '2031-01-01 00:00:00.000', '2031-01-01 00:00:10.000', 'i1', 1, 1", "foreign")
    on_time(weir, db_path)


def on_time(weir, db_path):
    """An event on time that is moved from its window to the late rows: counted there, and filed wrongly."""
    raw = Raw(weir.cwd)
    by_window = collections.defaultdict(list)
    for event in raw.events:
        by_window[event[4] // WINDOW_MS * WINDOW_MS, event[2]].append(event)
    seen = collections.Counter(e[:2] for e in raw.events)
    # The highest of its window stands in front of what its own partition had before: certainly on time.
    (start, item), events = sorted(by_window.items())[len(by_window) // 2]
    event = max((e for e in events if seen[e[:2]] == 1), key=lambda e: e[4])
    db = sqlite3.connect(db_path)
    with db:
        changed = db.execute("UPDATE counts SET n = n - 1, total = total - ? WHERE window_start = ? AND item = ?",
                             (event[3], oracle.text(start), item)).rowcount
    db.close()
    if changed != 1:
        raise Failure("no such window")
    late = os.path.join(weir.cwd, "late.jsonl")
    row = {"part": event[0], "seq": event[1], "item": item, "amount": event[3], "ts": oracle.text(event[4])}
    write_lines(late, [*lines_of(late), json.dumps(row).encode() + b"\n"])
    texts = require_only(verify(weir, "--input-ended", want=65), "late", "on_time")
    if not texts[0].startswith(f"{event[0]}:{event[1]} "):
        raise Failure(f"another event is named: {texts[0]}")


def refusals(seed):
    """What is asked wrongly is refused, with what to ask instead."""
    weir = prepared("refusals", seed, run=False)
    for words, code, says in (
            (["gen", "events.ledger", "--to", "more"], 73, "events.ledger"),
            (["gen", "new.ledger", "--to", "events"], 73, "part-0.jsonl"),
            (["gen", "new.ledger"], 64, "--to"),
            (["gen"], 64, "LEDGER"),
            (["gen", "new.ledger", "--to", "x", "--late", "1.5"], 64, "--late"),
            (["gen", "new.ledger", "--to", "x", "--late", "0.0000001"], 64, "--late"),
            (["gen", "new.ledger", "--to", "x", "--jitter", "5"], 64, "--jitter"),
            (["gen", "new.ledger", "--to", "x", "--jitter", "9 s"], 64, "--bound"),
            (["gen", "new.ledger", "--to", "x", "--rate", "-1"], 64, "--rate"),
            (["gen", "new.ledger", "--to", "x", "--start", "2026-02-30"], 64, "--start"),
            (["gen", "new.ledger", "--to", "none/x"], 78, "none"),
            (["gen", "new.ledger", "--to", "kafka:t", "--kafka", "bootstrap.servers=${NO_SUCH_NAME}"], 78, "NO_SUCH_NAME"),
            (["gen", "new.ledger", "--to", "kafka:t", "--kafka", "bootstrap.servers=${x"], 78, "${ without }"),
            (["gen", "new.ledger", "--to", "kafka:t", "--kafka", "sasl.password=${vault:x}"], 78, "${vault:x}"),
            (["verify", "events.ledger"], 64, "--raw"),
            (["verify", "none.ledger", "--raw", "events"], 78, "none.ledger"),
            (["verify", "qualify.sql", "--raw", "events"], 78, "not a ledger"),
            (["verify", "events.ledger", "--raw", "nothing"], 78, "nothing"),
            (["verify", "events.ledger", "--raw", "sqlite:a.db:t"], 64, "bytes"),
            (["verify", "events.ledger", "--windows", "sqlite:a.db"], 64, "--window"),
            (["verify", "events.ledger", "--windows", "sqlite:a.db", "--window", "10 s"], 64, "sqlite:FILE:TABLE"),
            (["verify", "events.ledger", "--windows", "events", "--window", "10 s"], 64, "--late"),
            (["verify", "events.ledger", "--raw", "events", "--window", "10 s"], 64, "--window"),
            (["verify", "events.ledger", "--raw", "events", "--column", "raw.x=y"], 64, "raw.x"),
            (["verify", "events.ledger", "--raw", "events", "--column", "late.seq=y"], 64, "--late"),
            (["verify", "events.ledger", "--dead", "events", "--column", "dead.raw="], 64, "dead.raw")):
        life = weir(*words, want=code)
        if says not in life.err:
            raise Failure(f"{' '.join(words)}: {life.err.strip()} does not say {says}", weir.log())
    if os.path.exists(os.path.join(weir.cwd, "new.ledger")):
        raise Failure("a refused gen left a ledger that would be in the way", weir.log())


def inconclusive(seed):
    """Nothing is wrong and nothing could be judged: no pass."""
    weir = Weir(directory("inconclusive"))
    weir("gen", "events.ledger", "--to", "events", "--records", "40", "--seed", str(seed), want=0)
    for name in ("late.jsonl", "windows.jsonl"):
        write_lines(os.path.join(weir.cwd, name), [])
    words = ["verify", "events.ledger", "--windows", "windows.jsonl", "--late", "late.jsonl", "--window", "10 s"]
    life = weir(*words, want=75)
    if b"verdict  inconclusive" not in life.out:
        raise Failure("no such verdict", weir.log())
    weir(*words, "--input-ended", want=65)


def alive(seed):
    """A generator that keeps its rate, a pipeline that follows it, verify beside both; then a stop, and a kill."""
    weir = Weir(directory("alive"))
    work = weir.cwd
    os.makedirs(os.path.join(work, "events"))
    with open(PIPELINE, encoding="utf-8") as f:
        text = f.read()
    followed = text.replace("'path' = 'events',", "'path' = 'events', 'source.monitor-interval' = '50 ms',")
    if followed == text:
        raise Failure("the example has another form")
    with open(os.path.join(work, "qualify.sql"), "w", encoding="utf-8") as f:
        f.write(followed)
    gen = [*GEN[:2], "--records", "0", *GEN[4:], "--pace"]
    gen[gen.index("--rate") + 1] = "20000"
    gen[gen.index("--late-by") + 1] = "10 s"
    with weir.start("gen", "events.ledger", "--to", "events", "--seed", str(seed), *gen) as generator, \
            weir.start(*RUN) as pipeline:
        deadline = time.monotonic() + 120
        while True:
            life = weir("verify", "events.ledger", *LAYERS[2:], "--wait", "2 s", "--json", want=(0, 73, 75, 78))
            if life.code == 0 and json.loads(life.out)["layers"][-1]["judged"] > 40:
                break
            if time.monotonic() > deadline:
                raise Failure("no window was judged in two minutes", weir.log())
        verdict = json.loads(life.out)
        if verdict["ended"] or not any(entry["open_windows"] or entry["ahead"] for entry in verdict["layers"]):
            raise Failure(f"nothing was open while the generator ran: {verdict}", weir.log())
        generator.signal(signal.SIGTERM)
        if generator.wait().code != 0:
            raise Failure("a generator that was stopped ended badly", generator.err())
        verdict = verify(weir, "--wait", "3 s", layers=LAYERS)
        if not verdict["ended"]:
            raise Failure("the ledger of a stopped generator has no end", weir.log())
        pipeline.signal(signal.SIGTERM)
        if pipeline.wait().code != 0:
            raise Failure("the pipeline ended badly", pipeline.err())
    # A generator that is killed leaves a ledger without end: what it had sent may be there or not.
    with weir.start("gen", "killed.ledger", "--to", "killed", "--records", "0", "--seed", str(seed)) as generator:
        path = os.path.join(work, "killed.ledger")
        deadline = time.monotonic() + 60
        while not os.path.exists(path) or b"produced" not in open(path, "rb").read():
            if time.monotonic() > deadline:
                raise Failure("nothing was produced", generator.err())
            time.sleep(0.01)
        generator.kill()
    verdict = verify(weir, layers=["--raw", "killed"], ledger="killed.ledger")
    if verdict["ended"] or verdict["records"] == 0:
        raise Failure(f"a killed generator: {verdict}", weir.log())
    weir("verify", "killed.ledger", "--raw", "killed", "--input-ended", want=64)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    report = Report("qualify", LOG_DIR)
    print(f"# qualify: seed {args.seed} (run.py --seed {args.seed} repeats it)", flush=True)
    checks = [("exact", exact, args.seed), ("killed", killed, args.seed, random.Random(f"{args.seed}/killed")),
              ("tampered", tampered, args.seed, random.Random(f"{args.seed}/tampered")),
              ("refusals", refusals, args.seed), ("inconclusive", inconclusive, args.seed), ("alive", alive, args.seed)]
    report.check_all([c for c in checks if args.only in c[0]])
    report.finish()


if __name__ == "__main__":
    main()
