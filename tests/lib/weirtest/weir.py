"""One life of the weir binary, and what it left behind."""
import json
import os
import re
import signal
import subprocess
import threading
from dataclasses import dataclass, field

from .report import Failure

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
BUILD = os.environ.get("WEIR_TEST_BUILD", os.path.join(ROOT, "build"))
LOG_DIR = os.path.join(BUILD, "test-logs")
WORK_DIR = os.path.join(BUILD, "test-work")

# What the environment of every run is made of: nothing is taken over but the way to programs.
CLEAN_ENV = {
    "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
    "HOME": "/nonexistent",
    "ASAN_OPTIONS": "abort_on_error=0:exitcode=99:detect_leaks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:exitcode=99:halt_on_error=1",
    "TSAN_OPTIONS": "exitcode=99:halt_on_error=1",
}
# A slow disk on demand: each seal of each life takes so many milliseconds more. No expectation of a suite may hang on
# how many epochs a disk seals in a second.
SLOW_SEALS = os.environ.get("WEIR_TEST_SEAL_MS", "")
SLOW_POINT = "seal.before_stage_sync"
SANITIZER = re.compile(r"(ERROR: \w+Sanitizer|runtime error:|WARNING: ThreadSanitizer)")
KILLED = -signal.SIGKILL


@dataclass
class Life:
    """How one process ended."""
    command: str
    code: int
    out: bytes
    err: str
    witness: list = field(default_factory=list)  # what fault points wrote in this life

    def log(self):
        return (f"$ {self.command}\nexit {self.code}\n--- stdout\n"
                f"{self.out[-4000:].decode('utf-8', 'backslashreplace')}\n--- stderr\n{self.err[-8000:]}\n"
                + "".join(f"witness: {line}\n" for line in self.witness))


class Started:
    """A process that runs beside the test. It is ended by its own id, whatever happens."""

    def __init__(self, process, command):
        self.process, self.command = process, command
        self.pid = process.pid
        self.parts = [[], []]
        self.threads = [threading.Thread(target=self._drain, args=(i, stream), daemon=True)
                        for i, stream in enumerate((process.stdout, process.stderr))]
        for thread in self.threads:
            thread.start()

    def _drain(self, i, stream):
        for line in stream:
            self.parts[i].append(line)

    def err(self):
        return b"".join(self.parts[1]).decode("utf-8", "backslashreplace")

    def out(self):
        return b"".join(self.parts[0])

    def running(self):
        return self.process.poll() is None

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, timeout=60):
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failure(f"still running after {timeout} s: {self.command}", self.err()) from None
        for thread in self.threads:
            thread.join(5)
        return Life(self.command, code, self.out(), self.err())

    def kill(self):
        if self.running():
            self.process.kill()
        code = self.process.wait()
        for thread in self.threads:
            thread.join(5)
        return Life(self.command, code, self.out(), self.err())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


