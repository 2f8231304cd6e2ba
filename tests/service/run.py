#!/usr/bin/env python3
"""Pipelines that run as a service: followed files, rotation, half lines, idleness, a watermark that is held.

  run.py [NAME...]
"""
import argparse
import gzip
import json
import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))

from weirtest import compare, oracle  # noqa: E402
from weirtest.books import require_balance  # noqa: E402
from weirtest.report import Failure, Report, Skip  # noqa: E402
from weirtest.weir import BUILD, CLEAN_ENV, LOG_DIR, WORK_DIR, Peak, Weir, binary_of  # noqa: E402

FOLLOW = """CREATE TABLE src (v INT)
  WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json', 'source.monitor-interval' = '20 ms');
CREATE TABLE out (v INT) WITH ('connector' = 'filesystem', 'path' = '{out}', 'format' = 'json'{sink});
INSERT INTO out SELECT v FROM src;
"""
RUN = ["run", "pipeline.sql", "--progress", "never", "--set", "execution.checkpointing.interval=5 ms"]


class Box(Weir):
    def __init__(self, name, text=None, path="in/app.log*", out="out.jsonl", sink=""):
        work = os.path.join(WORK_DIR, "service", name)
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(os.path.join(work, "in"))
        super().__init__(work)
        self.out_path = out
        with open(self.path("pipeline.sql"), "w", encoding="utf-8") as f:
            f.write(text or FOLLOW.format(path=path, out=out, sink=sink))

    def path(self, *parts):
        return os.path.join(self.cwd, *parts)

    def put(self, name, text, mode="wb"):
        with open(self.path("in", name), mode) as f:
            f.write(text.encode() if isinstance(text, str) else text)

    def append(self, name, text):
        self.put(name, text, "ab")

    def values(self):
        try:
            data = compare.output_bytes(self.cwd, self.out_path)
        except Failure:
            return []
        return [int(line.split(b":")[1].rstrip(b"}")) for line in data.splitlines() if line.endswith(b"}")]

    def values_text(self):
        try:
            return compare.output_bytes(self.cwd, self.out_path)
        except Failure:
            return b""

    def wait(self, want, process=None, seconds=20):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.values() == want:
                return
            if process is not None and not process.running():
                raise Failure(f"ended while waiting for {want}", process.wait().log())
            time.sleep(0.01)
        raise Failure(f"want ...{want[-20:]}, got ...{self.values()[-20:]}", process.err() if process else self.log())

    def still(self, want, seconds=0.5):
        """Nothing more comes, nothing is written again."""
        time.sleep(seconds)
        if self.values() != want:
            raise Failure(f"want {want} and no more, got {self.values()}", self.log())

    def go(self):
        """Started, and past its takeover: a signal is a stop from here on."""
        process = self.start(*RUN)
        socket = self.path("pipeline.weir", "status.sock")
        until = time.monotonic() + 20
        while process.running() and time.monotonic() < until:
            if os.path.exists(socket) and self("status", "pipeline.sql", "--json").out.find(b'"running_ms"') >= 0:
                break
            time.sleep(0.02)
        return process

    def stop(self, process, code=0):
        process.signal(signal.SIGTERM)
        life = process.wait()
        if life.code != code:
            raise Failure(f"stopped with {life.code}, want {code}", life.log())


def rows(*values):
    return "".join(f'{{"v":{v}}}\n' for v in values)


def half_line(box):
    """The unterminated tail is held back; it is neither lost nor delivered by a stop (field case 081)."""
    box.put("app.log", '{"v":1}\n{"v":2}\n{"v":3}')
    with box.go() as process:
        box.wait([1, 2], process)
        box.still([1, 2])
        box.stop(process)
    with box.go() as process:
        box.still([1, 2])
        box.append("app.log", "\n")
        box.wait([1, 2, 3], process)
        box.append("app.log", '{"v":4}')
        box.append("app.log", '{"v":5}\n')
        box.append("app.log", rows(6))
        box.wait([1, 2, 3, 6], process)
        box.stop(process)
    dead = box.status("pipeline.sql")["books"]["scan:src"].get("dead")
    if dead != 1:
        raise Failure(f"{dead} dead letters for a line that its writer broke, want 1", box.log())


