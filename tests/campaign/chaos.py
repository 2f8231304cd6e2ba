"""What a campaign does to the pipeline and to the cluster. Each fault ends with everything put right again, and says what
it did; a fault that did not take hold is a Failure, never a silent nothing."""
import os
import random
import signal
import subprocess
import time

from weirtest.report import Failure

POINTS = ("deliver.after_fence", "deliver.after_receipt_read", "deliver.before_inflight", "deliver.after_inflight",
          "deliver.before_begin", "deliver.during_produce", "deliver.before_receipt", "deliver.after_receipt",
          "deliver.before_commit", "deliver.between_commit_and_ack", "deliver.after_ack", "cut.before_freeze",
          "cut.after_freeze", "seal.before_commit", "seal.after_commit", "takeover.after_lock", "takeover.after_decide",
          "takeover.after_run_row")
SHORT = ("deliver.between_commit_and_ack", "deliver.after_inflight", "deliver.before_commit", "kill", "broker_kill",
         "outage")
LONG = (*POINTS, "kill", "sigstop", "broker_restart", "broker_kill", "outage", "link_cut", "black_hole", "latency",
        "disk_full")


class Chaos:
    def __init__(self, cluster, subject, rng, small_disk=None):
        self.cluster, self.subject, self.rng, self.small_disk = cluster, subject, rng, small_disk

    def apply(self, name):
        """Details for the report."""
        if name in POINTS:
            return self.point(name)
        return getattr(self, name)()

    def point(self, name):
        occurrence = 1 if name.startswith("takeover.") else self.rng.choice((1, 2, 3))
        self.subject.kill()
        before = len(self.subject.witnesses())
        self.subject.launch(fault=f"{name}=kill@{occurrence}")
        self.subject.wait_death(90)
        witness = self.subject.witnesses()[before:]
        if not any(line.startswith(f"{name} kill ") for line in witness):
            raise Failure(f"killed, and no witness of {name}: {witness}")
        self.subject.launch()
        return f"occurrence {occurrence}"

    def kill(self):
        after = self.rng.uniform(0.3, 3)
        time.sleep(after)
        self.subject.kill()
        self.subject.launch()
        return f"after {after:.2f} s"

    def sigstop(self, seconds=None):
        seconds = seconds or self.rng.choice((3, 8, 70))
        self.subject.process.signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.subject.process.signal(signal.SIGCONT)
        return f"{seconds} s"

    def _broker(self):
        return self.cluster.brokers[self.rng.choice(sorted(self.cluster.brokers))]

    def broker_restart(self):
        broker = self._broker()
        broker.stop()
        broker.start()
        self.cluster.wait_ready()
        return f"broker {broker.number}"

    def broker_kill(self):
        broker = self._broker()
        broker.kill()
        time.sleep(self.rng.uniform(1, 4))
        broker.start()
        self.cluster.wait_ready()
        return f"broker {broker.number}"

    def outage(self):
        for broker in self.cluster.brokers.values():
            broker.kill()
        seconds = self.rng.uniform(3, 6)
        time.sleep(seconds)
        for broker in self.cluster.brokers.values():
            broker.start()
        self.cluster.wait_ready()
        return f"all brokers, {seconds:.1f} s"

    def _cut(self, mode):
        seconds = self.rng.choice((4, 15, 45))
        self.cluster.faults.cut(mode)
        time.sleep(seconds)
        self.cluster.faults.mend()
        return f"{seconds} s"

    def link_cut(self):
        return self._cut("reset")

    def black_hole(self):
        return self._cut("blackhole")

    def latency(self):
        ms = self.rng.choice((50, 200, 700))
        self.cluster.faults.latency(ms)
        time.sleep(15)
        self.cluster.faults.latency(0)
        return f"{ms} ms each way for 15 s"

    def disk_full(self):
        """The state directory's disk, a small one of its own, filled to the last byte for some seconds."""
        if self.small_disk is None:
            raise Failure("there is no small disk to fill: needs root")
        path = os.path.join(self.small_disk, "ballast")
        with open(path, "wb", buffering=0) as f:
            try:
                for size in (1 << 20, 4096, 1):
                    try:
                        while True:
                            f.write(b"\0" * size)
                    except OSError:
                        continue
                seconds = self.rng.choice((3, 10))
                time.sleep(seconds)
            finally:
                os.unlink(path)
        return f"{seconds} s"


def mount_small_disk(path, size="96m"):
    """A tmpfs, or None where this machine does not allow it."""
    os.makedirs(path, exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path], capture_output=True, check=False)
    return path if done.returncode == 0 else None


def unmount(path):
    if path:
        subprocess.run(["umount", path], capture_output=True, check=False)


def schedule(names, rng, more=0):
    """Every mandatory fault once, in an order of the seed's, and then some."""
    order = list(names)
    rng.shuffle(order)
    return order + [rng.choice(names) for _ in range(more)]


__all__ = ["Chaos", "LONG", "SHORT", "POINTS", "mount_small_disk", "unmount", "schedule", "random"]
