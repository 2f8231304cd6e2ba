#!/usr/bin/env python3
"""SQL cases: straight, with batches of 1 and 7 rows, restarted at every epoch, killed at writes; all must agree.

  run.py [--full] [--seed N] [NAME...]     NAME: cases whose name begins so
"""
import argparse
import glob
import os
import random
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))

from weirtest import cases, compare  # noqa: E402
from weirtest.books import require_balance  # noqa: E402
from weirtest.report import Failure, Report  # noqa: E402
from weirtest.weir import BUILD, KILLED, LOG_DIR, WORK_DIR, Weir, binary_of, run_until_done  # noqa: E402

# One row a batch, a pause after each, an epoch whenever a millisecond has passed: about one row an epoch.
SMALL_EPOCHS = ["--set", "weir.batch-rows=1", "--set", "execution.checkpointing.interval=1 ms"]
# Large input: five hundred rows a batch, else the same.
LARGE_EPOCHS = ["--set", "weir.batch-rows=500", "--set", "execution.checkpointing.interval=1 ms"]
SLOW = "scan.after_batch=wait:4@every"


def run_args(case, *more):
    return ["run", "pipeline.sql", "--progress", "never", "--trace", "trace.jsonl", *case.get("options", []), *more]


def work_of(case, mode):
    work = os.path.join(WORK_DIR, "sql", case.name, mode)
    cases.prepare(case, work)
    return work


def weir_of(case, work, preset="fault", env=None):
    return Weir(work, binary_of(preset), env=dict(case.get("environment", {}), **(env or {})))


def verify_life(weir, balance=True):
    """Books and trace of what is left behind."""
    if balance:
        require_balance(weir.status("pipeline.sql"), weir.log())
    weir("trace", "verify", "trace.jsonl", want=0)


def straight(case, preset="fault", env=None, more=(), mode=None):
    work = work_of(case, mode or f"straight-{preset}")
    weir = weir_of(case, work, preset, env)
    life = weir(*run_args(case, *more))
    cases.check_exit(case, life, weir.log())
    if case.get("errors"):
        cases.match_findings(case.get("errors"), life.err)
    cases.check_outputs(case, work, weir.log())
    cases.check_dead(case, work, weir.log())
    outputs = case.outputs()
    if "stdout" in outputs:
        if case.get("compare", {}).get("stdout") == "rows":
            compare.require_rows(outputs["stdout"], life.out, "stdout", weir.log())
        else:
            compare.require_equal(outputs["stdout"], life.out, "stdout", weir.log())
    if case.get("exit", 0) == 0:
        verify_life(weir)
    return cases.snapshot(case, work)


def refusal(case):
    """`check` and `run` find the same, and `run` has made nothing before it refuses."""
    work = work_of(case, "refusal")
    weir = weir_of(case, work)
    before = sorted(os.listdir(work))
    for args in (["check", "pipeline.sql", *case.get("options", [])],
                 ["run", "pipeline.sql", "--progress", "never", *case.get("options", [])]):
        life = weir(*args)
        cases.check_exit(case, life, weir.log())
        cases.match_findings(case.get("errors"), life.err)
        left = [name for name in sorted(os.listdir(work)) if not name.startswith(".")]
        if left != before:
            raise Failure(f"weir {args[0]} has left {sorted(set(left) - set(before))}", weir.log())


def same_as(case, want, what, **kwargs):
    cases.require_same(want, straight(case, **kwargs), what)


def restarted_at_every_epoch(case, want):
    work = work_of(case, "epochs")
    weir = weir_of(case, work)
    # Odd lives die at their first seal, even ones at their second: the first seal of a run only has to record
    # positions, so two in a row show that every life gets on.
    kills = run_until_done(weir, run_args(case, *(LARGE_EPOCHS if case.get("large") else SMALL_EPOCHS)),
                           lambda n: {"fault": f"{SLOW},seal.after_commit=kill@{1 + (n + 1) % 2}"},
                           lives_max=400)
    if kills == 0:
        raise Failure("no epoch was sealed before the end: nothing was restarted", weir.log())
    cases.require_same(want, cases.snapshot(case, work), f"after {kills} restarts", weir.log())
    verify_life(weir)


def killed_at_writes(case, want, full, rng):
    n, last_work = 1, None
    while True:
        work = work_of(case, "kills")
        weir = weir_of(case, work)
        args = run_args(case, "--set", "weir.batch-rows=7", "--set", "execution.checkpointing.interval=1 ms")
        at = n if full else rng.randrange(n, 2 * n)
        life = weir(*args, kill_at_write=at)
        if life.code == 0:
            break
        if life.code != KILLED or not life.witness:
            raise Failure(f"killed at write {at}: ended with {life.code}", weir.log())
        if not weir.finished("pipeline.sql"):
            weir(*args, want=0)
        cases.require_same(want, cases.snapshot(case, work), f"killed at write {at} ({life.witness[-1]})", weir.log())
        verify_life(weir, balance=False)
        last_work = work
        n = n + 1 if full else 2 * n
    if last_work is None:
        raise Failure("no write was ever killed", weir.log())
    require_balance(weir.status("pipeline.sql"), weir.log())


def run_case(case, full, rng, only_straight=False):
    cases.make(case, os.path.join(WORK_DIR, "sql", case.name, "made"))
    if case.get("errors") and case.get("exit", 78) == 78:
        refusal(case)
        return
    want = straight(case)
    if os.path.exists(os.path.join(BUILD, "release", "weir")):
        same_as(case, want, "release", preset="release")
    if only_straight:
        return
    for i, env in enumerate(case.get("env", [])):
        same_as(case, want, f"env {env}", env=env, mode=f"env-{i}")
    modes = case.get("modes", cases.ALL_MODES if case.get("exit", 0) == 0 else ["straight"])
    if "batch" in modes:
        for rows in (1, 7):
            same_as(case, want, f"batches of {rows}", more=["--set", f"weir.batch-rows={rows}"], mode=f"batch-{rows}")
    if "epochs" in modes:
        restarted_at_every_epoch(case, want)
    if "kills" in modes:
        killed_at_writes(case, want, full, rng)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="every write is killed once, not a sample")
    parser.add_argument("--straight", action="store_true", help="only undisturbed runs")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    report = Report("sql", LOG_DIR)
    print(f"# sql: seed {args.seed} (run.py --seed {args.seed} repeats the same kills)")
    chosen = []
    for directory in sorted(glob.glob(os.path.join(HERE, "cases", "*", ""))):
        try:
            chosen += [case for case in cases.load(directory.rstrip("/"))
                       if not args.names or any(case.name.startswith(n) for n in args.names)]
        except (Failure, ValueError) as error:
            report.fail(os.path.basename(directory.rstrip("/")), str(error))
    if not chosen and args.names:
        report.fail("selection", f"no case begins with {' or '.join(args.names)}")
    report.check_all([(case.name, run_case, case, args.full, random.Random(f"{args.seed}/{case.name}"),
                        args.straight)
                      for case in chosen])
    report.finish()


if __name__ == "__main__":
    main()