def same_inode(box, name, text):
    """Deletes the file and puts another under its name that has its inode. Made elsewhere, so that a running weir never
    sees the files that got other inodes."""
    path = box.path("in", name)
    inode = os.stat(path).st_ino
    os.unlink(path)
    for i in range(3000):
        spare = box.path(f"spare-{i}")
        with open(spare, "w", encoding="utf-8") as f:
            f.write(text)
        if os.stat(spare).st_ino == inode:
            os.rename(spare, path)
            return
    raise Skip("this file system does not use an inode again soon")


def _reused(box, stopped, text, more):
    box.put("app.log", rows(*range(1, 9)))
    with box.go() as process:
        box.wait(list(range(1, 9)), process)
        if not stopped:
            same_inode(box, "app.log", text)
            box.wait([*range(1, 9), *more], process)
            box.still([*range(1, 9), *more])
        box.stop(process)
    if stopped:
        same_inode(box, "app.log", text)
        with box.go() as process:
            box.wait([*range(1, 9), *more], process)
            box.still([*range(1, 9), *more])
            box.stop(process)


def inode_reused_shorter(box):
    """A new file with the old inode, shorter than the old offset: read from its beginning (field case 084)."""
    _reused(box, False, rows(101, 102), [101, 102])


def inode_reused_shorter_stopped(box):
    _reused(box, True, rows(101, 102), [101, 102])


def inode_reused_longer(box):
    _reused(box, False, rows(*range(201, 221)), list(range(201, 221)))


def inode_reused_longer_stopped(box):
    _reused(box, True, rows(*range(201, 221)), list(range(201, 221)))


def _rotated(box, stopped):
    box.put("app.log", rows(1, 2, 3))
    with box.go() as process:
        box.wait([1, 2, 3], process)
        if stopped:
            box.stop(process)
        box.append("app.log", rows(4))
        os.rename(box.path("in", "app.log"), box.path("in", "app.log.1"))
        box.put("app.log", rows(5, 6))
        if stopped:
            process = box.go()
        try:
            box.wait([1, 2, 3, 4, 5, 6], process)
            box.append("app.log", rows(7))
            box.wait([1, 2, 3, 4, 5, 6, 7], process)
            os.rename(box.path("in", "app.log.1"), box.path("in", "app.log.2"))
            os.rename(box.path("in", "app.log"), box.path("in", "app.log.1"))
            box.put("app.log", rows(8))
            box.wait([1, 2, 3, 4, 5, 6, 7, 8], process)
            box.still([1, 2, 3, 4, 5, 6, 7, 8])
            box.stop(process)
        finally:
            process.kill()


def rotated(box):
    """mv app.log app.log.1 and a new app.log: the rest of the old one first, nothing twice though the glob matches both."""
    _rotated(box, False)


def rotated_stopped(box):
    _rotated(box, True)


def rotated_by_copy(box):
    """cp app.log app.log.1; truncate app.log: what was read is not read again from the copy."""
    box.put("app.log", rows(1, 2, 3))
    with box.go() as process:
        box.wait([1, 2, 3], process)
        box.stop(process)
    shutil.copyfile(box.path("in", "app.log"), box.path("in", "app.log.1"))
    box.put("app.log", "")
    with box.go() as process:
        box.still([1, 2, 3])
        box.append("app.log", rows(4))
        box.wait([1, 2, 3, 4], process)
        box.still([1, 2, 3, 4])
        box.stop(process)


def rotated_and_compressed(box):
    """A rotated file that is compressed keeps its content: positions and digests are of uncompressed bytes, so it is
    not read again (field case 085)."""
    box.put("app.log", rows(1, 2, 3))
    with box.go() as process:
        box.wait([1, 2, 3], process)
        with open(box.path("in", "app.log"), "rb") as f:
            data = f.read()
        box.put("app.log.1.gz", gzip.compress(data, mtime=0))
        os.unlink(box.path("in", "app.log"))
        box.put("app.log", rows(4))
        box.wait([1, 2, 3, 4], process)
        box.still([1, 2, 3, 4], 1)
        box.stop(process)


