#!/usr/bin/env python3
"""Whole-process benchmarks: events per CPU-second, memory, bytes written, times to a first row.

  bench.py [--rows N] [--runs N] [--only WORD] [--weir FILE]

Each figure is min / median / max of at least five runs, and counts only when the output was right. The bare simdjson
program runs in between, on the same bytes. docs/performance.md is written from what this prints.
"""
import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))

from weirtest.weir import BUILD, CLEAN_ENV, ROOT, Peak  # noqa: E402

DATA = os.path.join(BUILD, "bench-data")
WORK = os.path.join(BUILD, "bench-work")
CLICKS = """CREATE TABLE clicks (
  event_id STRING,
  `user`   STRING,
  page     STRING,
  amount   DECIMAL(12, 2),
  ts       TIMESTAMP(3),
  t        BIGINT,
  agent    STRING,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json'{follow});
"""
FILTER = CLICKS + """CREATE TABLE nowhere (event_id STRING, page STRING, amount DECIMAL(12, 2)) WITH ('connector' = 'blackhole');
INSERT INTO nowhere SELECT event_id, page, amount FROM clicks WHERE amount > 50;
"""
TUMBLE = CLICKS + """CREATE TABLE counts (window_start TIMESTAMP(3), window_end TIMESTAMP(3), page STRING, n BIGINT, total DECIMAL(38, 2))
  WITH ('connector' = 'filesystem', 'path' = 'counts.jsonl', 'format' = 'json');
INSERT INTO counts
  SELECT window_start, window_end, page, COUNT(*) AS n, SUM(amount) AS total
  FROM TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '{size}' SECOND)
  GROUP BY window_start, window_end, page;
"""
COUNT_ONLY = CLICKS + """CREATE TABLE counts (page STRING, n BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO counts SELECT page, COUNT(*) AS n FROM TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' DAY)
  GROUP BY window_start, window_end, page;
"""
FOLLOWED = """CREATE TABLE src (v BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'in/', 'format' = 'json', 'source.monitor-interval' = '{interval}');
CREATE TABLE out (v BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT v FROM src;
"""
NO_EPOCHS = ["--set", "execution.checkpointing.interval=1 h"]


class Wrong(Exception):
    """The output was not right: there is no figure."""


