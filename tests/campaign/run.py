#!/usr/bin/env python3
"""A campaign: a generator, a pipeline of weir, chaos, and an oracle, on three real brokers.

  run.py                   the short form of CI: about four minutes, its own list of mandatory faults
  run.py --minutes 60      every mandatory fault, and random ones until the time is over
  run.py --seed N --out DIR --rate N --input files
  run.py --mutant twice    weir, wrong on purpose: must be NOT EXACT (judged.py)
  run.py --only outage,broker_kill    a look at these faults: never a verdict over the whole list

Gates come before the first fault: input flows, epochs are sealed, output is judged. The campaign stops at the first wrong
row and keeps the evidence. The verdict is EXACT; NOT EXACT (a wrong row); FAILED (weir died by itself, or did not come
back); or INCONCLUSIVE (a mandatory fault was not done).
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "kafka"), os.path.join(HERE, "..", "lib")]

import chaos  # noqa: E402
import report as reports  # noqa: E402
import selftest  # noqa: E402
from events import JITTER_MS, KEYS, PARTITIONS, WINDOW_MS, Expected, Stream, text  # noqa: E402
from harness import processes  # noqa: E402
from harness.cluster import VERSION, Cluster  # noqa: E402
from oracle import Oracle, closing_time  # noqa: E402
from subject import Subject  # noqa: E402
from weirtest.report import Failure, Report  # noqa: E402
from weirtest.weir import BUILD, LOG_DIR, WORK_DIR, binary_of  # noqa: E402

CHUNK = 4000
RECOVERY_S = 240


def value_of(name, key, amount, time_ms):
    return f'{{"id":"{name}","k":"{key}","v":{amount},"ts":"{text(time_ms)}"}}'


class Generator(threading.Thread):
    """Produces what is due, with an idempotent producer past the proxy, through every outage; or into followed files, a
    file for each partition."""

    def __init__(self, cluster, expected, lock, files=None):
        super().__init__(daemon=True)
        self.cluster, self.expected, self.lock, self.files = cluster, expected, lock, files
        self.ended = threading.Event()
        self.failure = None
        self.path = os.path.join(cluster.directory, "generator.jsonl")
        cluster.tool.producer_open(name="generator", properties={"delivery.timeout.ms": 1_800_000, "linger.ms": 5})

    def run(self):
        try:
            while not self.ended.wait(0.1):
                self._tick()
        except Exception as error:  # without input there is no campaign: the main thread says so
            self.failure = error

    def _tick(self):
        stream = self.expected.stream
        due = int((time.time() * 1000 - stream.base_ms) * stream.rate / 1000)
        made = [(partition, stream.event(partition, sequence)) for partition in range(PARTITIONS)
                for sequence in range(self.expected.produced[partition],
                                      min(due, self.expected.produced[partition] + CHUNK // PARTITIONS))]
        if made:
            self.send([(p, name, key, amount, time_ms) for p, (name, key, amount, time_ms) in made])
            with self.lock:
                for partition, event in made:
                    self.expected.add(partition, event)

    def send(self, made):
        if self.files is not None:
            for partition in {row[0] for row in made}:
                with open(os.path.join(self.files, f"{partition}.jsonl"), "a", encoding="utf-8") as f:
                    f.writelines(value_of(*row[1:]) + "\n" for row in made if row[0] == partition)
            return
        with open(self.path, "w", encoding="utf-8") as f:
            for partition, name, key, amount, time_ms in made:
                f.write(json.dumps({"partition": partition, "key": key,
                                    "value": value_of(name, key, amount, time_ms)}) + "\n")
        self.cluster.tool.producer_send(name="generator", topic="campaign-in", file=self.path, timeout=1900)

    def stop(self):
        self.ended.set()
        self.join()


class Campaign:
    def __init__(self, cluster, work, args, rng, binary):
        self.cluster, self.args, self.rng = cluster, args, rng
        self.begun = time.monotonic()
        self.small_disk = None if args.short else chaos.mount_small_disk(os.path.join(work, "disk"))
        self.subject = Subject(cluster, os.path.join(self.small_disk or work, "box"), binary, args.input)
        if args.stand_in:
            self.subject.env["WEIR_STANDIN"] = args.stand_in
        if args.mutant:
            self.subject.env["WEIR_MUTANT"] = args.mutant
        # The first event is a whole window away, so that the first window is a whole one.
        base_ms = int(time.time() * 1000) // WINDOW_MS * WINDOW_MS
        self.expected = Expected(Stream(args.seed, base_ms, args.rate))
        self.oracle = Oracle(self.expected)
        self.lock = threading.Lock()
        files = os.path.join(self.subject.cwd, "in") if args.input == "files" else None
        self.generator = Generator(cluster, self.expected, self.lock, files)
        self.chaos = chaos.Chaos(cluster, self.subject, rng, self.small_disk)
        self.patience = 40 if args.stand_in or args.mutant else RECOVERY_S
        self.next = {}
        self.faults = []
        self.why = []

    def seconds(self):
        return time.monotonic() - self.begun

    def look(self):
        """Reads on, judges; a wrong row ends the campaign."""
        if self.generator.failure:
            raise Failure(f"the generator failed: {self.generator.failure}")
        self.subject.require_alive()
        for topic, judge in (("campaign-counts", self.oracle.window), ("campaign-picked", self.oracle.passed),
                             ("campaign-late", self.oracle.late)):
            said = self.cluster.tool.ask("dump", topic=topic, start=self.next.get(topic, {}), timeout_s=20,
                                         file=(path := os.path.join(self.cluster.directory, "judged.jsonl")))
            try:
                if "error" in said:
                    continue  # no broker answers just now; nothing was judged, the same is read again
                with open(path, encoding="utf-8") as f:
                    for line in f:
                        judge(json.loads(line))
                self.next[topic] = said["next"]
            finally:
                if os.path.exists(path):
                    os.unlink(path)
        with self.lock:
            if not self.oracle.judge():
                raise Failure("the oracle says no: " + "; ".join(self.oracle.examples[:5]))

    def wait(self, what, condition, seconds):
        def met():
            self.look()
            with self.lock:
                return condition()
        processes.until(what, met, seconds, 0.5, lambda: self.subject.process.err()[-4000:])

    def gates(self):
        self.subject.launch()
        self.generator.start()
        self.wait("gate: input flows", lambda: min(self.expected.produced) > 0, 60)
        self.wait("gate: five epochs are sealed", lambda: self.subject.sealed() >= 5, 120)
        self.wait("gate: a window and rows are judged", lambda: self.oracle.right > 0 and self.oracle.picked, 120)

    def one_fault(self, name):
        at = self.seconds()
        how = self.chaos.apply(name)
        healed = time.monotonic()
        with self.lock:
            until, rows = self.expected.frontier() - JITTER_MS, len(self.expected.picked)
        self.wait(f"after {name}: everything up to then is delivered",
                  lambda: self.oracle.delivered_up_to(until) and len(self.oracle.picked) >= rows, self.patience)
        self.faults.append({"fault": name, "at": at, "how": how, "recovered": round(time.monotonic() - healed, 1)})
        print(f"# {at:5.0f} s {name}: {how}; delivered again after {self.faults[-1]['recovered']} s", flush=True)

    def close(self):
        """Ends the input, closes the open windows, and holds everything to the oracle."""
        self.generator.stop()
        until = closing_time(self.expected)
        self.generator.send([(p, f"closing-{p}", "closing", 0, until) for p in range(PARTITIONS)])
        # What the closing events open is not closed by anything.
        self.expected.frontier = lambda: until // WINDOW_MS * WINDOW_MS
        last = self.expected.frontier()
        try:
            self.wait("every window and row is delivered", lambda: self.oracle.delivered_up_to(last)
                      and len(self.oracle.picked) >= len(self.expected.picked), self.patience)
        except Failure as late:
            self.oracle.finish(last)  # what is not there by now is missing
            raise Failure(f"{late}; " + "; ".join(self.oracle.examples[:5]), late.log) from None
        self.subject.stop()
        self.subject.process = None
        for _ in range(2):  # nothing comes after the end
            self._last_look()
        if not self.oracle.finish(last):
            raise Failure("the oracle says no: " + "; ".join(self.oracle.examples[:5]))
        self.subject("trace", "verify", self.subject.trace, want=0, timeout=300)

    def _last_look(self):
        self.subject.require_alive = lambda: None
        self.look()

    def transactions(self):
        return len({(e.get("pid"), e.get("epoch")) for e in self.cluster.faults.events(key="EndTxn")
                    if e["what"] == "request"})

    def end(self):
        self.generator.ended.set()
        if self.subject.process is not None and self.subject.process.running():
            self.subject.process.kill()

    def facts(self, verdict, names, why):
        return {"verdict": verdict, "seed": self.args.seed, "minutes": self.seconds() / 60, "kafka": VERSION,
                "weir": version_of(self.subject), "produced": sum(self.expected.produced), "partitions": PARTITIONS,
                "keys": KEYS, "rate": self.args.rate * PARTITIONS, "windows_right": self.oracle.right,
                "rows_right": len(self.oracle.picked & self.expected.picked), "wrong": dict(self.oracle.wrong),
                "examples": self.oracle.examples, "starts": self.subject.starts, "transactions": self.transactions(),
                "faults": self.faults, "why": why,
                "not_covered": [n for n in names if n not in {f["fault"] for f in self.faults}]}


def version_of(subject):
    done = subprocess.run([subject.binary, "version"], capture_output=True, text=True, check=False)
    return done.stdout.split("\n")[0].strip() or "of this tree"


def run(report, args, work, binary):
    rng = random.Random(args.seed)
    # What a verdict needs. A weir that is wrong by itself is judged without any fault.
    names = () if args.mutant else chaos.SHORT if args.short else chaos.LONG
    chosen = args.only or names
    with Cluster(os.path.join(work, "cluster")) as cluster:
        print(f"# three brokers {VERSION} are ready", flush=True)
        campaign = Campaign(cluster, work, args, rng, binary)
        failed, why = report.failed, []

        def step(name, function, *more):
            report.check(name, guarded(function, why), *more)
            return report.failed == failed
        try:
            alive = step("gates", campaign.gates)
            order = chaos.schedule(chosen, rng)
            until = campaign.begun + args.minutes * 60
            while alive and (order or time.monotonic() < until and not args.short):
                name = order.pop(0) if order else rng.choice(chosen)
                alive = step(f"fault-{len(campaign.faults) + 1}-{name}", campaign.one_fault, name)
            if alive:
                alive = step("exact", campaign.close)
            not_covered = [n for n in names if n not in {f["fault"] for f in campaign.faults}]
            verdict = verdict_of(campaign.oracle.wrong, alive, not_covered)
            facts = campaign.facts(verdict, names, why)
            reports.write(args.out, facts)
            print(f"# {verdict}: {facts['produced']} events, {facts['windows_right']} windows and {facts['rows_right']} "
                  f"rows right, {facts['transactions']} transactions; report in {os.path.relpath(args.out)}", flush=True)
            if verdict != "EXACT":
                keep_evidence(campaign, args.out)
        finally:
            campaign.end()
            chaos.unmount(campaign.small_disk)


def verdict_of(wrong, alive, not_covered):
    if wrong:
        return "NOT EXACT"
    if not alive:
        return "FAILED"
    return "INCONCLUSIVE" if not_covered else "EXACT"


def guarded(function, why):
    """The reason goes into the report, too."""
    def call(*more):
        try:
            function(*more)
        except Failure as failure:
            why.append(str(failure).splitlines()[0])
            raise
    return call


def keep_evidence(campaign, out):
    campaign.cluster.dump_logs(os.path.join(out, "evidence"), 5000)
    for path in (campaign.subject.trace, os.path.join(campaign.subject.cwd, ".witness")):
        if os.path.exists(path):
            shutil.copy(path, os.path.join(out, "evidence", os.path.basename(path).lstrip(".")))
    with open(os.path.join(out, "evidence", "weir.log"), "w", encoding="utf-8") as f:
        f.write(campaign.subject.log())
        if campaign.subject.process is not None:
            f.write("\n--- the last life\n" + campaign.subject.process.err())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, help="a long campaign")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    parser.add_argument("--rate", type=int, default=400, help="events a second and partition")
    parser.add_argument("--input", choices=["files", "kafka"], default="kafka", help="what weir reads")
    parser.add_argument("--only", type=lambda text: text.split(","), help="these faults, in an order of the seed's")
    parser.add_argument("--out", help="where the report goes (build/test-logs/campaign)")
    parser.add_argument("--preset", default="fault", help="of the binary; only fault has fault points")
    parser.add_argument("--stand-in", choices=["right", "twice", "dropped", "altered"],
                        help="judge the campaign itself: not weir, but a program that is right, or wrong in this way")
    parser.add_argument("--mutant", choices=["twice", "dropped", "altered"],
                        help="judge the campaign itself: weir, but deliveries are wrong in this way")
    args = parser.parse_args()
    layer = "-".join(filter(None, ["campaign", args.stand_in, args.mutant]))
    args.out = args.out or os.path.join(LOG_DIR, layer)
    args.short = args.minutes is None
    if args.stand_in:
        args.input = "kafka"
    args.minutes = args.minutes or 0
    report = Report(layer, LOG_DIR)
    print(f"# campaign: seed {args.seed} (run.py --seed {args.seed} repeats its faults)", flush=True)
    for check in selftest.CHECKS:
        report.check(f"selftest/{check.__name__}", check)
    work = os.path.join(WORK_DIR, layer)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    binary = os.path.join(HERE, "standin.py") if args.stand_in else binary_of(args.preset)
    report.check("the-campaign-ends", run, report, args, work, binary)
    report.finish()


if __name__ == "__main__":
    main()
