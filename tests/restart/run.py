#!/usr/bin/env python3
"""Wrong ways to restart, and ways to stop: each has its exit code in exit_codes.golden, its words on stderr, and
outputs that are right afterwards.

  run.py [NAME...]
"""
import argparse
import collections
import glob
import hashlib
import json
import os
import re
import shutil
import signal
import sqlite3
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))

from weirtest import cases, compare, workload  # noqa: E402
from weirtest.books import require_balance  # noqa: E402
from weirtest.report import Failure, Report, Skip  # noqa: E402
from weirtest.weir import KILLED, LOG_DIR, WORK_DIR, Weir  # noqa: E402

SLOW = "scan.after_batch=wait:3@every"
SETTINGS = ["--set", "weir.batch-rows=50", "--set", "execution.checkpointing.interval=1 ms"]
RUN = ["run", "pipeline.sql", "--progress", "never", "--trace", "trace.jsonl", *SETTINGS]

SOURCE = """CREATE TABLE src (
  id STRING,
  k STRING,
  v {v_type},
  d STRING,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '3' SECOND
) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json'{source});
"""
WINDOW = SOURCE + """CREATE TABLE out (k STRING, window_start TIMESTAMP(3), s BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json'{sink});
INSERT INTO out
  SELECT k, window_start, SUM(v) AS s
  FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '{size}' SECOND){where}
  GROUP BY k, window_start, window_end;
"""
COPY = SOURCE + """CREATE TABLE out (id STRING, v BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json'{sink});
INSERT INTO out SELECT id, v FROM src;
"""
DATABASE = SOURCE + """CREATE TABLE out (id STRING, v BIGINT) WITH ('connector' = 'sqlite', 'path' = 'out.db');
INSERT INTO out SELECT id, v FROM src;
"""
DEFAULTS = {"v_type": "BIGINT", "path": "in/*.jsonl", "source": "", "sink": "", "size": "10", "where": ""}


def sql(template, **changes):
    return template.format(**dict(DEFAULTS, **changes))


class Box(Weir):
    """A directory with three files of input and one pipeline, and what its undisturbed output is."""

    def __init__(self, name, template=WINDOW, rows=900, names=("a", "b", "c"), text=None, **changes):
        work = os.path.join(WORK_DIR, "restart", name)
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        super().__init__(work)
        workload.write_files(os.path.join(work, "in"), 7, rows, names)
        self.write("pipeline.sql", text if text is not None else sql(template, **changes))
        self.codes = []
        self.spec = "db:out.db:out" if template is DATABASE else "out.jsonl"

    def path(self, *parts):
        return os.path.join(self.cwd, *parts)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)

    def run(self, *more, says=(), **kwargs):
        """A start whose exit code goes into the golden table."""
        life = self(*RUN, *more, **kwargs)
        self.codes.append(life.code)
        for words in says:
            if not cases.contains_words(life.err, words):
                raise Failure(f"stderr does not say '{words}'", self.log())
        return life

    def kill_at(self, fault):
        life = self(*RUN, fault=f"{fault},{SLOW}")
        if life.code != KILLED:
            raise Failure(f"not killed by {fault}: exit {life.code}", self.log())

    def kill_midway(self, batches=25):
        """Dies after so many batches of fifty rows (of some fifty in all), with epochs sealed, however slow the disk is."""
        before = self.sealed() if os.path.exists(self.path("pipeline.weir", "state.db")) else 0
        life = self(*RUN, fault=f"scan.after_batch=kill@{batches},scan.after_batch=wait:10@every")
        if life.code != KILLED:
            raise Failure(f"not killed after {batches} batches: exit {life.code}", self.log())
        if self.sealed() < before + 3:
            raise Failure(f"only {self.sealed() - before} epochs were sealed before the kill", self.log())

    def output(self):
        if self.spec.startswith("db:"):
            # A kill may leave a journal that only a connection which may write rolls back.
            connection = sqlite3.connect(self.path(self.spec.split(":")[1]))
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            connection.close()
        return compare.output_bytes(self.cwd, self.spec)

    def undisturbed(self):
        """The output that a run of the same pipeline over the same input gives in a directory of its own."""
        other = self.cwd + ".undisturbed"
        shutil.rmtree(other, ignore_errors=True)
        os.makedirs(other)
        shutil.copytree(self.path("in"), os.path.join(other, "in"))
        shutil.copyfile(self.path("pipeline.sql"), os.path.join(other, "pipeline.sql"))
        Weir(other)(*RUN, want=0)
        return compare.output_bytes(other, self.spec)

    def require_output(self, want, what):
        compare.require_equal(want, self.output(), what, self.log())

    def sealed(self):
        return self.status("pipeline.sql")["sealed_epoch"]

    def resolve(self, *words):
        self("resolve", "pipeline.sql", *words, "--yes", want=0)

    def digests(self, directory="pipeline.weir"):
        """What is in a directory, to the byte; what reading may touch (-shm, the socket) is left out."""
        found = {}
        for root, _, names in os.walk(self.path(directory)):
            for name in names:
                path = os.path.join(root, name)
                if name.endswith("-shm") or not os.path.isfile(path):
                    continue
                with open(path, "rb") as f:
                    found[os.path.relpath(path, self.cwd)] = hashlib.sha256(f.read()).hexdigest()
        return found


