#!/usr/bin/env python3
"""Upgrades: fingerprints of plans do not change, and a state directory of an earlier binary goes on.

  run.py             check
  run.py --record    write the fingerprints of new plans and a new golden state directory (never over an old one)
"""
import argparse
import json
import os
import re
import shutil
import sqlite3
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))

from weirtest import compare  # noqa: E402
from weirtest.report import Failure, Report  # noqa: E402
from weirtest.weir import KILLED, LOG_DIR, ROOT, WORK_DIR, Weir  # noqa: E402

GOLDEN = os.path.join(HERE, "fingerprints.golden")
# Plans of the SQL cases and of the crash matrix; each stands for something that a fingerprint must hold on to.
PLANS = [
    "tests/sql/cases/csv-bom-crlf/pipeline.sql",
    "tests/sql/cases/time-epoch-seconds/pipeline.sql",
    "tests/sql/cases/window-offset/pipeline.sql",
    "tests/sql/cases/session-late/pipeline.sql",
    "tests/sql/cases/count-ignores-null/pipeline.sql",
    "tests/sql/cases/like/pipeline.sql",
    "tests/sql/cases/having-and-case/pipeline.sql",
    "tests/sql/cases/metadata-and-computed/pipeline.sql",
    "tests/sql/cases/dead-letters-selected/pipeline.sql",
    "tests/sql/cases/sqlite-upsert/pipeline.sql",
    "tests/sql/cases/rolling-files/pipeline.sql",
    "tests/sql/cases/access-log-10-minutes/pipeline.sql",
    "tests/sql/cases/datagen-seed/pipeline.sql",
    "tests/crash/pipelines/tumble.sql",
    "tests/crash/pipelines/upsert.sql",
]
SETTINGS = ["--set", "weir.batch-rows=10", "--set", "execution.checkpointing.interval=1 ms"]
# What a state directory is called in the golden one: *.weir is not kept by git.
STORED = "pipeline.state"


def fingerprint(text, name="x"):
    work = os.path.join(WORK_DIR, "upgrade", "plans")
    os.makedirs(work, exist_ok=True)
    path = os.path.join(work, re.sub(r"\W", "_", name) + ".sql")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    weir = Weir(work)
    life = weir("explain", os.path.basename(path), "--json", want=0)
    value = json.loads(life.out).get("fingerprint", "")
    if not re.fullmatch(r"[0-9a-f]{64}", value):
        raise Failure(f"no fingerprint in explain --json: {value!r}", weir.log())
    return value


def read(plan):
    with open(os.path.join(ROOT, plan), encoding="utf-8") as f:
        return f.read()


def golden():
    table = {}
    if os.path.exists(GOLDEN):
        with open(GOLDEN, encoding="utf-8") as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    plan, value = line.split()
                    table[plan] = value
    return table


def frozen(plan, want):
    if want is None:
        raise Failure("no golden fingerprint: run.py --record")
    got = fingerprint(read(plan), plan)
    if got != want:
        raise Failure(f"fingerprint {got}, frozen is {want}: state directories of this plan would be refused")


def enough(table):
    if len(table) < 10:
        raise Failure(f"only {len(table)} golden fingerprints")


def text_does_not_count():
    """Blanks, comments, tuning options: the same plan. A window, a filter, a path: another."""
    base = read("tests/crash/pipelines/tumble.sql")
    want = fingerprint(base, "base")
    same = {
        "comment": "-- more\n" + base, "blanks": base.replace("GROUP BY", "GROUP   BY\n"),
        "tuning": "SET 'execution.checkpointing.interval' = '7 s';\nSET 'weir.batch-rows' = '5';\n" + base,
        "keywords": base.replace("SELECT", "select"),
    }
    other = {
        "window": base.replace("INTERVAL '5' SECOND)", "INTERVAL '6' SECOND)"), "path": base.replace("poison.jsonl", "p.jsonl"),
        "bound": base.replace("INTERVAL '3' SECOND", "INTERVAL '4' SECOND"), "aggregate": base.replace("MAX(v)", "MIN(v)"),
        "type": base.replace("v  BIGINT", "v  INT"),
    }
    for name, text in same.items():
        if text == base or fingerprint(text, name) != want:
            raise Failure(f"{name} changes the fingerprint")
    for name, text in other.items():
        if text == base or fingerprint(text, name) == want:
            raise Failure(f"{name} does not change the fingerprint")


def state_directories():
    return sorted(d for d in os.listdir(HERE) if d.startswith("state-") and os.path.isdir(os.path.join(HERE, d)))


