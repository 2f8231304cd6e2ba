#!/usr/bin/env python3
"""What docs and config show is run: every docs/examples/*.sql has an entry here, and config/ passes `weir check`.

  run.py [NAME...]
"""
import argparse
import csv
import datetime
import glob
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))

from weirtest import compare, oracle  # noqa: E402
from weirtest.books import require_balance  # noqa: E402
from weirtest.report import Failure, Report  # noqa: E402
from weirtest.weir import LOG_DIR, ROOT, WORK_DIR, Weir  # noqa: E402


def judge_access_log(work):
    """Each of the 10,000 lines is in a window, late or unparsable; the windows are those of another program."""
    line = re.compile(rb'^(\S+) \S+ \S+ \[([^\]]+)\] "([A-Z]+) (\S+) [^"]*" (\d{3}) (\d+|-) "[^"]*" "[^"]*"$')
    windows, late, dead, highest = oracle.Tumble(600000, lambda: [0, None, 0]), 0, 0, oracle.NEVER
    with open(os.path.join(work, "access.log"), "rb") as f:
        for text in f.read().splitlines():
            match = line.match(text)
            if match is None:
                dead += 1
                continue
            moment = datetime.datetime.strptime(match[2].decode(), "%d/%b/%Y:%H:%M:%S %z")
            ts = int(moment.timestamp()) * 1000
            windows.advance(highest - 20000)
            group = windows.add("", ts, highest - 20000)
            highest = max(highest, ts)
            if group is None:
                late += 1
                continue
            group[0] += 1
            group[1] = group[1] if match[6] == b"-" else (group[1] or 0) + int(match[6])
            group[2] += match[5] >= b"500"
    windows.advance(oracle.END)
    with open(os.path.join(work, "traffic.csv"), encoding="utf-8", newline="") as f:
        got = [[row["window_start"], row["requests"], row["bytes"], row["errors_5xx"]] for row in csv.DictReader(f)]
    want = [[oracle.text(start), str(g[0]), "" if g[1] is None else str(g[1]), str(g[2])]
            for start, _, _, g in windows.fired]
    if got != want:
        first = next((pair for pair in zip(want, got) if pair[0] != pair[1]), (len(want), len(got)))
        raise Failure(f"traffic.csv differs: want, got {first}")
    for name, count in (("late.jsonl", late), ("unparsable.log", dead)):
        lines = compare.output_bytes(work, name).count(b"\n") if os.path.exists(os.path.join(work, name)) else 0
        if lines != count:
            raise Failure(f"{name} has {lines} lines, want {count}")
    if dead == 0:
        raise Failure("no unparsable line: the example would show nothing")


# Example -> (input files: name in the working directory, path in the project; what judges the outputs).
EXAMPLES = {
    "access-log": ({"access.log": "tests/data/access.log"}, judge_access_log),
}


def example(path):
    name = os.path.basename(path)[:-len(".sql")]
    if name not in EXAMPLES:
        raise Failure(f"{os.path.relpath(path, ROOT)} has no entry in tests/examples/run.py: nobody runs it")
    inputs, judge = EXAMPLES[name]
    work = os.path.join(WORK_DIR, "examples", name)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    shutil.copyfile(path, os.path.join(work, name + ".sql"))
    for target, source in inputs.items():
        shutil.copyfile(os.path.join(ROOT, source), os.path.join(work, target))
    weir = Weir(work)
    weir("check", name + ".sql", want=0)
    weir("explain", name + ".sql", want=0)
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
