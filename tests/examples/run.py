#!/usr/bin/env python3
"""What docs and config show is run: every docs/examples/*.sql has an entry here, and config/ passes `weir check`.

  run.py [NAME...]
"""
import argparse
import base64
import csv
import datetime
import decimal
import glob
import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))

from weirtest import compare, oracle  # noqa: E402
from weirtest.books import require_balance  # noqa: E402
from weirtest.report import Failure, Report  # noqa: E402
from weirtest.weir import LOG_DIR, ROOT, WORK_DIR, Weir  # noqa: E402


def judge_access_log(work):
    """Each of the 10,000 lines is in a window of each kind, late or unparsable; the windows are those of another program."""
    line = re.compile(rb'^(\S+) \S+ \S+ \[([^\]]+)\] "([A-Z]+) (\S+) [^"]*" (\d{3}) (\d+|-) "[^"]*" "[^"]*"$')
    windows, tens = oracle.Tumble(600000, lambda: [0, None, 0]), oracle.Tumble(10000, lambda: [0])
    late, dead, highest, bound = [], 0, oracle.NEVER, 45000
    with open(os.path.join(work, "access.log"), "rb") as f:
        for text in f.read().splitlines():
            match = line.match(text)
            if match is None:
                dead += 1
                continue
            moment = datetime.datetime.strptime(match[2].decode(), "%d/%b/%Y:%H:%M:%S %z")
            ts, watermark = int(moment.timestamp()) * 1000, highest - bound
            highest = max(highest, ts)
            for size, kind in ((600000, windows), (10000, tens)):
                kind.advance(watermark)
                group = kind.add("", ts, watermark)
                if group is None:
                    late.append([oracle.text(ts), match[4].decode("utf-8"), oracle.text(ts - ts % size + size),
                                 oracle.text(watermark)])
                    continue
                group[0] += 1
                if kind is windows:
                    group[1] = group[1] if match[6] == b"-" else (group[1] or 0) + int(match[6])
                    group[2] += match[5] >= b"500"
    windows.advance(oracle.END)
    tens.advance(oracle.END)
    want = [[oracle.text(start), str(g[0]), "" if g[1] is None else str(g[1]), str(g[2])]
            for start, _, _, g in windows.fired]
    columns = ("window_start", "requests", "bytes", "errors_5xx")
    require_equal(want, [[row[c] for c in columns] for row in rows_of(work, "traffic.csv")], "traffic.csv")
    want = [[oracle.text(start), str(g[0])] for start, _, _, g in tens.fired if g[0] >= 30]
    require_equal(want, [[row[c] for c in columns[:2]] for row in rows_of(work, "peaks.csv")], "peaks.csv")
    got = [[row[c] for c in ("ts", "url", "window_end", "watermark")] for row in lines_of(work, "late.jsonl")]
    require_equal(late, got, "late.jsonl")
    lines = compare.output_bytes(work, "unparsable.log").count(b"\n")
    if lines != dead:
        raise Failure(f"unparsable.log has {lines} lines, want {dead}")
    if dead == 0 or not late or not want:
        raise Failure("no unparsable or late line, or no peak: the example would show nothing")


