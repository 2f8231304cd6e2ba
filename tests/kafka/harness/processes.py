"""Processes of the harness: started in the main thread, ended by their own id, and never outliving the test."""
import os
import shutil
import signal
import socket
import random
import subprocess
import threading
import time

from weirtest.report import Failure

# Below the range from which the kernel gives ports to outgoing connections, or one of those could sit on a broker's.
PORTS = (20000, 32000)
ENVIRONMENT = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}


def free_ports(count):
    ports = []
    for _ in range(2000):
        port = random.SystemRandom().randrange(*PORTS)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in ports:
            ports.append(port)
        if len(ports) == count:
            return ports
    raise Failure(f"no {count} free ports between {PORTS[0]} and {PORTS[1]}")


def java():
    path = shutil.which("java")
    if not path:
        raise Failure("no java; tests/kafka/jars.sh installs one")
    return path


def spawn(command, log, **kwargs):
    """A child that dies when the test does. `log`: a path that its stderr (and stdout, unless given) is added to."""
    # The kernel's signal comes when the *thread* that started the child ends.
    tied = ["setpriv", "--pdeathsig", "KILL"] if threading.current_thread() is threading.main_thread() else []
    with open(log, "ab") as out:
        kwargs.setdefault("stdout", out)
        kwargs.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen([*tied, *command], stderr=out, env=ENVIRONMENT, **kwargs)


def end(process, patience=0):
    """SIGTERM and time for it, then SIGKILL."""
    if process is None or process.poll() is not None:
        return
    process.send_signal(signal.SIGCONT)
    if patience:
        process.terminate()
        try:
            process.wait(patience)
            return
        except subprocess.TimeoutExpired:
            pass
    process.kill()
    process.wait()


def until(what, condition, timeout=60, every=0.05, log=lambda: ""):
    """Waits for a condition; its value. The deadline is for what will never come, not for what is slow."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Failure(f"not within {timeout} s: {what}", log())
        time.sleep(every)


def tail(path, lines=40):
    try:
        with open(path, encoding="utf-8", errors="backslashreplace") as f:
            return "".join(f.readlines()[-lines:])
    except FileNotFoundError:
        return ""