def new_and_vanished_files(box):
    """An empty directory at the start, files that come and go, one that cannot be read."""
    with box.go() as process:
        box.still([])
        box.put("app.log.a", rows(1))
        box.wait([1], process)
        box.put("app.log.b", rows(2))
        box.wait([1, 2], process)
        os.unlink(box.path("in", "app.log.a"))
        box.append("app.log.b", rows(3))
        box.wait([1, 2, 3], process)
        box.put("other.txt", rows(99))
        box.put(".app.log.hidden", rows(98))
        box.still([1, 2, 3])
        box.stop(process)


def idle_writes_nothing(box):
    """After the last epoch is sealed an idle pipeline writes 0 bytes, and seals nothing (field case 104)."""
    box.put("app.log", rows(*range(50)))
    with box.go() as process:
        box.wait(list(range(50)), process)
        time.sleep(1)

        def written():
            counts = _io(process)
            return counts["wchar"], counts["rchar"]

        def epochs():
            return box.status("pipeline.sql")["sealed_epoch"]

        sealed = epochs()
        before = written()
        time.sleep(3)
        after = written()
        if after[0] != before[0]:
            # eventfd wake-ups are eight bytes each; anything else is a file.
            raise Failure(f"{after[0] - before[0]} bytes written while idle", process.err())
        if epochs() != sealed:
            raise Failure(f"epochs sealed while idle: {sealed} -> {epochs()}", process.err())
        box.append("app.log", rows(50))
        box.wait(list(range(51)), process)
        box.stop(process)


def _add_files(box, first, count):
    pad = "x" * 16000
    for v in range(first, first + count):
        box.put(f"{v:06}.jsonl", f'{{"v":{v},"pad":"{pad}"}}\n')


def _wait_until(condition, what, process, seconds=200):
    until = time.monotonic() + seconds
    while not condition():
        if not process.running():
            raise Failure(f"ended while waiting for {what}", process.wait().log())
        if time.monotonic() > until:
            raise Failure(f"waited {seconds} s for {what}", process.err())
        time.sleep(0.05)


def _ask_state(box, query):
    connection = sqlite3.connect(f"file:{box.path('pipeline.weir', 'state.db')}?mode=ro", uri=True, timeout=60)
    try:
        return connection.execute(query).fetchone()[0] or 0
    finally:
        connection.close()


def _newest_epoch(box):
    return _ask_state(box, "SELECT max(id) FROM epoch")


def _io(process):
    with open(f"/proc/{process.pid}/io", encoding="utf-8") as f:
        return {name: int(count) for name, count in (line.split(": ") for line in f.read().splitlines())}


def _bytes_of_a_seal(box, count):
    """Reads so many files, starts again, reads some more: the least bytes written for one of these, the bytes read by the
    second life, and the bytes of all positions."""
    text = FOLLOW.format(path="in/", out="out.jsonl", sink="").replace("20 ms", "200 ms")
    with open(box.path("pipeline.sql"), "w", encoding="utf-8") as f:
        f.write(text)
    _add_files(box, 0, count)
    with box.go() as process:
        _wait_until(lambda: len(box.values()) == count, f"the rows of {count} files", process)
        box.stop(process)
    written = []
    with box.go() as process:
        for v in range(count, count + 5):
            if v > count:
                before = _io(process)["wchar"]
            epoch = _newest_epoch(box)
            _add_files(box, v, 1)
            _wait_until(lambda: len(box.values()) == v + 1 and _newest_epoch(box) > epoch, "one more file", process)
            time.sleep(0.5)  # what follows a seal
            if v > count:
                written.append(_io(process)["wchar"] - before)
        read = _io(process)["rchar"]
        box.stop(process)
    if sorted(box.values()) != list(range(count + 5)):
        raise Failure(f"{len(box.values())} rows of {count + 5} files, each once", box.log())
    return min(written), read, _ask_state(box, "SELECT sum(length(data)) FROM blob WHERE owner LIKE 'scan:%'")