def wait_until(condition, what, box=None, seconds=20):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return
        time.sleep(0.02)
    raise Failure(f"waited {seconds} s for {what}", box.log() if box else "")


def count_lines(path):
    try:
        with open(path, "rb") as f:
            return f.read().count(b"\n")
    except FileNotFoundError:
        return 0


FOLLOW = {"source": ", 'source.monitor-interval' = '50 ms'"}


# --- ending

def finished(box):
    box.run()
    box.require_output(box.undisturbed(), "output")
    require_balance(box.status("pipeline.sql"), box.log(), settled=False)


def finished_again(box):
    """A bounded job runs again rather than publish nothing; its append file is replaced."""
    box(*RUN, want=0)
    want = box.output()
    box.run()
    box.require_output(want, "output of the second run")


def _stopped_follow(box, number):
    box.write("pipeline.sql", sql(COPY, **FOLLOW))
    with box.start(*RUN) as process:
        wait_until(lambda: count_lines(box.path("out.jsonl")) > 1000, "rows of a followed file", box)
        process.signal(number)
        life = process.wait()
        box.codes.append(life.code)
    # Stopped is not finished: new rows go on from there.
    workload.write_files(box.path("in"), 7, 100, ("d",))
    with box.start(*RUN) as process:
        total = count_lines(box.path("out.jsonl"))
        wait_until(lambda: count_lines(box.path("out.jsonl")) > total + 50, "rows of a new file", box)
        process.signal(number)
        process.wait()
    box.write("bounded.sql", sql(COPY, sink="").replace("out.jsonl", "all.jsonl"))
    box("run", "bounded.sql", want=0)
    compare.require_rows(compare.output_bytes(box.cwd, "all.jsonl"), box.output(), "stopped and gone on", box.log())


def stopped_follow_sigterm(box):
    _stopped_follow(box, signal.SIGTERM)


def stopped_follow_sigint(box):
    _stopped_follow(box, signal.SIGINT)


def stopped_bounded(box):
    with box.start(*RUN, fault="scan.after_batch=delay:100@every") as process:
        wait_until(lambda: os.path.exists(box.path("pipeline.weir", "state.db")), "a state directory", box)
        time.sleep(0.5)
        process.signal(signal.SIGTERM)
        box.codes.append(process.wait().code)
    box(*RUN, want=0)
    box.require_output(box.undisturbed(), "stopped and gone on")


def stopped_while_a_target_is_away(box):
    """The input has ended and everything is sealed; only the database does not answer. A stop is a stop all the same."""
    holder = sqlite3.connect(box.path("out.db"), isolation_level=None)
    holder.execute("CREATE TABLE held (x)")
    holder.execute("BEGIN EXCLUSIVE")
    with box.start(*RUN, "--drain", "1s") as process:
        def undelivered():
            life = box("status", "pipeline.sql", "--json")
            status = json.loads(life.out) if life.code == 0 else {}
            rows = status.get("books", {}).get("scan:src", {}).get("read", 0)
            return "running_ms" in status and rows == 2700 and status["targets"][0]["undelivered_rows"] > 2000
        wait_until(undelivered, "all rows sealed and none delivered", box, 60)
        time.sleep(0.3)
        process.signal(signal.SIGTERM)
        life = process.wait(60)
        box.codes.append(life.code)
        if "wait in the spool" not in life.err:
            raise Failure("it does not say what is left", life.log())
    holder.execute("ROLLBACK")
    holder.close()
    box.run()
    box.require_output(box.undisturbed(), "stopped and gone on")


def stopped_twice(box):
    """The second signal exits at once; state is safe."""
    with box.start(*RUN, fault="scan.after_batch=delay:50@every,seal.before_commit=delay:3000@every") as process:
        wait_until(lambda: os.path.exists(box.path("pipeline.weir", "state.db")), "a state directory", box)
        time.sleep(0.6)
        process.signal(signal.SIGTERM)
        time.sleep(0.3)
        begun = time.monotonic()
        process.signal(signal.SIGTERM)
        box.codes.append(process.wait().code)
        if time.monotonic() - begun > 2:
            raise Failure("the second signal was waited for", box.log())
    box(*RUN, want=0)
    box.require_output(box.undisturbed(), "stopped twice and gone on")


