#!/usr/bin/env python3
"""The crash matrix: the real binary of preset `fault`, killed with SIGKILL at named points and at random rows, run
again, and held to the output of an undisturbed run, which an oracle has judged before.

  run.py [--full] [--seed N] [--kills N] [--only SUBSTRING]
"""
import argparse
import collections
import json
import os
import random
import re
import shutil
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "lib"))

import oracle as judge  # noqa: E402
from weirtest import cases, compare, workload  # noqa: E402
from weirtest.books import require_balance  # noqa: E402
from weirtest.report import Failure, Report  # noqa: E402
from weirtest.weir import KILLED, LOG_DIR, ROOT, WORK_DIR, Weir, last_line, run_until_done  # noqa: E402

OUTPUTS = {
    "stateless": ["out.jsonl", "parts/"],
    "tumble": ["counts.jsonl", "late/", "poison.jsonl"],
    "session": ["sessions.jsonl", "late.jsonl"],
    "bulk": ["out.csv", "parts/"],
    "spool": ["db:out.db:t"],
    "upsert": ["db:out.db:latest", "db:out.db:counts", "parts/"],
}
# Sixty-four rows a batch, a pause after each, an epoch whenever a millisecond has passed and no seal is in flight; and
# one batch at most is read beside a seal, so that the epochs are as many on a slow disk.
SETTINGS = ["--set", "weir.batch-rows=64", "--set", "execution.checkpointing.interval=1 ms"]
RUN_MS = 300  # what the pauses of an undisturbed run add up to
ROWS = 1500  # in each of three files
FEWER_ROWS = {"bulk": 640, "spool": 800}
PAD = {"spool": 4500}
# Expensive, and only there for some points.
ONLY_FOR = {"spool": "spool."}
EARLY_EPOCHS = 5  # sealed before the first random kill
# Reached once a life at most: their occurrence counts lives.
ONCE_A_LIFE = re.compile(r"^(takeover|finish)\.")
# What only a remote target has: no local sink fences anybody, or notes what it has begun.
NOT_LOCAL = {"deliver.after_fence", "deliver.before_inflight", "deliver.after_inflight"}


def declared_points():
    with open(os.path.join(ROOT, "src", "io", "fault.cc"), encoding="utf-8") as f:
        block = re.search(r"kFaultPoints\[\]\s*=\s*\{(.*?)\};", f.read(), re.S)
    points = re.findall(r'"([a-z_.]+)"', block.group(1))
    if len(points) < 20:
        raise Failure(f"only {len(points)} fault points found in src/io/fault.cc: the list has moved")
    return points