def unpack(name):
    work = os.path.join(WORK_DIR, "upgrade", name)
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(os.path.join(HERE, name), work)
    for root, _, files in os.walk(work):
        for file in files:
            os.chmod(os.path.join(root, file), 0o644)
    os.rename(os.path.join(work, STORED), os.path.join(work, "pipeline.weir"))
    # Git keeps no empty directories and the copy has no holes; nothing else differs from the day it was made.
    return Weir(work)


def resumes(name):
    """A directory that an earlier binary left in the middle of its work is resumed, and ends right."""
    weir = unpack(name)
    before = weir.status("pipeline.sql")
    if before.get("sealed_epoch", 0) < 2:
        raise Failure(f"the golden directory holds no work: {before}", weir.log())
    weir("check", "pipeline.sql", want=0)
    life = weir("run", "pipeline.sql", "--progress", "never", want=0)
    if "resume" not in life.err.lower():
        raise Failure("it was not resumed", weir.log())
    for file in sorted(os.listdir(os.path.join(weir.cwd, "expected"))):
        with open(os.path.join(weir.cwd, "expected", file), "rb") as f:
            want = f.read()
        spec = "db:out.db:" + file[:-len(".table")] if file.endswith(".table") else file
        compare.require_equal(want, compare.output_bytes(weir.cwd, spec), spec, weir.log())


def content(weir):
    """What state.db says, its log included, and its format; looked at in a copy."""
    copy = weir.cwd + ".copy"
    shutil.rmtree(copy, ignore_errors=True)
    os.makedirs(copy)
    for name in ("state.db", "state.db-wal"):
        path = os.path.join(weir.cwd, "pipeline.weir", name)
        if os.path.exists(path):
            shutil.copy(path, copy)
    connection = sqlite3.connect(os.path.join(copy, "state.db"))
    try:
        return connection.execute("PRAGMA user_version").fetchone(), list(connection.iterdump())
    finally:
        connection.close()


def state_bytes(weir):
    found = {}
    for name in ("state.db", "state.db-wal"):
        with open(os.path.join(weir.cwd, "pipeline.weir", name), "rb") as f:
            found[name] = f.read()
    return found


def refused_changes_nothing(name):
    """A look, and a start that is refused, leave an older directory to the weir that wrote it; the start that goes on
    is the one that brings it to today's format."""
    weir = unpack(name)
    pipeline = os.path.join(weir.cwd, "pipeline.sql")
    with open(pipeline, encoding="utf-8") as f:
        text = f.read()
    before, bytes_before = content(weir), state_bytes(weir)
    weir("status", "pipeline.sql", want=0)
    weir("check", "pipeline.sql", want=0)
    if state_bytes(weir) != bytes_before:
        raise Failure("status or check wrote into state.db", weir.log())
    other = text.replace("INTERVAL '0.2' SECOND", "INTERVAL '0.3' SECOND")
    with open(pipeline, "w", encoding="utf-8") as f:
        f.write(other)
    weir("status", "pipeline.sql", want=0)
    weir("check", "pipeline.sql", want=78)
    if other == text or state_bytes(weir) != bytes_before:
        raise Failure("status or check of another plan wrote into state.db", weir.log())
    for more in ((), ("--job", "another")):
        life = weir("run", "pipeline.sql", "--progress", "never", *more, want=78)
        if "state_upgraded" in life.err or content(weir) != before:
            raise Failure(f"the refused start changed state.db: format {before[0]} -> {content(weir)[0]}", weir.log())
    with open(pipeline, "w", encoding="utf-8") as f:
        f.write(text)
    weir("run", "pipeline.sql", "--progress", "never", want=0)
    newest = max(int(d.split("-")[1]) for d in state_directories())
    if content(weir)[0] != (newest,):
        raise Failure(f"format {content(weir)[0]} after a start that went on, {newest} is the newest", weir.log())