class Bench:
    def __init__(self, args):
        self.args = args
        self.weir = os.path.realpath(args.weir or os.path.join(BUILD, "release", "weir"))
        self.programs = os.path.join(BUILD, "release", "bench")
        self.rows = []
        os.makedirs(DATA, exist_ok=True)

    # --- running

    def directory(self, name, sql):
        work = os.path.join(WORK, name)
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        with open(os.path.join(work, "pipeline.sql"), "w", encoding="utf-8") as f:
            f.write(sql)
        return work

    def run(self, work, *args, command=None, out=subprocess.PIPE):
        """One process to its end: (CPU-seconds, resident peak in bytes, wall seconds, stdout). Helpers included."""
        command = command or [self.weir, "run", "pipeline.sql", "--progress", "never", "--json", *args]
        begun = time.monotonic()
        process = subprocess.Popen(command, cwd=work, env=CLEAN_ENV, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.PIPE)
        peak = Peak(process.pid)
        text = process.stdout.read() if out == subprocess.PIPE else b""
        error = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise Wrong(f"{' '.join(command[:3])}: exit {process.returncode}: {error[-500:].decode()}")
        return usage.ru_utime + usage.ru_stime, peak.stop(), time.monotonic() - begun, text

    def start(self, work, *args):
        return subprocess.Popen([self.weir, "run", "pipeline.sql", "--progress", "never", *args], cwd=work, env=CLEAN_ENV,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def stop(self, process, number=signal.SIGTERM):
        process.send_signal(number)
        code = process.wait(60)
        process.stdout.close()
        return code

    def input(self, keys, rows=None):
        rows = rows or self.args.rows
        path = os.path.join(DATA, f"{rows}-{keys}.jsonl")
        if not os.path.exists(path):
            with open(path + ".new", "wb") as f:
                subprocess.run([os.path.join(self.programs, "gen_rows"), str(rows), str(keys)], stdout=f, check=True)
            os.rename(path + ".new", path)
        with open(path, "rb") as f:  # into the page cache: what is measured is not the disk
            while f.read(1 << 24):
                pass
        return path

    # --- reporting

    def figure(self, what, values, unit, digits=2, note=""):
        low, middle, high = min(values), statistics.median(values), max(values)
        self.rows.append((what, f"{low:.{digits}f}", f"{middle:.{digits}f}", f"{high:.{digits}f}", unit, note))
        print(f"# {what}: {low:.{digits}f} / {middle:.{digits}f} / {high:.{digits}f} {unit} {note}", file=sys.stderr, flush=True)
        return middle

    def failed(self, what, why):
        self.rows.append((what, "-", "-", "-", "", f"**no figure**: {why}"))
        print(f"# {what}: no figure: {why}", file=sys.stderr, flush=True)

    # --- measurements

    def filter_and_project(self):
        path = self.input(1000)
        want = self.count_above_50(path)
        speeds, peaks = [], []
        for _ in range(self.args.runs):
            work = self.directory("filter", FILTER.format(path=path, follow=""))
            cpu, peak, _, text = self.run(work, *NO_EPOCHS)
            summary = json.loads(text.splitlines()[-1])
            got = summary.get("rows_emitted", summary.get("emitted"))
            if got != want:
                raise Wrong(f"emitted {got} rows, want {want}: {summary}")
            speeds.append(self.args.rows / cpu / 1e6)
            peaks.append(peak / 2**20)
        self.figure("file, filter and project", speeds, "M rows per CPU-second", note="goal 6")
        self.figure("resident peak of it", peaks, "MiB", 0, "goal 64")

    def count_above_50(self, path):
        """How many rows pass, by another program: a regular expression over the bytes. Kept beside the input."""
        kept = path + ".above-50"
        if not os.path.exists(kept):
            pattern, count = re.compile(rb'"amount":(\d+)(?:\.(\d+))?'), 0
            with open(path, "rb") as f:
                for line in f:
                    match = pattern.search(line)
                    count += int(match[1]) * 100 + int((match[2] or b"0").ljust(2, b"0")) > 5000
            with open(kept, "w", encoding="utf-8") as f:
                f.write(str(count))
        with open(kept, encoding="utf-8") as f:
            return int(f.read())

    def bare(self, path):
        work = self.directory("bare", "")
        target = os.path.join(work, "out.jsonl")
        with open(target, "wb") as f:
            cpu, _, _, _ = self.run(work, command=[os.path.join(self.programs, "bare_simdjson"), path], out=f)
        return cpu, digest(target)

    def tumbling(self, keys, goal, ratio_goal):
        path = self.input(keys)
        name = f"10 s tumbling COUNT and SUM(DECIMAL), {keys // 1000} k keys"
        speeds, bare_speeds, peaks, ratios = [], [], [], []
        for _ in range(self.args.runs):
            bare_cpu, want = self.bare(path)
            work = self.directory("tumble", TUMBLE.format(path=path, follow="", size=10))
            cpu, peak, _, _ = self.run(work, *NO_EPOCHS)
            if digest(os.path.join(work, "counts.jsonl")) != want:
                raise Wrong("the output differs from the bare program's")
            speeds.append(self.args.rows / cpu / 1e6)
            bare_speeds.append(self.args.rows / bare_cpu / 1e6)
            ratios.append(bare_cpu / cpu)
            peaks.append(peak / 2**20)
        self.figure(name, speeds, "M rows per CPU-second", note=f"goal {goal}")
        self.figure("bare simdjson and a hash map, same bytes", bare_speeds, "M rows per CPU-second")
        self.figure("ratio to it", ratios, "", note=f"goal {ratio_goal}")
        self.figure(f"resident peak, {keys // 1000} k keys", peaks, "MiB", 0, "goal 64")

    def epochs(self):
        """CPU-seconds of one epoch: what a second with one epoch costs more than one without."""
        path = self.input(1000)
        costs, written = [], []
        for _ in range(self.args.runs):
            work = self.directory("epochs", TUMBLE.format(path=path, follow="", size=10))
            without, _, _, _ = self.run(work, *NO_EPOCHS)
            want = digest(os.path.join(work, "counts.jsonl"))
            work = self.directory("epochs", TUMBLE.format(path=path, follow="", size=10))
            # The run takes about a second: more epochs, so that there is something to measure, then by their number.
            cpu, _, _, text = self.run(work, "--set", "execution.checkpointing.interval=50 ms")
            if digest(os.path.join(work, "counts.jsonl")) != want:
                raise Wrong("the output depends on the epochs")
            number = json.loads(text.splitlines()[-1])["epochs"]
            if number < 5:
                raise Wrong(f"only {number} epochs: give it more rows")
            costs.append((cpu - without) / number * 100)
            written.append(written_bytes(work) / os.path.getsize(path))
        self.figure("cost of one epoch a second", costs, "% of a CPU-second", 2, "goal 5")
        self.figure("bytes left behind per input byte, 1 k keys, 50 ms epochs", written, "", 4)

    def restart(self):
        """kill -9 with 100 k keys in the state, until the output has grown beyond what it was."""
        path = self.input(100000)
        times = []
        want = None
        for _ in range(self.args.runs):
            work = self.directory("restart", TUMBLE.format(path=path, follow="", size=10))
            output = os.path.join(work, "counts.jsonl")
            args = ["--set", "execution.checkpointing.interval=100 ms"]
            process = self.start(work, *args)
            while size(output) < 30_000_000 and process.poll() is None:
                time.sleep(0.005)
            if process.poll() is not None:
                raise Wrong("it ended before it could be killed: give it more rows")
            before = size(output)
            begun = time.monotonic()
            self.stop(process, signal.SIGKILL)
            process = self.start(work, *args)
            while size(output) <= before and process.poll() is None:
                time.sleep(0.0005)
            times.append((time.monotonic() - begun) * 1000)
            if process.wait(300) != 0:
                raise Wrong("the rerun failed")
            process.stdout.close()
            want = want or self.bare(path)[1]
            if digest(output) != want:
                raise Wrong("the output after the kill is not the undisturbed one")
        self.figure("kill -9 to first new output, 100 k keys", times, "ms", 0, "goal 500")

    def first_row(self):
        work = self.directory("first", "CREATE TABLE src (v INT)\n  WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', "
                                       "'format' = 'json');\nSELECT v FROM src;\n")
        with open(os.path.join(work, "in.jsonl"), "w", encoding="utf-8") as f:
            f.write('{"v":1}\n')
        times = []
        for _ in range(max(20, self.args.runs)):
            shutil.rmtree(os.path.join(work, "pipeline.weir"), ignore_errors=True)
            begun = time.monotonic()
            process = self.start(work)
            first = process.stdout.read(1)
            times.append((time.monotonic() - begun) * 1000)
            process.stdout.read()
            if process.wait(60) != 0 or first != b"{":
                raise Wrong("no row")
            process.stdout.close()
        self.figure("start to first row", times, "ms", 1, "goal 20")

    def binary(self):
        self.figure("binary, static-pie, stripped", [os.path.getsize(self.weir) / 2**20], "MiB", 1, "goal 15")

    def state_bytes(self):
        """Resident bytes a (window, key) with one BIGINT count: the difference between a million keys and one."""
        few = self.input(1, 2_000_000)
        many = self.input(1_000_000, 2_000_000)
        limit = ["--set", "weir.memory.limit=1 gib", *NO_EPOCHS]
        page = re.compile(rb'"page":"([^"]*)"')
        with open(many, "rb") as f:
            distinct = len({page.search(line)[1] for line in f})
        per_key = []
        for _ in range(self.args.runs):
            peaks = []
            for path in (few, many):
                work = self.directory("state", COUNT_ONLY.format(path=path, follow=""))
                _, peak, _, text = self.run(work, *limit)
                peaks.append(peak)
            keys = json.loads(text.splitlines()[-1])["emitted"]
            if keys != distinct:
                raise Wrong(f"{keys} groups, want {distinct}")
            per_key.append((peaks[1] - peaks[0]) / keys)
        self.figure("resident bytes a (window, key), one BIGINT count, keys of 9 bytes", per_key, "bytes", 0, "goal 64 + key")

    def followed(self, interval="20 ms"):
        work = self.directory("followed", FOLLOWED.format(interval=interval))
        os.makedirs(os.path.join(work, "in"))
        return work

    def seal_bytes(self):
        """Bytes that the process writes for an epoch of one row."""
        fixed = []
        for _ in range(self.args.runs):
            work = self.followed("5 ms")
            output = os.path.join(work, "out.jsonl")
            process = self.start(work, "--set", "execution.checkpointing.interval=1 ms")
            with open(os.path.join(work, "in", "a.jsonl"), "w", encoding="utf-8") as f:
                def row(v):
                    f.write(f'{{"v":{v}}}\n')
                    f.flush()
                    wait_for_lines(output, v + 1)
                for v in range(20):
                    row(v)
                begun = io_of(process.pid)["wchar"]
                for v in range(20, 120):
                    row(v)
                fixed.append((io_of(process.pid)["wchar"] - begun) / 100 / 1024)
            if self.stop(process) != 0:
                raise Wrong("did not stop well")
        self.figure("written by a seal of one row", fixed, "KiB", 1, "goal 16")

    def idle(self):
        """An idle pipeline that follows a directory: CPU and bytes over some seconds."""
        cpu, read, wrote, switches = [], [], [], []
        seconds = 10
        for _ in range(min(self.args.runs, 5)):
            work = self.followed("1 s")
            for i in range(1000):
                with open(os.path.join(work, "in", f"{i}.jsonl"), "w", encoding="utf-8") as f:
                    f.write(f'{{"v":{i}}}\n')
            process = self.start(work)
            wait_for_lines(os.path.join(work, "out.jsonl"), 1000)
            time.sleep(3)
            before, ticks = io_of(process.pid), ticks_of(process.pid)
            switched = switches_of(process.pid)
            time.sleep(seconds)
            after = io_of(process.pid)
            cpu.append((ticks_of(process.pid) - ticks) / os.sysconf("SC_CLK_TCK") / seconds * 100)
            read.append((after["rchar"] - before["rchar"]) / seconds)
            wrote.append(after["wchar"] - before["wchar"])
            switches.append((switches_of(process.pid) - switched) / seconds)
            if self.stop(process) != 0:
                raise Wrong("did not stop well")
        self.figure("idle, 1,000 followed files: CPU", cpu, "% of a core", 2, "goal 1")
        self.figure("idle: bytes read", read, "bytes/s", 0, "goal 1000")
        self.figure(f"idle: bytes written in {seconds} s", wrote, "bytes", 0, "goal 0")
        self.figure("idle: context switches", switches, "/s", 1, "goal 100")

    def finished_files(self):
        """100,000 finished files in a followed directory: restart until the first new row, and the seal."""
        files = self.args.files
        work = self.followed("500 ms")
        for i in range(files):
            with open(os.path.join(work, "in", f"{i:06d}.jsonl"), "w", encoding="utf-8") as f:
                f.write(f'{{"v":{i}}}\n')
        output = os.path.join(work, "out.jsonl")
        # An append file is written at its epoch: with the default of 1 s that would be what is measured.
        often = ["--set", "execution.checkpointing.interval=20 ms"]
        process = self.start(work, *often)
        wait_for_lines(output, files, 600)
        time.sleep(2)
        if self.stop(process) != 0:
            raise Wrong("did not stop well")
        times, seals, read = [], [], []
        for run in range(self.args.runs):
            with open(os.path.join(work, "in", f"new-{run}.jsonl"), "w", encoding="utf-8") as f:
                f.write(f'{{"v":{files + run}}}\n')
            begun = time.monotonic()
            process = self.start(work, *often)
            wait_for_lines(output, files + run + 1, 120)
            times.append((time.monotonic() - begun) * 1000)
            read.append(io_of(process.pid)["rchar"] / files)
            time.sleep(1.5)
            before = io_of(process.pid)["wchar"]
            with open(os.path.join(work, "in", f"new-{run}.jsonl"), "a", encoding="utf-8") as f:
                f.write('{"v":-1}\n')
            wait_for_lines(output, files + run + 2, 30)
            time.sleep(1.5)
            seals.append((io_of(process.pid)["wchar"] - before) / 1024)
            if self.stop(process) != 0:
                raise Wrong("did not stop well")
            with open(output, "rb") as f:
                lines = f.read().splitlines()
            files += 1  # the second row of this run's file
            if len(lines) != files + run + 1:
                raise Wrong(f"{len(lines)} rows, want {files + run + 1}: a finished file was read again")
        self.figure(f"restart beside {self.args.files} finished files, to the first new row", times, "ms", 0, "goal 500")
        self.figure("a seal there", seals, "KiB", 1, "goal 16")
        self.figure("bytes read at the restart, for each finished file", read, "bytes", 0)

    def all(self):
        return [
            ("filter", self.filter_and_project, ()),
            ("tumble-1k", self.tumbling, (1000, "6", "1.0")),
            ("tumble-100k", self.tumbling, (100000, "4.5", "1.3")),
            ("epochs", self.epochs, ()),
            ("restart", self.restart, ()),
            ("first-row", self.first_row, ()),
            ("binary", self.binary, ()),
            ("state-bytes", self.state_bytes, ()),
            ("seal-bytes", self.seal_bytes, ()),
            ("idle", self.idle, ()),
            ("finished-files", self.finished_files, ()),
        ]

    def markdown(self):
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, check=False)
        lines = [f"{self.args.rows} rows of 185 bytes, {self.args.runs} runs, commit {commit.stdout.decode().strip()}, "
                 f"{os.cpu_count()} x {cpu_name()}, Linux {platform.release()}", "",
                 "| what | min | median | max | unit | |", "|---|---|---|---|---|---|"]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join(lines) + "\n"


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        match = re.search(r"model name\s*:\s*(.*)", f.read())
    return match.group(1) if match else platform.machine()


