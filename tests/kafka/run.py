#!/usr/bin/env python3
"""The layer on real brokers: three Apache Kafka brokers from jars, a proxy that loses what it is told to, and an oracle
that shares no code with weir.

  run.py [--full] [--only SUBSTRING] [--seed N] [--version V]

--full: also the slow cases, and the self-tests on the other broker versions. The logs of the brokers are kept in
build/test-logs/kafka when something failed.
"""
import argparse
import os
import shutil
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "lib"))

import gen_verify  # noqa: E402
import selftests  # noqa: E402
from harness.cluster import VERSION, Cluster  # noqa: E402
from weirtest.report import Report  # noqa: E402
from weirtest.weir import LOG_DIR, WORK_DIR  # noqa: E402

OTHER_VERSIONS = ("3.9.2", "4.4.0")


def on_cluster(report, directory, version, checks, prefix=""):
    """`checks`: (name, function of the cluster). What the brokers said is kept when one failed."""
    if not checks:
        return
    begun, failed = time.monotonic(), report.failed
    running = []

    def start():
        running.append(Cluster(directory, version=version).start())
        print(f"# three brokers {version} ready after {time.monotonic() - begun:.1f} s", flush=True)
    report.check(f"{prefix}cluster-starts", start)
    for cluster in running:
        try:
            for name, function in checks:
                report.check(prefix + name, function, cluster)
        finally:
            if report.failed > failed:
                cluster.dump_logs(os.path.join(report.log_dir, "brokers-" + version))
            cluster.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", default="", help="checks whose name holds this")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    parser.add_argument("--version", default=VERSION)
    args = parser.parse_args()
    report = Report("kafka", LOG_DIR)
    print(f"# kafka: seed {args.seed} (run.py --seed {args.seed} repeats it)", flush=True)
    work = os.path.join(WORK_DIR, "kafka")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)

    def self_tests():
        return [(f"selftest/{check.__name__}", lambda cluster, check=check: selftests.fresh_topic(cluster, check))
                for check in selftests.CLUSTER]

    def chosen(checks):
        return [check for check in checks if args.only in check[0]]
    for check in selftests.ALONE:
        if args.only in f"selftest/{check.__name__}":
            report.check(f"selftest/{check.__name__}", check)
    on_cluster(report, os.path.join(work, "cluster"), args.version, chosen(self_tests() + gen_verify.checks()))
    if args.full:
        for version in OTHER_VERSIONS:
            on_cluster(report, os.path.join(work, version), version, chosen(self_tests()), version + "/")
    report.finish()


if __name__ == "__main__":
    main()