def rows_of(work, name):
    with open(os.path.join(work, name), encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def lines_of(work, name):
    path = os.path.join(work, name)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        return [json.loads(line, parse_float=decimal.Decimal) for line in f]


def require_equal(want, got, what):
    if want != got:
        first = next((pair for pair in zip(want, got) if pair[0] != pair[1]), (len(want), len(got)))
        raise Failure(f"{what} differs: want, got {first}")


def judge_sessions(work):
    """Each event is in a visit, late or broken."""
    def merge(a, b):
        amounts = [x for x in (a[1], b[1]) if x is not None]
        return [a[0] + b[0], sum(amounts) if amounts else None]

    sessions, highest = oracle.Session(1800000, lambda: [0, None], merge), oracle.NEVER
    late, broken = [], []
    with open(os.path.join(work, "events.jsonl"), "rb") as f:
        for line in f.read().splitlines():
            try:
                event = json.loads(line)
            except ValueError:
                broken.append(base64.b64encode(line).decode())
                continue
            ts = oracle.ms(event["at"].rstrip("Z"))
            group = sessions.add(event["user"], ts, highest - 60000)
            if group is None:
                late.append((event["user"], event["page"], oracle.text(ts) + "Z", oracle.text(highest - 60000) + "Z"))
                continue
            group[0] += 1
            if "amount" in event:
                group[1] = (group[1] or 0) + decimal.Decimal(event["amount"])
            highest = max(highest, ts)
    sessions.advance(oracle.END)
    want = [(user, oracle.text(start) + "Z", oracle.text(end) + "Z", *g) for start, end, user, g in sessions.fired]
    got = [(v["user"], v["begun"], v["ended"], v["pages"], v["spent"]) for v in lines_of(work, "visits.jsonl")]
    require_equal(want, got, "visits.jsonl")
    got = [(v["user"], v["page"], v["at"], v["watermark"]) for v in lines_of(work, "late.jsonl")]
    require_equal(late, got, "late.jsonl")
    require_equal(broken, [v["raw"] for v in lines_of(work, "broken.jsonl")], "broken.jsonl")
    if not late or not broken:
        raise Failure("no late or no broken event: the example would show nothing")


def judge_earthquakes(work):
    """Each of the 38,094 events is in the row of its day and kind."""
    days = {}
    with open(os.path.join(work, "earthquakes.txt"), encoding="utf-8", newline="") as f:
        for row in csv.DictReader(f):
            key = (row["DateTime"][:10].replace("/", "-") + " 00:00:00.000", row["MagType"])
            day = days.setdefault(key, [0, None, decimal.Decimal(0), 0])
            day[0] += 1
            if row["Magnitude"]:
                magnitude = decimal.Decimal(row["Magnitude"])
                day[1] = magnitude if day[1] is None else max(day[1], magnitude)
            if row["Depth"]:
                day[2], day[3] = day[2] + decimal.Decimal(row["Depth"]), day[3] + 1
    micro = decimal.Decimal("0.000001")
    want = sorted((*key, count, None if top is None else str(top),
                   str((total / n).quantize(micro, decimal.ROUND_HALF_UP)) if n else None)
                  for key, (count, top, total, n) in days.items())
    connection = sqlite3.connect(os.path.join(work, "earthquakes.db"))
    got = sorted(connection.execute("SELECT day_start, magnitude_type, quakes, strongest, depth_km FROM per_day"))
    connection.close()
    require_equal(want, got, "earthquakes.db")


def live_rolling_log(weir, work):
    """Runs on: a log that grows, is rotated, and whose reader is stopped and started again."""
    log, script = os.path.join(work, "app.log"), os.path.join(work, "rolling-log.sql")
    with open(script, encoding="utf-8") as f:
        text = f.read()
    with open(script, "w", encoding="utf-8") as f:
        f.write(text.replace("'10 s'", "'1 ms'"))  # a part is closed with every epoch

    def append(text):
        with open(log, "a", encoding="utf-8") as f:
            f.write(text)

    def sealed(process, table, position):
        """Until the running process says that it stands there, or 30 s."""
        until = time.monotonic() + 30
        while time.monotonic() < until:
            life = weir("status", "rolling-log.sql", "--json")
            if life.code == 0:
                status = json.loads(life.out)
                for source in status.get("sources", []):
                    at = sum(p["position"] for p in source.get("partitions", []))
                    if source["table"] == table and at >= position and status["health"] == "healthy":
                        return
            time.sleep(0.05)
        raise Failure(f"{table} did not get to {position}", process.err())

    append("2026-11-02T10:00:00 INFO started\n2026-11-02T10:00:01 ERROR disk on fire\n")
    run = ("run", "rolling-log.sql", "--progress", "never", "--trace", "trace.jsonl")
    with weir.start(*run) as process:
        sealed(process, "app_log", os.path.getsize(log))
        os.rename(log, log + ".1")
        append("nonsense\n2026-11-02T10:00:02 ERROR no water\n")
        sealed(process, "app_log", os.path.getsize(log))
        process.signal(signal.SIGTERM)
        life = process.wait()
        if life.code != 0:
            raise Failure(f"stopped with {life.code}", life.log())
    append("2026-11-02T10:00:03 WARN wet\n2026-11-02T10:00:04 ERROR no air\n")
    with weir.start(*run) as process:
        sealed(process, "app_log", os.path.getsize(log))
        process.signal(signal.SIGTERM)
        life = process.wait()
        if life.code != 0:
            raise Failure(f"stopped with {life.code}", life.log())


def live_qualify(weir, work):
    """The commands of docs/qualification.md as they stand there; the last one is the judge."""
    with open(os.path.join(ROOT, "docs", "qualification.md"), encoding="utf-8") as f:
        text = f.read()
    block = next(b for b in re.findall(r"(?:^    .*\n)+", text, re.M) if "weir gen" in b)
    commands = [shlex.split(line) for line in block.splitlines()]
    verbs = [c[1] for c in commands if c[0] == "weir"]
    if verbs != ["gen", "run", "verify"]:
        raise Failure(f"docs/qualification.md shows {verbs}")
    for command in commands:
        if command[0] == "mkdir":
            os.makedirs(os.path.join(work, command[-1]))
            continue
        more = ["--trace", "trace.jsonl"] if command[1] == "run" else []
        life = weir(*command[1:], "--progress", "never", *more, want=0)
    if not life.out.endswith(b"verdict  exact\n"):
        raise Failure("no verdict", weir.log())


def judge_qualify(work):
    for name in ("late.jsonl", "dead.jsonl"):
        if not lines_of(work, name):
            raise Failure(f"{name} is empty: the example would show nothing")


def judge_rolling_log(work):
    parts = sorted(glob.glob(os.path.join(work, "errors", "part-*.json")))
    got = [(row["message"], row["place"]) for part in parts for row in lines_of(work, os.path.relpath(part, work))]
    require_equal([("disk on fire", 2), ("no water", 2), ("no air", 4)], got, "errors/")


# Example -> (input files: name in the working directory, path in the project; what judges the outputs). One that runs
# on has a function beside it that drives it.
EXAMPLES = {
    "access-log": ({"access.log": "tests/data/access.log"}, judge_access_log),
    "earthquakes": ({"earthquakes.txt": "tests/data/earthquakes.txt"}, judge_earthquakes),
    "qualify": ({}, judge_qualify),
    "rolling-log": ({}, judge_rolling_log),
    "sessions": ({"events.jsonl": "docs/examples/events.jsonl"}, judge_sessions),
}
# Needs brokers: run by tests/kafka/quick_start.py; here it must only be right as it stands.
ON_BROKERS = {"kafka-counts"}
LIVE = {"qualify": live_qualify, "rolling-log": live_rolling_log}


def example(path):
    name = os.path.basename(path)[:-len(".sql")]
    if name not in EXAMPLES and name not in ON_BROKERS:
        raise Failure(f"{os.path.relpath(path, ROOT)} has no entry in tests/examples/run.py: nobody runs it")
    inputs, judge = EXAMPLES.get(name, ({}, None))
    work = os.path.join(WORK_DIR, "examples", name)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    shutil.copyfile(path, os.path.join(work, name + ".sql"))
    for target, source in inputs.items():
        shutil.copyfile(os.path.join(ROOT, source), os.path.join(work, target))
    weir = Weir(work, env={"KAFKA": "127.0.0.1:1"} if name in ON_BROKERS else None)
    weir("explain", name + ".sql", want=0)
    if name in ON_BROKERS:
        weir("check", name + ".sql", want=0)
        return
    if name in LIVE:
        LIVE[name](weir, work)
    else:
        weir("check", name + ".sql", want=0)
        weir("run", name + ".sql", "--progress", "never", "--trace", "trace.jsonl", want=0)
    judge(work)
    require_balance(weir.status(name + ".sql"), weir.log())
    weir("trace", "verify", "trace.jsonl", want=0)


def config():
    """config/weir.toml and the pipeline beside it are right as they stand."""
    tables = sorted(glob.glob(os.path.join(ROOT, "config", "*.toml")))
    pipelines = sorted(glob.glob(os.path.join(ROOT, "config", "**", "*.sql"), recursive=True))
    if not tables or not pipelines:
        raise Failure("config/ has no weir.toml or no pipeline")
    work = os.path.join(WORK_DIR, "examples", "config")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    weir = Weir(work)
    for table in tables:
        for pipeline in pipelines:
            sql = open(pipeline, encoding="utf-8").read()
            # Directories that the sample expects on a box are made here: what it says of them is not what is checked.
            for path in re.findall(r"'path'\s*=\s*'([^']+)'", sql):
                local = os.path.join(work, path.lstrip("/"))
                os.makedirs(local if path.endswith("/") else os.path.dirname(local), exist_ok=True)
                if not path.endswith("/") and not re.search(r"[*?]", path):
                    open(local, "a", encoding="utf-8").close()
            text = re.sub(r"('path'\s*=\s*')/", rf"\1{work}/", sql)
            with open(os.path.join(work, os.path.basename(pipeline)), "w", encoding="utf-8") as f:
                f.write(text)
            weir("check", os.path.basename(pipeline), "--config", table, "--data-dir", "state", want=0)
            with open(table, encoding="utf-8") as f:
                broken = f.read() + "\nnot-a-key = 1\n"
            with open(os.path.join(work, "broken.toml"), "w", encoding="utf-8") as f:
                f.write(broken)
            weir("check", os.path.basename(pipeline), "--config", "broken.toml", want=78)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    report = Report("examples", LOG_DIR)
    checks = [(os.path.basename(path), example, path)
              for path in sorted(glob.glob(os.path.join(ROOT, "docs", "examples", "*.sql")))]
    if not checks:
        report.fail("examples", "docs/examples holds no SQL")
    checks.append(("config", config))
    report.check_all([c for c in checks if not args.names or any(c[0].startswith(n) for n in args.names)])
    report.finish()


if __name__ == "__main__":
    main()