def many_finished_files(box):
    """What is finished costs a seal nothing, and no start reads it again: 6,000 files against 10."""
    few, _, _ = _bytes_of_a_seal(Box("many-finished-files.few", path="in/"), 10)
    many, read, positions = _bytes_of_a_seal(box, 6000)
    if few < 1000:
        raise Failure(f"a seal of {few} bytes: the count shows nothing", box.log())
    # What earlier seals have left to merge is merged beside later ones, a little at a time.
    if many > few + positions / 8:
        raise Failure(f"a seal beside 6,000 finished files writes {many} bytes, beside 10 {few}; all positions have {positions}",
                      box.log())
    print(f"# a seal writes {few} bytes beside 10 finished files, {many} beside 6,000, whose positions have {positions}")
    if read > 6000 * 16000 / 2:  # state and its log are read, several times their size
        raise Failure(f"the second life has read {read} bytes: of 96 MB that were finished", box.log())


WINDOW = """CREATE TABLE src (v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
  WITH ('connector' = 'filesystem', 'path' = 'in/', 'format' = 'json', 'source.monitor-interval' = '20 ms'{idle});
CREATE TABLE out (v BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT SUM(v) AS v FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_start, window_end;
"""


def timed(v, seconds):
    return f'{{"v":{v},"ts":"{oracle.text(1709287200000 + int(seconds * 1000))}"}}\n'


def open_windows_stay_open(box):
    """SIGTERM on an unbounded input: open windows do not fire; they go on after the restart (field case 034)."""
    box.put("a", timed(1, 1) + timed(2, 2))
    with box.go() as process:
        box.still([])
        box.stop(process)
    with box.go() as process:
        box.append("a", timed(4, 3))
        box.still([])
        box.append("a", timed(8, 16))
        box.wait([7], process)
        box.stop(process)
    if box.values() != [7]:
        raise Failure(f"a stop fired an open window: {box.values()}", box.log())


def idle_file_lets_go(box):
    """A followed file at its end holds the watermark until the idle timeout has passed, then it does not."""
    box.put("a", timed(1, 1))
    box.put("b", timed(2, 2))
    with box.go() as process:
        time.sleep(0.2)
        box.append("b", timed(4, 30))
        box.wait([3], process, 10)  # `a` is idle after half a second
        box.stop(process)


def stateless_after_kill(box):
    """kill -9 of a followed pipeline, rows that come while it is away, twice."""
    box.put("app.log", rows(*range(100)))
    want = list(range(100))
    for i in range(3):
        with box.go() as process:
            box.wait(want, process)
            process.kill()
        box.append("app.log", rows(1000 + i))
        want.append(1000 + i)
    with box.go() as process:
        box.wait(want, process)
        box.stop(process)


def _stopped_in_takeover(box, point, code):
    """SIGTERM while a start is at a fault point: a stop, not a death (field report: systemctl stop of a long restore)."""
    box.append("app.log", rows(3))
    with box.start(*RUN, fault=f"{point}=delay:1500") as process:
        lock = box.path("pipeline.weir", "lock")

        def taken():
            try:
                return any(os.path.realpath(os.path.join(f"/proc/{process.pid}/fd", fd)) == lock
                           for fd in os.listdir(f"/proc/{process.pid}/fd"))
            except OSError:
                return False

        until = time.monotonic() + 20
        while not taken() and process.running() and time.monotonic() < until:
            time.sleep(0.005)
        process.signal(signal.SIGTERM)
        life = process.wait()
    if life.code != code:
        raise Failure(f"{point}: ended with {life.code}, want {code}", life.log())
    if "starting" not in life.err:
        raise Failure("it does not say that it was still starting", life.log())


def stopped_in_takeover(box):
    box.put("app.log", rows(1, 2))
    with box.go() as process:
        box.wait([1, 2], process)
        box.stop(process)
    for point in ("takeover.after_lock", "takeover.after_decide", "takeover.after_run_row"):
        _stopped_in_takeover(box, point, 0)
        if box.values() != [1, 2]:
            raise Failure(f"{point}: a start that was stopped wrote {box.values()}", box.log())
    with box.go() as process:
        box.wait([1, 2, 3, 3, 3], process)
        box.stop(process)