class Weir:
    """The binary of one preset, run in one directory."""

    def __init__(self, cwd, binary=None, env=None, wrap=()):
        self.cwd = cwd
        self.binary = binary or binary_of("fault")
        self.env = dict(env or {})
        self.wrap = list(wrap)
        self.lives = []

    def _environment(self, env, fault, kill_at_write):
        merged = dict(CLEAN_ENV, **self.env, **(env or {}))
        self.witness_path = os.path.join(self.cwd, ".witness")
        if fault:
            merged["WEIR_FAULT"] = fault
        if SLOW_SEALS and SLOW_POINT not in (fault or "") and self.binary == binary_of("fault"):
            merged["WEIR_FAULT"] = ",".join(filter(None, [fault, f"{SLOW_POINT}=delay:{SLOW_SEALS}@every"]))
        if kill_at_write:
            merged["WEIR_KILL_AT_WRITE"] = str(kill_at_write)
        if fault or kill_at_write:
            merged["WEIR_FAULT_WITNESS"] = self.witness_path
        return merged

    def start(self, *args, env=None, fault=None):
        merged = self._environment(env, fault, None)
        command = [*self.wrap, self.binary, *args]
        process = subprocess.Popen(command, cwd=self.cwd, env=merged, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return Started(process, " ".join(command))

    def __call__(self, *args, env=None, fault=None, kill_at_write=None, timeout=120, want=None):
        """Runs to the end. `want`: the exit code(s) that are right; anything else is a Failure."""
        merged = self._environment(env, fault, kill_at_write)
        before = _lines(self.witness_path)
        command = [*self.wrap, self.binary, *args]
        text = " ".join(([f"WEIR_FAULT={fault}"] if fault else [])
                        + ([f"WEIR_KILL_AT_WRITE={kill_at_write}"] if kill_at_write else []) + command)
        process = subprocess.Popen(command, cwd=self.cwd, env=merged, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = process.communicate(timeout=timeout)
            code = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            life = Life(text, process.returncode, out, err.decode("utf-8", "backslashreplace"))
            self.lives.append(life)
            raise Failure(f"no end after {timeout} s: {text}", self.log()) from None
        life = Life(text, code, out, err.decode("utf-8", "backslashreplace"),
                    _lines(self.witness_path)[len(before):])
        self.lives.append(life)
        if SANITIZER.search(life.err):
            raise Failure(f"a sanitizer spoke up: {SANITIZER.search(life.err).group(0)}", self.log())
        if life.code == -signal.SIGABRT:
            raise Failure("a CHECK failed", self.log())
        if want is not None:
            wanted = (want,) if isinstance(want, int) else tuple(want)
            if life.code not in wanted:
                raise Failure(f"exit {life.code}, want {' or '.join(map(str, wanted))}: "
                              + last_line(life.err), self.log())
        return life

    def status(self, *args):
        life = self("status", *args, "--json", want=0)
        try:
            status = json.loads(life.out)
        except ValueError as error:
            raise Failure(f"weir status --json printed no JSON: {error}", self.log()) from None
        return status

    def finished(self, pipeline):
        """Whether the last run has ended by itself, or was killed behind its finish marker: then all of it is out, and a
        rerun would be the next run of the job, which publishes again. Who kills at a time or a write asks this first."""
        life = self("status", pipeline, "--json")
        self.lives.remove(life)  # it is no run: nothing of it is judged
        return life.code == 0 and json.loads(life.out).get("last_run", {}).get("ended") == "finished"

    def log(self):
        return "\n".join(life.log() for life in self.lives[-6:])


class Peak:
    """The resident peak of a process, from VmHWM while it runs. Not ru_maxrss: that counts what the process was before
    exec, which is the Python that started it."""

    def __init__(self, pid):
        self.bytes, self.path = 0, f"/proc/{pid}/status"
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()

    def _watch(self):
        while not self.ended.wait(0.003):
            try:
                with open(self.path, encoding="utf-8") as f:
                    match = re.search(r"VmHWM:\s*(\d+) kB", f.read())
            except OSError:
                return
            if match:  # a zombie has none
                self.bytes = max(self.bytes, int(match.group(1)) * 1024)

    def stop(self):
        self.ended.set()
        self.thread.join()
        return self.bytes


def binary_of(preset):
    path = os.path.join(BUILD, preset, "weir")
    if not os.access(path, os.X_OK):
        raise Failure(f"no binary at {os.path.relpath(path, ROOT)}; packaging/build.sh {preset}")
    return path


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "(nothing on stderr)"


def _lines(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read().splitlines()
    except FileNotFoundError:
        return []


def run_until_done(weir, args, fault_of_life, lives_max=200, timeout=120):
    """Starts weir again and again until a life ends by itself with 0. `fault_of_life(n)` gives the keyword
    arguments of life n (from 1), e.g. {"fault": "..."}; lives that it asks to die must die by SIGKILL with a
    witness or end with 0. Returns the number of kills."""
    kills = 0
    for n in range(1, lives_max + 1):
        asked = fault_of_life(n)
        life = weir(*args, timeout=timeout, **asked)
        if life.code == 0:
            return kills
        if life.code != KILLED or not life.witness:
            raise Failure(f"life {n} ended with {life.code}, without a fault of ours: "
                          + last_line(life.err), weir.log())
        kills += 1
    raise Failure(f"no end after {lives_max} lives", weir.log())
