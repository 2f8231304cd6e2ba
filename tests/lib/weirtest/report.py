"""Lines that tests/run.sh adds up: `ok NAME`, `not ok NAME: why`, `skip NAME: why`."""
import os
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor


class Failure(Exception):
    """A check said no. The text is for people; `log` is what is kept beside it."""

    def __init__(self, why, log=""):
        super().__init__(why)
        self.log = log


class Skip(Exception):
    """The machine cannot do this (no root, no loop device): counted as skipped, never as passed."""


class Report:
    """Collects the results of one layer; safe to call from several threads."""

    def __init__(self, layer, log_dir):
        self.layer = layer
        self.log_dir = os.path.join(log_dir, layer)
        os.makedirs(self.log_dir, exist_ok=True)
        self.passed = self.failed = self.skipped = 0
        self.lock = threading.Lock()
        self.seconds = {}

    def ok(self, name):
        with self.lock:
            self.passed += 1
            print(f"ok {name}", flush=True)

    def skip(self, name, why):
        with self.lock:
            self.skipped += 1
            print(f"skip {name}: {why}", flush=True)

    def fail(self, name, why, log=""):
        path = os.path.join(self.log_dir, name.replace("/", "_").replace(" ", "_") + ".log")
        with self.lock:
            self.failed += 1
            with open(path, "w", encoding="utf-8", errors="backslashreplace") as out:
                out.write(f"{name}\n{why}\n\n{log}\n")
            lines = str(why).splitlines() or [""]
            print(f"not ok {name}: {lines[0]}", flush=True)
            for line in lines[1:12]:
                print(f"#   {line[:300]}", flush=True)
            if len(lines) > 12:
                print(f"#   ... {len(lines) - 12} more lines", flush=True)
            print(f"#   log: {os.path.relpath(path)}", flush=True)

    def check(self, name, function, *args, **kwargs):
        """Runs one named check; its exceptions become its result."""
        begun = time.monotonic()
        try:
            function(*args, **kwargs)
        except Skip as why:
            self.skip(name, str(why))
        except Failure as failure:
            self.fail(name, str(failure), failure.log)
        except Exception:  # a bug of the test is a failure of the test
            self.fail(name, "the test itself failed:\n" + traceback.format_exc())
        else:
            self.ok(name)
        with self.lock:
            self.seconds[name] = time.monotonic() - begun

    def check_all(self, checks, workers=None):
        """`checks`: (name, function, args...) tuples, run side by side."""
        with ThreadPoolExecutor(max_workers=workers or os.cpu_count() or 1) as pool:
            for future in [pool.submit(self.check, *check) for check in checks]:
                future.result()

    def finish(self):
        if os.environ.get("WEIR_TEST_TIMES"):
            for name, took in sorted(self.seconds.items(), key=lambda item: -item[1])[:15]:
                print(f"# {took:6.1f} s {name}")
        print(f"# {self.layer}: {self.passed} passed, {self.failed} failed, {self.skipped} skipped",
              flush=True)
        sys.exit(1 if self.failed else 0)