def stopped_in_takeover_bounded(box):
    """A bounded input has not ended: 75, as for a stop at any other time."""
    with open(box.path("pipeline.sql"), "w", encoding="utf-8") as f:
        f.write(FOLLOW.format(path="in/app.log*", out="out.jsonl", sink="").replace(", 'source.monitor-interval' = '20 ms'", ""))
    _stopped_in_takeover(box, "takeover.after_lock", 75)
    box(*RUN, want=0)
    if box.values() != [3]:
        raise Failure(f"got {box.values()}", box.log())


def stopped_twice_in_takeover(box):
    """The second signal does not wait for the step that the start is in."""
    box.put("app.log", rows(1))
    with box.start(*RUN, fault="takeover.after_lock=delay:60000") as process:
        while not os.path.exists(box.path("pipeline.weir", "lock")) and process.running():
            time.sleep(0.005)
        process.signal(signal.SIGTERM)
        time.sleep(0.1)
        process.signal(signal.SIGTERM)
        life = process.wait(30)
    if life.code != 75:
        raise Failure(f"ended with {life.code}, want 75", life.log())


def start_extends_its_timeout(box):
    """systemd hears of every start that makes progress, before READY; and of none after it."""
    box.put("app.log", rows(1, 2))
    address = f"\0weir-service-{os.getpid()}"
    heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    heard.bind(address)
    heard.settimeout(20)
    with heard, box.start(*RUN, env={"NOTIFY_SOCKET": address.replace("\0", "@")}) as process:
        said = []
        while not said or "READY=1" not in said[-1]:
            said.append(heard.recv(4096).decode())
        box.wait([1, 2], process)
        box.stop(process)
        heard.setblocking(False)
        after = []
        try:
            while True:
                after.append(heard.recv(4096).decode())
        except BlockingIOError:
            pass
    if not any("EXTEND_TIMEOUT_USEC=" in text and "STATUS=starting: " in text for text in said):
        raise Failure(f"no EXTEND_TIMEOUT_USEC with a STATUS before READY: {said}", process.err())
    if any("EXTEND_TIMEOUT_USEC=" in text for text in after):
        raise Failure(f"EXTEND_TIMEOUT_USEC after READY: {after}", process.err())


def output_on_another_filesystem(box):
    """Rolling output on a mount of its own: the file in progress is made beside its final name (field case 087)."""
    if os.getuid() != 0:
        raise Skip("not root: nothing can be mounted")
    target = box.path("mounted")
    os.makedirs(target)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "weir-test", target], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise Skip("mount does not work here: " + done.stdout.decode().strip())
    try:
        box.put("app.log", rows(*range(200)))
        with box.go() as process:
            box.wait(list(range(200)), process)
            box.stop(process)
        box.append("app.log", rows(200))
        with box.go() as process:
            box.wait(list(range(201)), process)
            box.stop(process)
    finally:
        subprocess.run(["umount", "-l", target], check=False)


HELD = """SET 'weir.memory.limit' = '{limit}';
CREATE TABLE src (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
  WITH ('connector' = 'filesystem', 'path' = 'in/', 'format' = 'json', 'source.monitor-interval' = '20 ms',
        'scan.watermark.alignment.max-drift' = '100 h');
CREATE TABLE out (k STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT k, COUNT(*) AS n FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' MINUTE)
  GROUP BY window_start, window_end, k;
"""