def record():
    table = golden()
    with open(GOLDEN, "a", encoding="utf-8") as f:
        if not table:
            f.write("# Fingerprints of plans, frozen: a directory of an earlier binary must be resumed by this one.\n")
        for plan in PLANS:
            if plan not in table:
                f.write(f"{plan} {fingerprint(read(plan), plan)}\n")
    name = "state-3"  # the number of the format (PRAGMA user_version)
    target = os.path.join(HERE, name)
    if os.path.exists(target):
        print(f"{name} is there already; a new format gets a new directory")
        return
    work = "/tmp/golden/record"  # the directory keeps absolute paths: none of the machine that records
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(os.path.join(work, "expected"))
    with open(os.path.join(work, "pipeline.sql"), "w", encoding="utf-8") as f:
        f.write(STATE_SQL)
    other = work + ".whole"
    shutil.rmtree(other, ignore_errors=True)
    shutil.copytree(work, other)
    Weir(other)("run", "pipeline.sql", "--progress", "never", *SETTINGS, want=0)
    for spec, file in OUTPUTS.items():
        data = compare.output_bytes(other, spec)
        if not data:
            raise SystemExit(f"{spec} is empty: it would show nothing")
        with open(os.path.join(work, "expected", file), "wb") as f:
            f.write(data)
    life = Weir(work)("run", "pipeline.sql", "--progress", "never", *SETTINGS, fault="scan.after_batch=kill@30")
    if life.code != KILLED:
        raise SystemExit(f"not killed: {life.log()}")
    for leftover in ("pipeline.weir/status.sock", "pipeline.weir/reserve", ".witness", "pipeline.weir/state.db-shm"):
        path = os.path.join(work, leftover)
        if os.path.lexists(path):
            os.unlink(path)
    os.rename(os.path.join(work, "pipeline.weir"), os.path.join(work, STORED))
    shutil.copytree(work, target)
    print(f"recorded {name}")


STATE_SQL = """-- The pipeline of the golden state directory: windows, sessions, late rows, dead letters, a database.
-- Its input is made from a seed: files would be listed with the paths and inodes of the machine that recorded it.
CREATE TABLE src (
  id BIGINT,
  k  INT,
  v  BIGINT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '0.1' SECOND
) WITH ('connector' = 'datagen', 'number-of-rows' = '600', 'rows-per-second' = '400', 'weir.seed' = '11',
        'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '600',
        'fields.k.min' = '0', 'fields.k.max' = '9', 'fields.v.min' = '-3', 'fields.v.max' = '900',
        'fields.ts.max-past' = '400 ms');
CREATE TABLE out (k INT, window_start TIMESTAMP(3), n BIGINT, s BIGINT, a DOUBLE, lo BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
CREATE TABLE late (id BIGINT, window_end TIMESTAMP(3))
  WITH ('connector' = 'filesystem', 'path' = 'late.jsonl', 'format' = 'json');
CREATE TABLE sessions (k INT, window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT, total DECIMAL(20, 2))
  WITH ('connector' = 'filesystem', 'path' = 'sessions.jsonl', 'format' = 'json');
CREATE TABLE poison (stage STRING, code STRING, record STRING, pos BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'poison.jsonl', 'format' = 'json');
CREATE TABLE latest (k INT, id BIGINT, v BIGINT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'sqlite', 'path' = 'out.db');

CREATE VIEW w AS
  SELECT k, window_start, COUNT(*) AS n, SUM(v) AS s, AVG(CAST(v AS DOUBLE)) AS a, MIN(id) AS lo
  FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '0.2' SECOND)
  GROUP BY k, window_start, window_end;
INSERT INTO out SELECT * FROM w;
INSERT INTO late SELECT id, window_end FROM LATE(w);
INSERT INTO sessions
  SELECT k, window_start, window_end, COUNT(*) AS n, SUM(CAST(v AS DECIMAL(10, 2))) AS total
  FROM SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '0.03' SECOND)
  GROUP BY k, window_start, window_end;
INSERT INTO poison SELECT stage, code, record, pos FROM DEAD_LETTERS(src);
INSERT INTO latest SELECT k, id, 1000 / v AS v FROM src;
"""
OUTPUTS = {"out.jsonl": "out.jsonl", "late.jsonl": "late.jsonl", "sessions.jsonl": "sessions.jsonl",
           "poison.jsonl": "poison.jsonl", "db:out.db:latest": "latest.table"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    if args.record:
        record()
        return
    report = Report("upgrade", LOG_DIR)
    table = golden()
    report.check("enough-plans", enough, table)
    for plan in PLANS:
        report.check(f"fingerprint/{plan}", frozen, plan, table.get(plan))
    report.check("text-does-not-count", text_does_not_count)
    if not state_directories():
        report.fail("state-directories", "no golden state directory: run.py --record")
    for name in state_directories():
        report.check(f"resume/{name}", resumes, name)
        report.check(f"refused/{name}", refused_changes_nothing, name)
    report.finish()


if __name__ == "__main__":
    main()
