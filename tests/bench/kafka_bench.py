#!/usr/bin/env python3
"""Kafka benchmarks on three real brokers on this machine: CPU of the weir process alone, beside what librdkafka alone
takes for the same topic in the same run.

  kafka_bench.py [--rows N] [--runs N] [--only WORD] [--weir FILE]

A figure counts only when the output was right: rows by number, windows by `weir verify`. Brokers share the machine, so
wall times are theirs as well; CPU-seconds are not.
"""
import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
sys.path.insert(0, os.path.join(HERE, "..", "kafka"))

import bench  # noqa: E402
from bench import Wrong  # noqa: E402
from kafka_delivery import Deliveries  # noqa: E402
from weirtest.report import Failure  # noqa: E402
from weirtest.weir import BUILD, CLEAN_ENV  # noqa: E402

PARTITIONS = 3
PAD = 85  # some 184 bytes a record
SOURCE = """CREATE TABLE events (
  part INT, seq BIGINT, item STRING, amount BIGINT, ts TIMESTAMP(3), pad STRING,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{servers}', 'format' = 'json',
        'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');
"""
PASS = SOURCE + """CREATE TABLE nowhere (part INT, seq BIGINT, item STRING, amount BIGINT, ts TIMESTAMP(3), pad STRING)
  WITH ('connector' = 'blackhole');
INSERT INTO nowhere SELECT part, seq, item, amount, ts, pad FROM events;
"""
TUMBLE = SOURCE + """CREATE TABLE counts (window_start TIMESTAMP(3), window_end TIMESTAMP(3), item STRING, n BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'counts.jsonl', 'format' = 'json');
INSERT INTO counts
  SELECT window_start, window_end, item, COUNT(*) AS n
  FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)
  GROUP BY window_start, window_end, item;
"""
NO_EPOCHS = ["--set", "execution.checkpointing.interval=1 h"]


class KafkaBench(Deliveries, bench.Bench):
    def __init__(self, args, servers, create):
        super().__init__(args)
        self.servers, self.create = servers, create
        self.ledgers = {}

    def topic(self, items, compression="none"):
        """A topic of --rows events, made once, and its ledger."""
        key = (items, compression)
        if key not in self.ledgers:
            name = f"bench-{items}-{compression}-{os.getpid()}"
            self.create(name, PARTITIONS)
            ledger = os.path.join(bench.DATA, name + ".ledger")
            more = ["--kafka", "compression.type=" + compression] if compression != "none" else []
            done = subprocess.run(
                [self.weir, "gen", ledger, "--to", "kafka:" + name, "--kafka", "bootstrap.servers=" + self.servers, *more,
                 "--partitions", str(PARTITIONS), "--records", str(self.args.rows), "--rate", "50000", "--items", str(items),
                 "--jitter", "1500 ms", "--pad", str(PAD)], env=CLEAN_ENV, stderr=subprocess.PIPE, check=False)
            if done.returncode:
                raise Wrong(f"gen: {done.stderr.decode()[-300:]}")
            self.ledgers[key] = (name, ledger)
        return self.ledgers[key]

    def bare(self, topic):
        work = self.directory("bare", "")
        cpu, _, _, text = self.run(work, command=[os.path.join(self.programs, "bare_kafka_consumer"), self.servers, topic])
        if text.split()[0] != str(self.args.rows).encode():
            raise Wrong(f"librdkafka alone read {text.decode().strip()}")
        return cpu

    def weir_run(self, name, sql, topic, *args):
        work = self.directory(name, sql.format(topic=topic, servers=self.servers))
        cpu, peak, wall, text = self.run(work, *args)
        return work, cpu, peak, wall, json.loads(text.splitlines()[-1])

    def pass_through(self, compression):
        topic, _ = self.topic(1000, compression)
        speeds, bare_speeds, ratios, peaks = [], [], [], []
        for _ in range(self.args.runs):
            bare_cpu = self.bare(topic)
            _, cpu, peak, _, summary = self.weir_run("pass", PASS, topic)
            if summary["read"] != self.args.rows or summary["emitted"] != self.args.rows:
                raise Wrong(f"{summary}")
            speeds.append(self.args.rows / cpu / 1e6)
            bare_speeds.append(self.args.rows / bare_cpu / 1e6)
            ratios.append(bare_cpu / cpu)
            peaks.append(peak / 2**20)
        what = "uncompressed" if compression == "none" else compression
        self.figure(f"Kafka to blackhole, six columns, {what}", speeds, "M rows per CPU-second", note="goal 2.5")
        self.figure("librdkafka alone, same topic", bare_speeds, "M rows per CPU-second")
        self.figure("ratio to it", ratios, "", note="goal 0.6")
        self.figure("resident peak", peaks, "MiB", 0, "goal 64")

    def tumbling(self, items, goal):
        topic, ledger = self.topic(items)
        speeds, without, costs, peaks, numbers = [], [], [], [], []
        for _ in range(self.args.runs):
            base = self.judged("tumble", ledger, topic, *NO_EPOCHS)
            with_epochs = self.judged("tumble", ledger, topic)
            without.append(self.args.rows / base[0] / 1e6)
            speeds.append(self.args.rows / with_epochs[0] / 1e6)
            costs.append((with_epochs[0] / base[0] - 1) * 100)
            peaks.append(with_epochs[1] / 2**20)
            numbers.append(with_epochs[2])
        name = f"Kafka, 10 s tumbling COUNT, {items // 1000} k keys"
        self.figure(f"{name}, epochs of 1 s", speeds, "M rows per CPU-second", note=f"goal {goal}")
        self.figure("the same without epochs", without, "M rows per CPU-second")
        self.figure("what its epochs cost", costs, "%", 1, f"goal 5; {min(numbers)} to {max(numbers)} epochs a run")
        self.figure(f"resident peak, {items // 1000} k keys", peaks, "MiB", 0, "goal 64")

    def judged(self, name, ledger, topic, *args):
        """CPU, peak, epochs of a run whose windows are exact."""
        work, cpu, peak, _, summary = self.weir_run(name, TUMBLE, topic, *args)
        done = subprocess.run([self.weir, "verify", ledger, "--windows", "counts.jsonl", "--window", "10 s", "--input-ended",
                               "--column", "windows.total="], cwd=work, env=CLEAN_ENV, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            raise Wrong(f"the windows are not exact: {done.stdout.decode()[-500:]}")
        return cpu, peak, summary["epochs"]

    def all(self):
        return [("pass", self.pass_through, ("none",)), ("pass-lz4", self.pass_through, ("lz4",)),
                ("tumble-1k", self.tumbling, (1000, "2.2")), ("tumble-100k", self.tumbling, (100000, "1.8")),
                *self.delivery_measurements()]


def measure(args, servers, create):
    figures, bad = KafkaBench(args, servers, create), 0
    for name, function, arguments in figures.all():
        if args.only and args.only not in name:
            continue
        try:
            function(*arguments)
        except Wrong as why:
            figures.failed(name, str(why))
            bad = 1
    text = figures.markdown()
    with open(os.path.join(BUILD, "kafka-bench.md"), "w", encoding="utf-8") as f:
        f.write(text)
    print(text, end="")
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--weir")
    args = parser.parse_args()
    from harness.cluster import Cluster
    try:
        with Cluster(os.path.join(bench.WORK, "brokers")) as cluster:
            # Past the proxy: it would be measured too.
            sys.exit(measure(args, cluster.direct,
                             lambda name, partitions: cluster.tool.create_topic(topic=name, partitions=partitions)))
    except Failure as failure:
        print(f"kafka_bench: {failure}\n{failure.log[-2000:]}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