class Pipeline:
    """One pipeline, its input and the output of an undisturbed run."""

    def __init__(self, name, seed):
        self.name, self.seed, self.rows = name, seed, FEWER_ROWS.get(name, ROWS)
        self.args = ["run", "pipeline.sql", "--progress", "never", "--trace", "trace.jsonl", *SETTINGS]
        self.batches = 3 * self.rows // 64
        self.pause_ms = max(1, RUN_MS // self.batches)
        self.slow = f"scan.after_batch=wait:{self.pause_ms}@every"
        self.reached = collections.Counter()

    def directory(self, what):
        work = os.path.join(WORK_DIR, "crash", self.name, re.sub(r"[^A-Za-z0-9_.@-]", "_", what))
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        workload.write_files(os.path.join(work, "in"), self.seed, self.rows, pad=PAD.get(self.name, 0))
        shutil.copyfile(os.path.join(HERE, "pipelines", self.name + ".sql"), os.path.join(work, "pipeline.sql"))
        for spec in OUTPUTS[self.name]:
            if spec.endswith("/"):
                os.makedirs(os.path.join(work, spec))
        return work

    def outputs(self, work):
        taken = {spec: compare.output_bytes(work, spec) for spec in OUTPUTS[self.name]}
        taken["dead letters"] = cases.dead_bytes(work)
        return taken

    def undisturbed(self):
        """Runs once with every point armed to do nothing, which counts how often each is reached."""
        work = self.directory("undisturbed")
        weir = Weir(work)
        every = ",".join(f"{p}=delay:0@every" for p in declared_points() if p != "scan.after_batch")
        weir(*self.args, fault=f"{every},{self.slow}", want=0)
        with open(os.path.join(work, ".witness"), encoding="utf-8") as f:
            self.reached = collections.Counter(line.split()[0] for line in f)
        self.want = self.outputs(work)
        self.check_left_behind(weir)
        for spec, text in judge.ORACLES[self.name](os.path.join(work, "in")).items():
            if not text:
                raise Failure(f"the oracle's {spec} is empty: it would judge nothing")
            same = compare.require_rows if spec in judge.UNORDERED else compare.require_equal
            same(text.encode(), self.want[spec], f"undisturbed {spec} against the oracle", weir.log())

    def check_left_behind(self, weir):
        require_balance(weir.status("pipeline.sql"), weir.log())
        weir("trace", "verify", "trace.jsonl", want=0)

    def require_want(self, weir, what):
        cases.require_same(self.want, self.outputs(weir.cwd), what, weir.log())
        self.check_left_behind(weir)


def at_point(pipeline, point, occurrence):
    """Dies at the point, goes on, and must end with the same output."""
    asked = occurrence
    while True:
        weir = Weir(pipeline.directory(f"{point}@{asked}"))
        if ONCE_A_LIFE.match(point):
            # Lives before it die elsewhere, so that this is the occurrence-th start.
            for _ in range(occurrence - 1):
                life = weir(*pipeline.args, fault=f"{pipeline.slow},seal.after_commit=kill@3")
                if life.code != KILLED:
                    raise Failure(f"a life before it ended with {life.code}", weir.log())
        # The first rule that matches is the one that acts.
        n = 1 if ONCE_A_LIFE.match(point) else occurrence
        life = weir(*pipeline.args, fault=f"{point}=kill@{n},{pipeline.slow}")
        if life.code != 0 or occurrence == 1:
            break
        occurrence //= 2  # this run had fewer epochs or merges than the undisturbed one: the disk was slower
    if life.code != KILLED:
        raise Failure(f"not killed at {point}@{occurrence}: exit {life.code}: {last_line(life.err)}", weir.log())
    if not any(line.startswith(f"{point} kill ") for line in life.witness):
        raise Failure(f"no witness of {point}: {life.witness}", weir.log())
    if point == "finish.after_marker":
        # The one death after which a rerun publishes again: the run is finished.
        cases.require_same(pipeline.want, pipeline.outputs(weir.cwd), "after the finish marker", weir.log())
        pipeline.check_left_behind(weir)
        return
    weir(*pipeline.args, fault=pipeline.slow, want=0)
    pipeline.require_want(weir, f"killed at {point}@{occurrence}")


def occurrences(pipeline, point):
    """First, second and a late one, as far as the undisturbed run reached the point."""
    if not point.startswith(ONLY_FOR.get(pipeline.name, "")):
        return []
    count = pipeline.reached[point]
    if ONCE_A_LIFE.match(point):
        return [1, 2, 5] if count else []
    late = max(3, count // 2)
    return sorted({n for n in (1, 2, late) if n <= count})


def torn_append(pipeline, _rng):
    """A write of an output that ends in the middle of a line, and death: the next start cuts it."""
    weir = Weir(pipeline.directory("torn"))
    life = weir(*pipeline.args, fault=f"{pipeline.slow},file.during_append=torn:7@3")
    if life.code != KILLED:
        raise Failure(f"file.during_append=torn did not kill: exit {life.code}", weir.log())
    weir(*pipeline.args, want=0)
    pipeline.require_want(weir, "torn append")


def phase_of(trace):
    """What the engine was doing when it died: the last protocol step that its trace holds."""
    last = "start"
    with open(trace, encoding="utf-8") as f:
        for line in f:
            try:
                last = kind_of(json.loads(line))
            except ValueError:
                pass
    return last


def kind_of(event):
    return event.get("event") or event.get("kind") or "?"


class Phases:
    def __init__(self):
        self.kills = collections.Counter()

    def require(self, least_share):
        total = sum(self.kills.values())
        text = ", ".join(f"{kind} {n}" for kind, n in self.kills.most_common())
        print(f"# random kills by the last protocol step before them: {text}")
        for kind in ("cut", "sealed"):
            if self.kills[kind] < least_share * total:
                raise Failure(f"only {self.kills[kind]} of {total} kills fell behind '{kind}': {text}")


def several_deaths(pipeline, rng, kills, phases):
    """Kills at random rows, one life after the other, then to the end."""
    weir = Weir(pipeline.directory(f"deaths-{rng.random()}"))
    batches = pipeline.batches
    done = 0

    def fault(n):
        if n > kills:
            return {"fault": pipeline.slow}
        if n == 1:
            # Some sealed epochs come first: half of the rows at most.
            return {"fault": f"scan.after_batch=kill@{min(25, batches // 2)},{pipeline.slow}"}
        at = rng.randrange(1, max(2, batches // 2 // kills))
        # The first rule that matches is the one that acts: the kill stands before the pause.
        pause = pipeline.slow if rng.random() < 0.7 else "scan.after_batch=wait:1@every"
        return {"fault": f"scan.after_batch=kill@{at},{pause}"}

    for n in range(1, 400):
        life = weir(*pipeline.args, **fault(n))
        if life.code == 0:
            break
        if life.code != KILLED or not life.witness:
            raise Failure(f"life {n} ended with {life.code}", weir.log())
        phases.kills[phase_of(os.path.join(weir.cwd, "trace.jsonl"))] += 1
        done += 1
        if n == 1:
            sealed = weir.status("pipeline.sql").get("sealed_epoch", 0)
            if sealed < EARLY_EPOCHS:
                raise Failure(f"only {sealed} epochs were sealed before the first kill", weir.log())
    if done == 0:
        raise Failure("nobody was killed", weir.log())
    pipeline.require_want(weir, f"{done} deaths in a row")


def death_in_takeover(pipeline, _rng):
    """Dead at every step of a takeover, one after the other, with work to resume behind it."""
    weir = Weir(pipeline.directory("takeover"))
    plan = [f"{pipeline.slow},seal.after_commit=kill@6", "takeover.after_lock=kill", "takeover.after_decide=kill",
            "takeover.after_run_row=kill", "takeover.after_run_row=kill", f"{pipeline.slow},seal.before_commit=kill@1",
            "takeover.after_decide=kill", f"{pipeline.slow},seal.after_commit=kill@1"]
    for fault in plan:
        life = weir(*pipeline.args, fault=fault)
        if life.code != KILLED:
            raise Failure(f"{fault}: exit {life.code}", weir.log())
    weir(*pipeline.args, want=0)
    pipeline.require_want(weir, "deaths in takeover")


def death_before_first_seal(pipeline, _rng):
    """A fresh run that dies before its first seal is not handed the state of the run before it, and its own
    half-written files are not refused."""
    weir = Weir(pipeline.directory("before-first-seal"))
    for fault in ("takeover.after_run_row=kill", f"{pipeline.slow},seal.before_commit=kill@1"):
        if weir(*pipeline.args, fault=fault).code != KILLED:
            raise Failure(f"not killed by {fault}", weir.log())
    weir(*pipeline.args, want=0)
    pipeline.require_want(weir, "after a first run that sealed nothing")
    if pipeline.name not in ("session",):
        return
    # Only append files here: what a fresh run does to them is to replace them.
    for fault in (f"{pipeline.slow},seal.before_commit=kill@1", "takeover.after_run_row=kill"):
        if weir(*pipeline.args, fault=fault).code != KILLED:
            raise Failure(f"not killed by {fault}", weir.log())
        state = weir.status("pipeline.sql")
        if state.get("sealed_epoch"):
            trace = open(os.path.join(weir.cwd, "trace.jsonl"), encoding="utf-8").read()
            if '"fresh"' not in trace and "Fresh" not in trace:
                raise Failure("the run after a finished one was not fresh", weir.log())
    weir(*pipeline.args, want=0)
    pipeline.require_want(weir, "a fresh run after one that sealed nothing")


def finished_counts(pipeline, _rng):
    """Death between the finish marker and the exit counts as finished; with --job the rerun does nothing."""
    weir = Weir(pipeline.directory("job"))
    job = [*pipeline.args, "--job", "2026-11"]
    if weir(*job, fault=f"{pipeline.slow},finish.after_marker=kill").code != KILLED:
        raise Failure("not killed after the finish marker", weir.log())
    pipeline.require_want(weir, "killed after the finish marker")
    before = file_times(weir.cwd)
    weir(*job, want=0)
    if file_times(weir.cwd) != before:
        raise Failure("a finished job touched its outputs", weir.log())
    weir(*[*pipeline.args, "--job", "2026-12"], want=0)  # another job: it runs
    if pipeline.name == "session":
        pipeline.require_want(weir, "the next job")
    # Unfinished, another ID asks: refused and named.
    if weir(*job, fault=f"{pipeline.slow},seal.after_commit=kill@6").code != KILLED:
        raise Failure("not killed in the job", weir.log())
    life = weir(*[*pipeline.args, "--job", "2027-01"], want=78)
    if "2026-11" not in life.err:
        raise Failure("the refusal does not name the unfinished job", weir.log())
    weir(*job, want=0)
    pipeline.check_left_behind(weir)


def file_times(work):
    names = [n for n in os.listdir(work) if n.endswith((".jsonl", ".db")) and n != "trace.jsonl"]
    return {n: (os.stat(os.path.join(work, n)).st_mtime_ns, os.stat(os.path.join(work, n)).st_size) for n in names}


def fresh_after_kill(pipeline, _rng):
    """--fresh over a killed run: refused with counts while sealed rows are undelivered, else a new start."""
    weir = Weir(pipeline.directory("fresh"))
    fault = "deliver.before_commit=kill@2" if pipeline.name == "upsert" else "seal.after_commit=kill@8"
    if weir(*pipeline.args, fault=f"{pipeline.slow},{fault}").code != KILLED:
        raise Failure("not killed", weir.log())
    if pipeline.name == "upsert":
        life = weir(*pipeline.args, "--fresh", want=78)
        if not re.search(r"\d+ rows", life.err) or "--discard-undelivered" not in life.err:
            raise Failure("the refusal names neither rows nor --discard-undelivered", weir.log())
        weir(*pipeline.args, "--fresh", "--discard-undelivered", want=0)
        # Tables without a key and rolling files are added to; the table with a key is the same.
        got = pipeline.outputs(weir.cwd)
        compare.require_equal(pipeline.want["db:out.db:latest"], got["db:out.db:latest"], "latest", weir.log())
        return
    weir(*pipeline.args, "--fresh", want=0)
    got = pipeline.outputs(weir.cwd)
    for spec, want in pipeline.want.items():
        if not spec.endswith("/"):
            compare.require_equal(want, got[spec], f"--fresh: {spec}", weir.log())
        elif want not in got[spec]:  # names of parts begin with their lineage: one follows on the other in any order
            raise Failure(f"--fresh: the whole output is not in {spec}", weir.log())


def state_deleted(pipeline, _rng):
    """The state directory is gone and the outputs are there: nothing delivered is overwritten."""
    weir = Weir(pipeline.directory("state-deleted"))
    weir(*pipeline.args, want=0)
    shutil.rmtree(os.path.join(weir.cwd, "pipeline.weir"))
    life = weir(*pipeline.args, want=(73, 78))
    after = pipeline.outputs(weir.cwd)
    for spec, want in pipeline.want.items():
        if spec == "dead letters":
            continue
        if spec.endswith("/"):  # rolling files are added to
            if not after[spec].startswith(want) and want not in after[spec]:
                raise Failure(f"{spec}: what was delivered is not there any more", weir.log())
        else:
            compare.require_equal(want, after[spec], f"{spec} after the refusal", weir.log())
    if not any(word in life.err for word in ("--adopt", "if-exists", "exists")):
        raise Failure("the refusal names no way out", weir.log())


ALONE = [death_in_takeover, death_before_first_seal, finished_counts, fresh_after_kill, state_deleted]


def matrix(pipelines, full, rng):
    """(pipeline, point, occurrence): all of them, or each point once."""
    chosen = []
    for point in declared_points():
        all_of_point = [(p, point, n) for p in pipelines for n in occurrences(p, point)]
        if full or not all_of_point:
            chosen += all_of_point
        else:
            chosen.append(rng.choice(all_of_point))
    return chosen


def unreached(pipelines):
    missing = [p for p in declared_points() if p not in NOT_LOCAL and not any(pl.reached[p] for pl in pipelines)]
    if missing:
        raise Failure("no pipeline reaches " + ", ".join(missing))
    few = [p.name for p in pipelines if p.name not in ONLY_FOR and p.reached["seal.after_commit"] < 12]
    if few:
        raise Failure(f"fewer than 12 epochs in {', '.join(few)}: occurrences would all be early ones")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="every point, pipeline and occurrence; 200 random kills")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    parser.add_argument("--kills", type=int, help="random kills in all (40; --full: 200)")
    parser.add_argument("--only", default="", help="checks whose name holds this")
    args = parser.parse_args()
    report = Report("crash", LOG_DIR)
    print(f"# crash: seed {args.seed} (run.py --seed {args.seed} repeats it)", flush=True)
    rng = random.Random(args.seed)
    pipelines = [Pipeline(name, args.seed) for name in OUTPUTS]
    report.check_all([(f"undisturbed/{p.name}", p.undisturbed) for p in pipelines])
    pipelines = [p for p in pipelines if p.reached]
    report.check("every-point-is-reached", unreached, pipelines)
    checks = [(f"{p.name}/{point}@{n}", at_point, p, point, n) for p, point, n in matrix(pipelines, args.full, rng)]
    checks += [(f"{p.name}/torn", torn_append, p, rng) for p in pipelines if p.reached["file.during_append"] >= 3]
    usual = [p for p in pipelines if p.name not in ONLY_FOR]
    for check in ALONE:
        for p in usual if args.full else [rng.choice(usual)] if usual else []:
            checks.append((f"{p.name}/{check.__name__}", check, p, rng))
    phases = Phases()
    kills = args.kills or (200 if args.full else 40)
    for i in range(kills // 5 if usual else 0):
        p = usual[i % len(usual)]
        checks.append((f"{p.name}/deaths-{i}", several_deaths, p, random.Random(f"{args.seed}/{i}"), 5, phases))
    report.check_all([c for c in checks if args.only in c[0]])
    if phases.kills:
        report.check("kills-fall-into-every-phase", phases.require, 0.05)
    report.finish()


if __name__ == "__main__":
    main()
