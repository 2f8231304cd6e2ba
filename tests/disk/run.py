#!/usr/bin/env python3
"""Full disks for real: a small tmpfs and a small ext4 image. Paused, degraded, and on when space returns; no row lost.

  run.py [NAME...]          needs root and mount; without them every check is skipped and says so
"""
import argparse
import contextlib
import glob
import os
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))

from weirtest import compare, workload  # noqa: E402
from weirtest.books import require_balance  # noqa: E402
from weirtest.report import Failure, Report, Skip  # noqa: E402
from weirtest.weir import LOG_DIR, WORK_DIR, Weir  # noqa: E402

SETTINGS = ["--set", "weir.batch-rows=200", "--set", "execution.checkpointing.interval=5 ms"]
SOURCE = """CREATE TABLE src (id STRING, k STRING, v BIGINT, d STRING, ts TIMESTAMP(3))
  WITH ('connector' = 'filesystem', 'path' = 'in/*.jsonl', 'format' = 'json'{follow});
"""
FOLLOW = ", 'source.monitor-interval' = '20 ms'"


@contextlib.contextmanager
def small_disk(kind, directory, megabytes):
    """A file system of its own at `directory`. Unmounted at the end, whatever happens."""
    if os.getuid() != 0:
        raise Skip("not root: nothing can be mounted")
    os.makedirs(directory, exist_ok=True)
    image = directory + ".image"
    if kind == "tmpfs":
        command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "weir-test", directory]
    else:
        with open(image, "wb") as f:
            f.truncate(megabytes << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", image], check=True, stdout=subprocess.DEVNULL)
        command = ["mount", "-o", "loop", image, directory]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise Skip(f"{' '.join(command[:3])} does not work here: {done.stdout.decode().strip()}")
    try:
        yield directory
    finally:
        subprocess.run(["umount", "-l", directory], check=False)
        if os.path.exists(image):
            os.unlink(image)


def fill(directory, leave_kib):
    """Ballast: what is left free is about `leave_kib`. Again: takes what has become free since."""
    path = os.path.join(directory, "ballast")
    space = os.statvfs(directory)
    left = space.f_bavail * space.f_frsize - (leave_kib << 10)
    try:
        with open(path, "ab") as f:
            while left > 0:
                f.write(b"\0" * min(left, 1 << 16))
                left -= 1 << 16
    except OSError:  # full already, or full a little earlier
        pass
    return path


def free(ballast):
    if os.path.exists(ballast):
        os.unlink(ballast)


def box(name, text, rows=4000):
    work = os.path.join(WORK_DIR, "disk", name)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    workload.write_files(os.path.join(work, "in"), 3, rows, bad_share=0)
    with open(os.path.join(work, "pipeline.sql"), "w", encoding="utf-8") as f:
        f.write(text)
    return Weir(work)


def health(weir):
    life = weir("status", "pipeline.sql", "--json")
    if life.code != 0:
        return {}
    import json  # noqa: PLC0415
    try:
        return json.loads(life.out)
    except ValueError:
        return {}


def wait_for(weir, what, condition, process, seconds=60, status=None):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not process.running():
            life = process.wait()
            raise Failure(f"ended with {life.code} while waiting for {what}", life.log())
        if condition():
            return
        time.sleep(0.05)
    raise Failure(f"waited {seconds} s for {what}; status {(status or (lambda: health(weir)))()}", process.err()[-4000:])


def expected(name, select, spec="out.jsonl"):
    """What an undisturbed run with room enough writes."""
    weir = box(name + ".undisturbed", SOURCE.format(follow="") + select)
    for directory in ("small", "other"):
        os.makedirs(os.path.join(weir.cwd, directory))
    weir("run", "pipeline.sql", "--progress", "never", *SETTINGS, want=0)
    return compare.output_bytes(weir.cwd, spec)


def require_whole_lines(data):
    if data and not data.endswith(b"\n"):
        raise Failure("a partial line is visible in a rolling file")


def output_disk_full(kind):
    """The output's disk fills up; the state has room. Paused and degraded, resumes when the disk is freed."""
    select = """CREATE TABLE out (id STRING, k STRING, v BIGINT, ts TIMESTAMP(3))
  WITH ('connector' = 'filesystem', 'path' = 'small/out.jsonl', 'format' = 'json');
INSERT INTO out SELECT id, k, v, ts FROM src;
"""
    want = expected(f"output-{kind}", select, "small/out.jsonl")
    weir = box(f"output-{kind}", SOURCE.format(follow=FOLLOW) + select)
    small = os.path.join(weir.cwd, "small")
    with small_disk(kind, small, 16):
        ballast = fill(small, 200)
        with weir.start("run", "pipeline.sql", "--progress", "never", *SETTINGS) as process:
            wait_for(weir, "a degraded health", lambda: health(weir).get("health") == "degraded", process)
            status = health(weir)
            if not any("space" in r or "disk" in r or "full" in r for r in status.get("reasons", [])):
                raise Failure(f"no reason names the disk: {status.get('reasons')}", process.err())
            size = os.path.getsize(os.path.join(small, "out.jsonl"))
            if size >= len(want):
                raise Failure("the disk was never full: the case shows nothing")
            time.sleep(1)
            free(ballast)
            wait_for(weir, "all rows", lambda: os.path.getsize(os.path.join(small, "out.jsonl")) == len(want), process)
            wait_for(weir, "health", lambda: health(weir).get("health") == "healthy", process)
            process.signal(signal.SIGTERM)
            life = process.wait()
            if life.code != 0:
                raise Failure(f"stopped with {life.code}", life.log())
        compare.require_equal(want, compare.output_bytes(weir.cwd, "small/out.jsonl"), "output", weir.log())
        require_balance(weir.status("pipeline.sql"), weir.log(), settled=False)


def killed_on_full_disk(kind):
    """Full, then kill -9, then freed and run again."""
    select = """CREATE TABLE out (id STRING, k STRING)
  WITH ('connector' = 'filesystem', 'path' = 'small/parts/', 'format' = 'json', 'sink.rolling-policy.file-size' = '20 kb');
INSERT INTO out SELECT id, k FROM src;
"""
    weir = box(f"killed-{kind}.undisturbed", SOURCE.format(follow="") + select)
    os.makedirs(os.path.join(weir.cwd, "small", "parts"))
    weir("run", "pipeline.sql", "--progress", "never", *SETTINGS, want=0)
    want = compare.rolling_bytes(os.path.join(weir.cwd, "small", "parts"))
    weir = box(f"killed-{kind}", SOURCE.format(follow="") + select)
    small = os.path.join(weir.cwd, "small")
    with small_disk(kind, small, 16):
        os.makedirs(os.path.join(small, "parts"))
        ballast = fill(small, 120)
        with weir.start("run", "pipeline.sql", "--progress", "never", *SETTINGS) as process:
            wait_for(weir, "a degraded health", lambda: health(weir).get("health") == "degraded", process)
            require_whole_lines(compare.rolling_bytes(os.path.join(small, "parts")))
            process.kill()
        require_whole_lines(compare.rolling_bytes(os.path.join(small, "parts")))
        free(ballast)
        weir("run", "pipeline.sql", "--progress", "never", *SETTINGS, want=0)
        compare.require_equal(want, compare.rolling_bytes(os.path.join(small, "parts")), "parts", weir.log())


def state_disk_full(kind):
    """The state directory's disk fills up: the seal waits, the source pauses, nothing is lost."""
    select = """CREATE TABLE out (id STRING, k STRING, v BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT id, k, v FROM src;
"""
    want = expected(f"state-{kind}", select)
    weir = box(f"state-{kind}", SOURCE.format(follow=FOLLOW) + select)
    small = os.path.join(weir.cwd, "small")
    args = ["--data-dir", "small/state", "--set", "weir.disk.min-free=1 b", *SETTINGS]
    with small_disk(kind, small, 48):
        def status():
            life = weir("status", "--data-dir", "small/state", "--json")
            import json  # noqa: PLC0415
            return json.loads(life.out) if life.code == 0 else {}

        slow = "scan.after_batch=wait:20@every"
        with weir.start("run", "pipeline.sql", "--progress", "never", *args, fault=slow) as process:
            wait_for(weir, "an epoch", lambda: status().get("sealed_epoch", 0) > 2, process)
            ballast = fill(small, 0)

            def degraded():
                fill(small, 0)  # the reserve too, or the seal goes on with it before anybody looks
                return status().get("health") == "degraded"

            wait_for(weir, "a degraded health", degraded, process)
            before = status().get("sealed_epoch")
            time.sleep(1)
            free(ballast)
            wait_for(weir, "all rows", lambda: os.path.getsize(os.path.join(weir.cwd, "out.jsonl")) == len(want), process,
                     status=status)
            wait_for(weir, "more epochs", lambda: status().get("sealed_epoch", 0) > before, process, status=status)
            process.signal(signal.SIGTERM)
            life = process.wait()
            if life.code != 0:
                raise Failure(f"stopped with {life.code}", life.log())
    compare.require_equal(want, compare.output_bytes(weir.cwd, "out.jsonl"), "output", weir.log())


def full_at_the_start(kind):
    """No room at all when it starts: exit 75, nothing half made that would refuse the next start."""
    select = """CREATE TABLE out (id STRING) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT id FROM src;
"""
    weir = box(f"start-{kind}", SOURCE.format(follow="") + select, rows=200)
    small = os.path.join(weir.cwd, "small")
    with small_disk(kind, small, 16):
        ballast = fill(small, 0)
        args = ["run", "pipeline.sql", "--progress", "never", "--data-dir", "small/state", "--set", "weir.disk.min-free=1 b"]
        weir(*args, timeout=100, want=75)
        free(ballast)
        weir(*args, want=0)
        if compare.output_bytes(weir.cwd, "out.jsonl").count(b"\n") != 600:
            raise Failure("rows are missing", weir.log())


def sqlite_target_full(kind):
    """The database's disk is full while 100 epochs are sealed; they wait in the spool, drain, and free it."""
    select = """CREATE TABLE t (id STRING, k STRING, v BIGINT, pad STRING)
  WITH ('connector' = 'sqlite', 'path' = 'small/out.db');
INSERT INTO t SELECT id, k, v, '0123456789012345678901234567890123456789' AS pad FROM src;
"""
    want = expected(f"sqlite-{kind}", select, "db:small/out.db:t")
    weir = box(f"sqlite-{kind}", SOURCE.format(follow=FOLLOW) + select)
    small = os.path.join(weir.cwd, "small")
    with small_disk(kind, small, 24):
        ballast = fill(small, 300)
        # Enough batches that a hundred epochs are cut, however long a seal takes.
        slow = "scan.after_batch=wait:15@every"
        args = ["--set", "weir.batch-rows=20", "--set", "execution.checkpointing.interval=1 ms"]

        def waiting_epochs():
            status = health(weir)
            acked = (status.get("targets") or [{}])[0].get("acked") or "0:0"
            return status.get("sealed_epoch", 0) - int(acked.split(":")[0])

        with weir.start("run", "pipeline.sql", "--progress", "never", *args, fault=slow) as process:
            wait_for(weir, "100 undelivered epochs", lambda: waiting_epochs() >= 100, process, 120)
            status = health(weir)
            if status.get("health") != "degraded" or not status.get("spool_bytes"):
                raise Failure(f"not degraded with a full target: {status}", process.err())
            waiting = sum(os.path.getsize(p) for p in glob.glob(os.path.join(weir.cwd, "pipeline.weir/spool/*/*")))
            free(ballast)

            def drained():
                # All rows: a drain may catch up with the reading, and have nothing left for a moment.
                status = health(weir)
                return status.get("health") == "healthy" and status["books"]["sink:t"].get("acked") == want.count(b"\n")

            wait_for(weir, "all rows to be delivered", drained, process, 120)
            process.signal(signal.SIGTERM)
            life = process.wait()
            if life.code != 0:
                raise Failure(f"stopped with {life.code}", life.log())
        left = sum(os.path.getsize(p) for p in glob.glob(os.path.join(weir.cwd, "pipeline.weir/spool/*/*")))
        if left >= waiting:
            raise Failure(f"the spool freed nothing: {waiting} -> {left} bytes", weir.log())
        compare.require_equal(want, compare.table_bytes(os.path.join(small, "out.db"), "t"), "table t", weir.log())


CHECKS = [output_disk_full, killed_on_full_disk, state_disk_full, full_at_the_start, sqlite_target_full]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="every check on both kinds of file system")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what is mounted is unmounted
    report = Report("disk", LOG_DIR)
    checks = []
    for i, check in enumerate(CHECKS):
        for kind in ("tmpfs", "ext4") if args.full else (("tmpfs", "ext4")[i % 2],):
            name = f"{check.__name__.replace('_', '-')}/{kind}"
            if not args.names or any(n in name for n in args.names):
                checks.append((name, check, kind))
    report.check_all(checks)
    report.finish()


if __name__ == "__main__":
    main()