def _held(box, limit, windows, keys, pad):
    """One followed run: `a` stands at its end and holds the watermark, `b` fills one window after the other, all open
    at once; then both are released. The resident peak."""
    begin = 1709287200000
    with open(box.path("pipeline.sql"), "w", encoding="utf-8") as f:
        f.write(HELD.format(limit=limit))
    box.put("a", f'{{"k":"first","ts":"{oracle.text(begin)}"}}\n')
    with open(box.path("in", "b"), "w", encoding="utf-8") as f:
        for w in range(windows):
            for repeat in range(2):
                stamp = oracle.text(begin + w * 600000 + 1000 + repeat)
                f.writelines(f'{{"k":"{pad}{k}","ts":"{stamp}"}}\n' for k in range(keys))
    release = os.path.join(BUILD, "release", "weir")
    box.binary = release if os.path.exists(release) else binary_of("fault")
    with box.start("run", "pipeline.sql", "--progress", "never", "--set", "execution.checkpointing.interval=20 ms") as process:
        peak = Peak(process.pid)

        def status():
            life = box("status", "pipeline.sql", "--json")
            return json.loads(life.out) if life.code == 0 else {}

        def wait_for(what, condition):
            until = time.monotonic() + 120
            while not condition():
                if not process.running() or time.monotonic() > until:
                    raise Failure(f"{what}: {status()}", process.err())
                time.sleep(0.05)

        rows = windows * keys * 2 + 1
        wait_for("rows read", lambda: status().get("books", {}).get("scan:src", {}).get("read") == rows)
        if box.values_text():
            raise Failure("a window fired although the watermark was held", process.err())
        for name in "ab":
            box.append(name, f'{{"k":"last","ts":"{oracle.text(begin + (windows + 5) * 600000)}"}}\n')
        want = '{"k":"first","n":1}\n' + "".join(f'{{"k":"{pad}{k}","n":2}}\n' for k in range(keys)) * windows
        wait_for("all windows", lambda: len(box.values_text()) >= len(want))
        compare.require_equal(want.encode(), box.values_text(), f"limit {limit}", process.err())
        require_balance(status(), process.err(), settled=False)
        box.stop(process)
        return peak.stop()


def held_watermark(box):
    """Open windows of more than five times the memory limit: the source goes on, memory stays bounded, all close right."""
    windows, keys, pad, limit = 60, 9000, "x" * 80, 8 << 20
    free = _held(Box("held-watermark-free", HELD.format(limit="1 gib")), "1 gib", windows, keys, pad)
    bound = _held(box, "8 mib", windows, keys, pad)
    print(f"# held-watermark: resident peak {free >> 20} MiB with 1 GiB, {bound >> 20} MiB with a limit of 8 MiB")
    if free < 5 * limit:
        raise Failure(f"the open windows are {free} bytes at most: they held too little to show anything")
    if bound > 5 * limit:
        raise Failure(f"{bound} bytes resident with a limit of {limit}, {free} without: memory is not bounded")


CHECKS = [half_line, inode_reused_shorter, inode_reused_shorter_stopped, inode_reused_longer, inode_reused_longer_stopped,
          rotated, rotated_stopped, rotated_by_copy, rotated_and_compressed, new_and_vanished_files, idle_writes_nothing,
          open_windows_stay_open, idle_file_lets_go, stateless_after_kill, stopped_in_takeover, stopped_in_takeover_bounded,
          stopped_twice_in_takeover, start_extends_its_timeout, output_on_another_filesystem, held_watermark,
          many_finished_files]


def box_of(check):
    name = check.__name__.replace("_", "-")
    if check in (open_windows_stay_open, idle_file_lets_go):
        idle = ", 'scan.watermark.idle-timeout' = '500 ms'" if check is idle_file_lets_go else ""
        return Box(name, WINDOW.format(idle=idle))
    if check is held_watermark:
        return Box(name, HELD.format(limit="8 mib"))
    if check is output_on_another_filesystem:
        return Box(name, out="mounted/", sink=", 'sink.rolling-policy.file-size' = '200 b', 'sink.rolling-policy.rollover-interval' = '200 ms'")
    return Box(name)


def run_check(check):
    check(box_of(check))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what is mounted is unmounted
    report = Report("service", LOG_DIR)
    report.check_all([(c.__name__.replace("_", "-"), run_check, c) for c in CHECKS
                      if not args.names or any(c.__name__.replace("_", "-").startswith(n) for n in args.names)])
    report.finish()


if __name__ == "__main__":
    main()