def digest(path):
    found = hashlib.sha256()
    with open(path, "rb") as f:
        while chunk := f.read(1 << 20):
            found.update(chunk)
    return found.hexdigest()


def size(path):
    try:
        return os.path.getsize(path)
    except FileNotFoundError:
        return 0


def wait_for_lines(path, lines, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            with open(path, "rb") as f:
                if f.read().count(b"\n") >= lines:
                    return
        except FileNotFoundError:
            pass
        time.sleep(0.001)
    raise Wrong(f"waited {seconds} s for {lines} lines in {os.path.basename(path)}")


def io_of(pid):
    with open(f"/proc/{pid}/io", encoding="utf-8") as f:
        return {key: int(value) for key, value in (line.split(": ") for line in f)}


def ticks_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def switches_of(pid):
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status", encoding="utf-8") as f:
            total += sum(int(v) for v in re.findall(r"ctxt_switches:\s*(\d+)", f.read()))
    return total


def written_bytes(work):
    """What a run has left behind: its state directory and its outputs."""
    total = 0
    for root, _, names in os.walk(work):
        total += sum(size(os.path.join(root, n)) for n in names if n != "reserve" and not n.endswith(".sql"))
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--weir")
    args = parser.parse_args()
    bench = Bench(args)
    bad = 0
    for name, measure, arguments in bench.all():
        if args.only and args.only not in name:
            continue
        try:
            measure(*arguments)
        except Wrong as why:
            bench.failed(name, str(why))
            bad = 1
    text = bench.markdown()
    print(text)
    with open(os.path.join(BUILD, "bench.md"), "w", encoding="utf-8") as f:
        f.write(text)
    sys.exit(bad)


if __name__ == "__main__":
    main()