def stdout_closed(box):
    """EPIPE on the standard output of a bare SELECT ends the run with 0."""
    box.write("pipeline.sql", sql(SOURCE) + "SELECT * FROM src;\n")
    import subprocess  # noqa: PLC0415 (a pipe whose reader leaves is not what Weir makes)
    from weirtest.weir import CLEAN_ENV  # noqa: PLC0415
    process = subprocess.Popen([box.binary, *RUN], cwd=box.cwd, env=dict(CLEAN_ENV), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    process.stdout.read(100)
    process.stdout.close()
    error = process.stderr.read().decode()
    box.codes.append(process.wait(60))
    if box.codes[-1] != 0:
        raise Failure(f"exit {box.codes[-1]}: {error[-500:]}")


# --- usage and configuration

def _usage(box, *args):
    life = box(*args)
    box.codes.append(life.code)
    if not life.err.strip():
        raise Failure("nothing on stderr", box.log())


def usage_no_verb(box):
    _usage(box)


def usage_unknown_verb(box):
    _usage(box, "ruin", "pipeline.sql")


def usage_unknown_option(box):
    _usage(box, "run", "pipeline.sql", "--frehs")


def usage_bad_set(box):
    _usage(box, "run", "pipeline.sql", "--set", "nothing")


def no_such_sql_file(box):
    life = box("run", "nowhere.sql")
    box.codes.append(life.code)
    if "nowhere.sql" not in life.err:
        raise Failure("the file is not named", box.log())


def sql_error(box):
    box.write("pipeline.sql", "SELECT 1 FROM nowhere;\n")
    box.run(says=["pipeline.sql:1:15 nowhere"])
    if os.path.exists(box.path("pipeline.weir")):
        raise Failure("a state directory was made for a pipeline that cannot run", box.log())


def unknown_config_key(box):
    box.write("weir.toml", "instance = \"a\"\n[set]\n\"weir.batch-rowz\" = \"1\"\n")
    life = box(*RUN, "--config", "weir.toml")
    box.codes.append(life.code)
    if not re.search(r"weir\.toml:3:\d+:.*weir\.batch-rowz", life.err):
        raise Failure("no line, column and key", box.log())


def unset_variable(box):
    box.write("pipeline.sql", sql(COPY, path="${NOWHERE}/in"))
    box.run(says=["NOWHERE", "pipeline.sql:8:46"])


def bad_row_under_fail(box):
    box.write("pipeline.sql", "SET 'weir.on-error' = 'fail';\n" + sql(COPY))
    box.run(says=["a.jsonl|b.jsonl|c.jsonl"])


# --- another script, another binary, another process

def another_script(box):
    box.kill_midway()
    sealed = box.sealed()
    for change, says in (({"size": "20"}, "window 10 20"), ({"where": " WHERE v > 1"}, "filter"),
                         ({"v_type": "INT"}, "int")):
        box.write("pipeline.sql", sql(WINDOW, **change))
        check = box("check", "pipeline.sql", want=78)
        box.run(says=[says, "--fresh"])
        if not cases.contains_words(check.out.decode() + check.err, says):
            raise Failure("weir check does not say the same", box.log())
    box.run()  # the refusal is stable
    text = "-- a comment, blanks\n" + sql(WINDOW).replace("SUM(v)", "SUM( v )  ").replace("  GROUP", "\n\n GROUP")
    box.write("pipeline.sql", text)
    if box.sealed() != sealed:
        raise Failure(f"a refused start sealed something: {sealed} -> {box.sealed()}", box.log())
    box.run()  # only the text differs: resumes
    box.write("pipeline.sql", sql(WINDOW))
    box.require_output(box.undisturbed(), "resumed with other blanks")
    box.run()


def newer_format(box):
    box.kill_midway()
    database = box.path("pipeline.weir", "state.db")
    connection = sqlite3.connect(database)
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    connection.execute(f"PRAGMA user_version = {version + 1}")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    before = box.digests()
    box.run(says=[f"format {version + 1}", f"{version}"])
    status = box("status", "pipeline.sql", "--json")
    if status.code != 78:
        raise Failure(f"weir status of a newer directory: exit {status.code}", box.log())
    if box.digests() != before:
        changed = {k for k in set(before) | set(box.digests()) if before.get(k) != box.digests().get(k)}
        raise Failure(f"the refusal changed {sorted(changed)}", box.log())
    connection = sqlite3.connect(database)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    box.run()  # the newer binary put back
    box.require_output(box.undisturbed(), "resumed by the right binary")


def second_process(box):
    box.write("pipeline.sql", sql(COPY, **FOLLOW))
    with box.start(*RUN) as process:
        wait_until(lambda: count_lines(box.path("out.jsonl")) > 100, "rows", box)
        box.run(says=[str(process.pid)])
        if not process.running():
            raise Failure("the first process died of the second", box.log())
        status = box.status("pipeline.sql")
        if status.get("health") != "healthy":
            raise Failure(f"weir status beside a running process: {status.get('health')}", box.log())
        require_balance(status, box.log(), settled=False)
        process.signal(signal.SIGTERM)
        if process.wait().code != 0:
            raise Failure("the first process did not stop well", box.log())


# --- directories and outputs

def _as_nobody(box):
    if os.getuid() != 0:
        return
    if not shutil.which("setpriv"):
        raise Skip("root, and no setpriv to become somebody else")
    box.wrap = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def read_only_state_directory(box):
    os.makedirs(box.path("pipeline.weir"))
    for name in (".", "pipeline.weir"):
        os.chmod(box.path(name), 0o555)
    try:
        _as_nobody(box)
        life = box("run", "pipeline.sql", "--progress", "never")
        box.codes.append(life.code)
        if "pipeline.weir" not in life.err:
            raise Failure("the directory is not named", box.log())
    finally:
        for name in (".", "pipeline.weir"):
            os.chmod(box.path(name), 0o755)
        box.wrap = []


def output_directory_missing(box):
    box.write("pipeline.sql", sql(COPY).replace("out.jsonl", "nowhere/out.jsonl"))
    check = box("check", "pipeline.sql", want=78)
    box.run(says=["nowhere"])
    if "nowhere" not in check.out.decode() + check.err:
        raise Failure("weir check does not find it", box.log())


def output_exists(box):
    box.write("out.jsonl", "somebody's\n")
    box.run(says=["out.jsonl", "if-exists"])
    box.require_output(b"somebody's\n", "a file that is not ours")


def output_exists_allowed(box):
    box.write("out.jsonl", "somebody's\n")
    box.write("pipeline.sql", sql(COPY, sink=", 'weir.sink.if-exists' = 'append'"))
    box.run()
    alone = Box("output-exists-allowed.alone", COPY)
    alone(*RUN, want=0)
    box.require_output(b"somebody's\n" + alone.output(), "appended")
    over = Box("output-exists-allowed.over", COPY, sink=", 'weir.sink.if-exists' = 'overwrite'")
    over.write("out.jsonl", "somebody's\n")
    box.codes.append(over.run().code)
    over.require_output(alone.output(), "overwritten")


def output_deleted(box):
    box.write("pipeline.sql", sql(COPY))
    box.kill_midway()
    before = box.output()
    want = box.undisturbed()
    os.unlink(box.path("out.jsonl"))
    box.run(says=["out", "--accept-missing"])
    if os.path.exists(box.path("out.jsonl")):
        raise Failure("a parked sink made its file anew", box.log())
    box.resolve("--accept-missing", "out")
    box.run()
    got = box.output()
    # Readers may have seen an open epoch: what is written anew is what was not sealed.
    if not want.endswith(got) or len(got) < len(want) - len(before):
        raise Failure("after --accept-missing the file is not the rest of the output", box.log())


def output_shorter(box):
    box.write("pipeline.sql", sql(COPY))
    box.kill_midway()
    with open(box.path("out.jsonl"), "r+b") as f:
        f.truncate(10)
    box.run(says=["out", "--accept-missing"])
    if os.path.getsize(box.path("out.jsonl")) != 10:
        raise Failure("a parked sink changed its file", box.log())
    box.resolve("--accept-missing", "out")
    box.run()
    if not box.output().startswith(box.undisturbed()[:10]):
        raise Failure("what was there is gone", box.log())


def output_longer(box):
    """A tail beyond what is sealed is a staged one: cut."""
    box.write("pipeline.sql", sql(COPY))
    box.kill_midway()
    with open(box.path("out.jsonl"), "ab") as f:
        f.write(b'{"id":"half a li')
    box.run()
    box.require_output(box.undisturbed(), "output after a torn tail")


def copy_state(box, source, target):
    """A copy of a state directory; the socket of a dead process is nothing to copy."""
    shutil.copytree(box.path(source), box.path(target), ignore=shutil.ignore_patterns("status.sock"))


def _checkpoint(box):
    """All of the WAL into the database: damage to the database is then not put right by it."""
    connection = sqlite3.connect(box.path("pipeline.weir", "state.db"))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _kill_after_deliveries(box):
    """Dies behind its second delivery, however slow targets are: that one holds epochs of this life."""
    life = box(*RUN, fault="deliver.after_ack=kill@2,scan.after_batch=wait:20@every")
    if life.code != KILLED:
        raise Failure(f"not killed behind the second delivery: exit {life.code}", box.log())


def _kill_after_proof(box, epoch):
    """Lives until the directory itself knows that the target had more than `epoch`: a proof that a delivery went through
    becomes durable with the seal behind it, and a kill may come first."""
    for _ in range(6):
        _kill_after_deliveries(box)
        if int((box.status("pipeline.sql")["targets"][0]["acked"] or "0:0").split(":")[0]) > epoch:
            return
    raise Failure(f"no life knew of a delivery above epoch {epoch}", box.log())


def _receipt_epoch(database):
    connection = sqlite3.connect(database)
    epoch, = connection.execute("SELECT epoch FROM weir_receipts").fetchone()
    connection.close()
    return epoch


def _older_copy(box, go_on):
    """A copy of the directory of epoch N; the run goes on; the copy takes the directory's place."""
    box.kill_midway(15)
    copy_state(box, "pipeline.weir", "copy")
    go_on()
    delivered = box.output()
    shutil.rmtree(box.path("pipeline.weir"))
    os.rename(box.path("copy"), box.path("pipeline.weir"))
    return delivered


def older_copy_file(box):
    box.write("pipeline.sql", sql(COPY))
    delivered = _older_copy(box, lambda: box.kill_midway(12))
    box.run(says=["out", "--rewind-file"])
    box.require_output(delivered, "a file that is ahead of the restored directory")
    box.resolve("--rewind-file", "out")
    box.run()
    box.require_output(box.undisturbed(), "rewound")


def _require_status(box, health, ended, rules, words, undelivered):
    status = box.status("pipeline.sql")
    found = {"running": status["running"], "health": status["health"], "ended": status["last_run"]["ended"],
             "rules": [park["rule"] for park in status["parks"]], "words": status["words_waiting"],
             "undelivered": any(target["undelivered_rows"] > 0 for target in status["targets"])}
    want = {"running": False, "health": health, "ended": ended, "rules": rules, "words": words, "undelivered": undelivered}
    if found != want:
        raise Failure(f"weir status says {found}, want {want}", box.log())
    if rules and not all(park["verbs"] and park["facts"] for park in status["parks"]):
        raise Failure(f"a park without facts or ways out: {status['parks']}", box.log())


def older_copy_sqlite(box):
    delivered = _older_copy(box, lambda: _kill_after_deliveries(box))
    box.run(says=["out", "--trust-sink", "--redeliver", "backup"])
    # What nobody runs still says what somebody has to decide.
    _require_status(box, health="parked", ended="parked", rules=["sql.row-5"], words=[], undelivered=True)
    if len(box.output()) < len(delivered):
        raise Failure("rows have gone from the target", box.log())
    # Delivered again above what is acked here, whatever the target holds: rows may come twice, none is lost.
    box.resolve("--redeliver", "out")
    _require_status(box, health="parked", ended="parked", rules=["sql.row-5"], words=["--redeliver out"], undelivered=True)
    box.run()
    _require_status(box, health="stopped", ended="finished", rules=[], words=[], undelivered=False)
    got, want = box.output().splitlines(), box.undisturbed().splitlines()
    if not set(want) <= set(got):
        raise Failure(f"{len(set(want) - set(got))} rows are missing after --redeliver", box.log())


def _numbers(pattern, text, box):
    found = re.search(pattern, text)
    if found is None:
        raise Failure(f"'{pattern}' is not said", box.log())
    return [int(group) for group in found.groups()]


def older_copy_trusted(box):
    """A restored directory parks, and its run goes on to seal epochs with ids that the receipt has passed. Those rows
    are the input since the backup: --trust-sink delivers them (as many as it says), and drops none of them."""
    delivered = len(_older_copy(box, lambda: _kill_after_deliveries(box)).splitlines())
    # The receipt is read late: what is sealed by then has ids that the lost life has used too.
    sealed = box.sealed()
    box.run(says=["out", "--trust-sink", "sql.row-5"], fault="deliver.after_fence=delay:2000")
    if not sealed < box.sealed():
        raise Failure(f"the parked run sealed nothing above {sealed}", box.log())
    wrong = box("resolve", "pipeline.sql", "--rewind-file", "out", "--yes", want=64)
    if "--rewind-file" not in wrong.err:
        raise Failure("a word that cannot be an answer is not named", box.log())
    says = box("resolve", "pipeline.sql", "--trust-sink", "out", "--yes", want=0).out.decode()
    again, = _numbers(r"; (\d+) rows in \d+ epochs above [\d:]+ are delivered", says, box)
    # A death between the word and its first delivery asks nobody again.
    if box(*RUN, fault="deliver.before_begin=kill").code != KILLED:
        raise Failure("not killed before the first delivery", box.log())
    box.run()
    box.run(says=[])  # finished: runs again, and says nothing of a park
    got, want = (collections.Counter(rows.splitlines()) for rows in (box.output(), box.undisturbed()))
    if want - got:
        raise Failure(f"{(want - got).total()} rows are missing after --trust-sink", box.log())
    if got.total() != delivered + again + want.total():
        raise Failure(f"{delivered} rows were there, {again} were announced, then a whole run: {got.total()}", box.log())
    if not again:
        raise Failure("nothing was delivered again: the case shows nothing", box.log())


def restored_target(box):
    """The database is put back to an older copy: the receipt is below what was proven. --trust-sink goes back to it as
    far as the spool reaches, and says how many rows it cannot bring back."""
    _kill_after_deliveries(box)
    connection = sqlite3.connect(box.path("out.db"))
    with sqlite3.connect(box.path("older.db")) as copy:
        connection.backup(copy)
    copy.close()
    connection.close()
    _kill_after_proof(box, _receipt_epoch(box.path("older.db")))
    before = len(box.output().splitlines())
    os.rename(box.path("older.db"), box.path("out.db"))
    older = len(box.output().splitlines())
    for name in ("out.db-wal", "out.db-shm", "out.db-journal"):
        if os.path.exists(box.path(name)):
            os.unlink(box.path(name))
    box.run(says=["out", "--trust-sink", "sql.row-9"])
    says = box("resolve", "pipeline.sql", "--trust-sink", "out", "--yes", want=0).out.decode()
    lost, = _numbers(r"(\d+) rows in \d+ epochs that the target had and has lost", says, box)
    box.run()
    got, want = (collections.Counter(rows.splitlines()) for rows in (box.output(), box.undisturbed()))
    if got - want:
        raise Failure(f"{(got - want).total()} rows came twice", box.log())
    if (want - got).total() != lost:
        raise Failure(f"{(want - got).total()} rows are gone, {lost} were announced", box.log())
    if before <= older:
        raise Failure("nothing was delivered since the copy: the case shows nothing", box.log())


def database_table_unfit(box):
    """A table that is missing and not to be made, or lacks a column, is said before anything is read; one that goes
    away later is waited for, and status says what for."""
    text = sql(DATABASE, **FOLLOW).replace("'path' = 'out.db'", "'path' = 'out.db', 'create-table' = 'false'")
    box.write("pipeline.sql", text)

    def execute(statement):
        connection = sqlite3.connect(box.path("out.db"), timeout=60)
        connection.execute(statement)
        connection.commit()
        connection.close()
    for statement, words in (("CREATE TABLE other (x)", "has no table out"),
                             ("CREATE TABLE out (id TEXT)", "no column v")):
        execute(statement)
        check = box("check", "pipeline.sql", want=78)
        if not re.search(rf"pipeline\.sql:9:\d+: .*{words}", check.err):
            raise Failure(f"weir check does not say '{words}' with its place", box.log())
        box.run(says=[words])
        if os.path.exists(box.path("pipeline.weir")):
            raise Failure("the refused start has made a state directory", box.log())
    execute("DROP TABLE out")
    execute("CREATE TABLE out (id TEXT, v INTEGER)")
    with box.start(*RUN) as process:
        def status():
            life = box("status", "pipeline.sql", "--json")
            return json.loads(life.out) if life.code == 0 else {}

        def delivered():
            now = status()
            books = now.get("books", {})
            out = books.get("sink:out", {})
            return books.get("scan:src", {}).get("read", 0) == 2700 and out["staged"] == out.get("acked")

        def says_why():
            now = status()
            return now.get("health") == "degraded" and "no table out" in json.dumps(now)
        wait_until(delivered, "all rows", box, 60)
        rows = len(box.output().splitlines())
        execute("ALTER TABLE out RENAME TO kept")
        with open(box.path("in", "a.jsonl"), "a", encoding="utf-8") as f:
            f.write('{"id":"last","k":"k","v":1,"ts":"2030-01-01 00:00:00"}\n')
        wait_until(says_why, "a reason in status", box, 60)
        execute("ALTER TABLE kept RENAME TO out")
        wait_until(lambda: len(box.output().splitlines()) == rows + 1, "the row that waited", box, 60)
        process.signal(signal.SIGTERM)
        box.codes.append(process.wait().code)


def database_without_its_wal(box):
    """state.db is copied without its WAL (field case 089): consistent, and old."""
    box.write("pipeline.sql", sql(COPY))
    box.kill_midway()
    delivered = box.output()
    if not os.path.getsize(box.path("pipeline.weir", "state.db-wal")):
        raise Failure("the WAL is empty: the case shows nothing", box.log())
    for name in ("state.db-wal", "state.db-shm"):
        if os.path.exists(box.path("pipeline.weir", name)):
            os.unlink(box.path("pipeline.weir", name))
    life = box.run()
    if not any(word in life.err for word in ("--rewind-file", "--quarantine", "--adopt")):
        raise Failure("no way out is named", box.log())
    sealed = delivered[:delivered.rfind(b"\n") + 1]
    if not box.output().startswith(sealed[:len(sealed) // 2]):
        raise Failure("the output was cut before anybody said so", box.log())


def _damage(path, how):
    size = os.path.getsize(path)
    with open(path, "r+b") as f:
        if how == "empty":
            f.truncate(0)
        elif how == "zeros":
            f.write(b"\0" * size)
        elif how == "head":
            f.write(b"\0" * min(4096, size))
        elif how == "tail":
            f.seek(max(0, size - 4096))
            f.write(b"\0" * min(4096, size))
        elif how == "text":
            f.write(b"not a database, really not" * 40)


def state_damaged(box):
    """state.db empty, zeroed, or missing beside what only a run makes: 78, named, nothing touched, never fresh."""
    box.write("pipeline.sql", sql(COPY))
    box.kill_midway()
    copy_state(box, "pipeline.weir", "good")
    delivered = box.output()
    for how in ("empty", "zeros", "head", "text", "missing"):
        shutil.rmtree(box.path("pipeline.weir"))
        copy_state(box, "good", "pipeline.weir")
        database = box.path("pipeline.weir", "state.db")
        _checkpoint(box)
        if how == "missing":
            os.unlink(database)
        else:
            _damage(database, how)
        begun = time.monotonic()
        life = box.run(says=["state.db", "--quarantine"])
        if time.monotonic() - begun > 5:
            raise Failure(f"{how}: took {time.monotonic() - begun:.1f} s to say so", box.log())
        box.require_output(delivered, f"the output beside a state.db that is {how}")
        status = box("status", "pipeline.sql", "--json")
        if status.code not in (0, 78):
            raise Failure(f"{how}: weir status exits {status.code}", box.log())
        del life


def state_tail_damaged(box):
    """A WAL that is cut short loses its last frames: the run goes on from the last epoch that is left, or parks
    where receipts show more. Here the WAL is cut within the last frame, of a commit that was never acknowledged."""
    box.write("pipeline.sql", sql(COPY))
    box.kill_at("seal.before_commit=kill@4")
    wal = box.path("pipeline.weir", "state.db-wal")
    with open(wal, "ab") as f:
        f.write(b"\0" * 5000)
    box.run()
    box.require_output(box.undisturbed(), "output after a torn WAL tail")


def quarantine(box):
    box.write("pipeline.sql", sql(COPY))
    box.kill_midway()
    _checkpoint(box)
    _damage(box.path("pipeline.weir", "state.db"), "text")
    box.run(says=["--quarantine"])
    box.resolve("--quarantine")
    kept = glob.glob(box.path("pipeline.weir*"))
    if not any("state.db" in os.listdir(k) for k in kept if os.path.isdir(k)):
        raise Failure(f"the damaged directory is not kept: {kept}", box.log())
    os.unlink(box.path("out.jsonl"))  # what was delivered is the operator's to keep or to drop
    for receipt in glob.glob(box.path(".out.jsonl*")) + glob.glob(box.path("out.jsonl.*")):
        os.unlink(receipt)
    box.run()
    box.require_output(box.undisturbed(), "a fresh start after the quarantine")


# --- sources

def _changed_source(box, change, says):
    box.write("pipeline.sql", sql(COPY))
    box.kill_midway(30)
    change()
    life = box.run(says=[*says, "--accept-gap"])
    # The way out is the one that the park names: the table and the file.
    way_out = re.search(r"--accept-gap (src:\S+)", life.err)
    if way_out is None:
        raise Failure("the park names no file", box.log())
    box.resolve("--accept-gap", way_out.group(1))
    box.run()
    require_balance(box.status("pipeline.sql"), box.log(), settled=False)


def _half_read(box):
    """The file of which a part has been read when the run died, by its output."""
    text = box.output().decode()
    counts = {name: text.count(f'"id":"{name}-') for name in "abc"}
    name = max((n for n in counts if 0 < counts[n] < 800), key=lambda n: counts[n], default=None)
    if name is None:
        raise Failure(f"no file is half read: {counts}", box.log())
    return box.path("in", f"{name}.jsonl")


def source_shrank(box):
    def change():
        with open(_half_read(box), "r+b") as f:
            f.truncate(100)
    _changed_source(box, change, [".jsonl"])


def source_changed(box):
    def change():
        path = _half_read(box)
        with open(path, "r+b") as f:
            f.write(b'{"id":"X-')
    _changed_source(box, change, [".jsonl"])


def source_vanished(box):
    def change():
        os.unlink(_half_read(box))
    _changed_source(box, change, [".jsonl"])


def source_missing(box):
    box.write("pipeline.sql", sql(COPY, path="in/nowhere.jsonl"))
    box.run(says=["nowhere.jsonl"])


# --- names and places

def renamed_sql(box):
    args = ["--data-dir", "state"]
    life = box(*RUN, *args, fault="scan.after_batch=kill@25,scan.after_batch=wait:5@every")
    if life.code != KILLED:
        raise Failure("not killed", box.log())
    want = box.undisturbed()
    os.rename(box.path("pipeline.sql"), box.path("other.sql"))
    life = box("run", "other.sql", *RUN[2:], *args)
    box.codes.append(life.code)
    box.require_output(want, "resumed under another name")


def moved_state_directory(box):
    box.kill_midway()
    want = box.undisturbed()
    os.rename(box.path("pipeline.weir"), box.path("elsewhere"))
    box.run("--data-dir", "elsewhere")
    box.require_output(want, "resumed in another place")


# --- the disk and SQLite

def _io_error(box, fault):
    box.write("pipeline.sql", sql(COPY))
    box.run(fault=f"{SLOW},{fault}")
    box.run()
    box.require_output(box.undisturbed(), f"after {fault}")


def io_error_on_sync(box):
    _io_error(box, "seal.before_stage_sync=fail@5")


def io_error_at_commit(box):
    _io_error(box, "seal.before_commit=fail@5")


def wal_behind_a_reader(box):
    """A reader that stays holds the WAL; the run goes on; when it leaves, the file shrinks (field case 091)."""
    # Rows of 16 KiB as keys of windows: epochs that fill the WAL fast.
    box.write("pipeline.sql", sql(SOURCE, **FOLLOW) + """CREATE TABLE out (k STRING, n BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT k, COUNT(*) AS n FROM TUMBLE(TABLE big, DESCRIPTOR(ts), INTERVAL '1' DAY)
  GROUP BY window_start, window_end, k;
""".replace("TABLE big", "TABLE keys").replace("INSERT", "CREATE VIEW keys AS SELECT RPAD(id, 16000, 'x') AS k, ts FROM src;\nINSERT"))
    database, wal = box.path("pipeline.weir", "state.db"), box.path("pipeline.weir", "state.db-wal")

    def wal_bytes():
        return os.path.getsize(wal) if os.path.exists(wal) else 0

    def epochs():
        life = box("status", "pipeline.sql", "--json")
        return json.loads(life.out).get("sealed_epoch", 0) if life.code == 0 else 0

    with box.start("run", "pipeline.sql", "--progress", "never", "--set", "weir.batch-rows=20", "--set",
                   "execution.checkpointing.interval=1 ms", fault="scan.after_batch=wait:30@every") as process:
        wait_until(lambda: epochs() > 3, "epochs", box)
        reader = sqlite3.connect(f"file:{database}?mode=ro", uri=True, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        begun = epochs()
        wait_until(lambda: wal_bytes() > 20 << 20, "a WAL of 20 MiB beside a reader", box, 60)
        if epochs() <= begun:
            raise Failure("nothing was sealed beside a reader", box.log())
        grown = wal_bytes()
        reader.execute("COMMIT")
        reader.close()
        workload.write_files(box.path("in"), 8, 300, ("d",))
        # 16 MiB of it are kept; what one more epoch needs stands above it.
        wait_until(lambda: wal_bytes() < 18 << 20, f"a WAL of {grown} bytes to shrink once the reader has left", box, 60)
        process.signal(signal.SIGTERM)
        box.codes.append(process.wait().code)


def trace_of_a_lost_restore(box):
    """The trace of a kill and a rerun, rewritten so that the rerun restored nothing, is refused."""
    box.kill_midway()
    box(*RUN, want=0)
    with open(box.path("trace.jsonl"), encoding="utf-8") as f:
        events = [json.loads(line) for line in f]
    good = box("trace", "verify", "trace.jsonl")
    box.codes.append(good.code)
    runs = [i for i, event in enumerate(events) if event.get("event") == "run"]
    if len(runs) < 2:
        raise Failure(f"{len(runs)} runs in the trace of two lives", box.log())
    second = runs[1]
    # The rerun says fresh and seals from the first epoch on, as if nothing had been there.
    events[second].update(mode="fresh", sealed=0)
    with open(box.path("forged.jsonl"), "w", encoding="utf-8") as f:
        f.writelines(json.dumps(event, separators=(",", ":")) + "\n" for event in events)
    bad = box("trace", "verify", "forged.jsonl")
    box.codes.append(bad.code)
    if not re.search(rf"forged\.jsonl:\d+:", bad.err):
        raise Failure("the verdict names no line", box.log())


SCENARIOS = [value for name, value in list(globals().items())
             if callable(value) and getattr(value, "__code__", None) and value.__code__.co_varnames[:1] == ("box",)
             and value.__code__.co_argcount == 1 and not name.startswith("_")]
DATABASE_SCENARIOS = {"stopped_while_a_target_is_away", "older_copy_sqlite", "older_copy_trusted", "restored_target",
                      "database_table_unfit"}


def golden():
    table = {}
    with open(os.path.join(HERE, "exit_codes.golden"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                name, *codes = line.split()
                table[name] = [int(code) for code in codes]
    return table


def name_of(scenario):
    return scenario.__name__.replace("_", "-")


def scenario_check(scenario, want):
    name = name_of(scenario)
    box = Box(name, DATABASE if scenario.__name__ in DATABASE_SCENARIOS else WINDOW)
    try:
        scenario(box)
    finally:
        box.codes_seen = list(box.codes)
    if box.codes != want:
        raise Failure(f"exit codes {box.codes}, frozen are {want}", box.log())


def table_is_complete(table):
    names = {name_of(s) for s in SCENARIOS}
    if names != set(table):
        raise Failure(f"without a frozen code: {sorted(names - set(table))}; without a scenario: {sorted(set(table) - names)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    report = Report("restart", LOG_DIR)
    table = golden()
    report.check("exit-codes-are-frozen", table_is_complete, table)
    report.check_all([(name_of(s), scenario_check, s, table.get(name_of(s), [])) for s in SCENARIOS
                      if not args.names or any(name_of(s).startswith(n) for n in args.names)])
    report.finish()


if __name__ == "__main__":
    main()
