#!/usr/bin/env python3
"""The layer on real brokers: three Apache Kafka brokers from jars, a proxy that loses what it is told to, and an oracle
that shares no code with weir.

  run.py [--full] [--only SUBSTRING] [--seed N] [--version V]

--full: also the slow cases, and (without --only) all of it on the other broker versions, too. The logs of the brokers are kept in
build/test-logs/kafka when something failed.
"""
import argparse
import os
import random
import re
import shutil
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "lib"))

import coverage  # noqa: E402
import crashes  # noqa: E402
import gen_verify  # noqa: E402
import in_doubt  # noqa: E402
import mutants  # noqa: E402
import outages  # noqa: E402
import quick_start  # noqa: E402
import rights  # noqa: E402
import selftests  # noqa: E402
import sources  # noqa: E402
import topic_receipts  # noqa: E402
import two_clusters  # noqa: E402
import watermarks  # noqa: E402
import worlds  # noqa: E402
from harness.cluster import VERSION, Cluster  # noqa: E402
from weirtest.report import Report  # noqa: E402
from weirtest.weir import LOG_DIR, WORK_DIR  # noqa: E402

OTHER_VERSIONS = ("3.9.2", "4.4.0")
BESIDE = 4  # checks at a time: most of them wait most of the time


def on_cluster(report, directory, version, alone, beside=(), prefix=""):
    """Checks are (name, function of the cluster): `beside` touch only what is their own and run side by side. What the
    brokers said is kept when one failed."""
    if not alone and not beside:
        return
    begun, failed = time.monotonic(), report.failed
    running = []

    def start():
        running.append(Cluster(directory, version=version).start())
        print(f"# three brokers {version} ready after {time.monotonic() - begun:.1f} s", flush=True)
        if any("two-clusters/" in name for name, _ in beside):
            running.append(two_clusters.second_cluster(directory + "-second", version).start())
            running[0].second = running[1]
    report.check(f"{prefix}cluster-starts", start)
    try:
        for cluster in running[:1]:
            for name, function in alone:
                report.check(prefix + name, function, cluster)
            report.check_all([(prefix + name, function, cluster) for name, function in beside], BESIDE)
    finally:
        for n, cluster in enumerate(running):
            if report.failed > failed:
                cluster.dump_logs(os.path.join(report.log_dir, f"brokers-{version}{'-second' * n}"))
            cluster.close()


def self_tests(full):
    return [(f"selftest/{check.__name__}", lambda cluster, check=check: selftests.fresh_topic(cluster, check))
            for check in selftests.CLUSTER + (selftests.SLOW if full else [])]


# On brokers whose receipts are in a topic there is nothing to see of these.
OF_RECEIPT_GROUPS = re.compile("doubt/(receipt_|add_offsets|late_copies)|world/(deleted_receipt|receipt_put|fresh_start_and)"
                               "|two-clusters/away|mutant/receipt|topic-receipt/|quick-start/topics|(connect|out)_no_right_to_the_group|rights/taken_group")


def weir_checks(args, version):
    """weir on the cluster: what must have it for itself, and what need not."""
    rng = random.Random(args.seed)
    groups = {"doubt": in_doubt.BESIDE, "crash": crashes.matrix(rng, args.full), "world": worlds.BESIDE,
              "quick-start": quick_start.BESIDE,
              "rights": rights.IN + rights.KEPT_OUT + rights.TAKEN + rights.RENEWED,
              "reading": [*crashes.BESIDE, crashes.deaths_in_a_row(args.seed)], "source": sources.CLUSTER,
              "two-clusters": two_clusters.BESIDE, "mutant": mutants.BESIDE,
              "watermarks": watermarks.CHECKS, "topic-receipt": topic_receipts.beside(rng),
              "connect": rights.CONNECT}
    if args.full:
        groups["world"] = (worlds.LONG if version == VERSION else []) + worlds.BESIDE + worlds.LIKELY
    beside = [(f"{group}/{check.__name__}", check) for group, checks in groups.items() for check in checks]
    # The slow ones first: whoever waits for a time-out waits beside the others.
    beside += gen_verify.checks(gen_verify.BESIDE)
    beside.sort(key=lambda check: "timeout" not in check[0] and "running" not in check[0])
    alone = gen_verify.checks(gen_verify.ALONE) + [(f"outage/{check.__name__}", check) for check in outages.ALONE]
    if args.full:
        alone += [(f"doubt/{check.__name__}", check) for check in in_doubt.SLOW_ALONE]
        alone += [(f"outage/{check.__name__}", check) for check in outages.SLOW_ALONE]
    if version.startswith("3."):
        beside += [(f"rights/{check.__name__}", check) for check in rights.OLD]
        return [[check for check in checks if not OF_RECEIPT_GROUPS.search(check[0])] for checks in (alone, beside)]
    return alone, beside


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", default="", help="checks whose name holds this (or this, or this: a,b,c)")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    parser.add_argument("--version", default=VERSION)
    args = parser.parse_args()
    report = Report("kafka", LOG_DIR)
    print(f"# kafka: seed {args.seed} (run.py --seed {args.seed} repeats it)", flush=True)
    work = os.path.join(WORK_DIR, "kafka")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)

    def chosen(checks):
        return [check for check in checks if any(word in check[0] for word in args.only.split(","))]
    for name, check in chosen([(f"{group}/{check.__name__}", check) for group, checks in
                               (("selftest", selftests.ALONE), ("quick-start", quick_start.ALONE)) for check in checks]):
        report.check(name, check)
    versions = [args.version] + [v for v in OTHER_VERSIONS if args.full and not args.only and v != args.version]
    for version in versions:
        alone, beside = weir_checks(args, version)
        on_cluster(report, os.path.join(work, "cluster-" + version), version, chosen(self_tests(args.full) + alone),
                   chosen(beside), prefix="" if version == args.version else version + "/")
        if not args.only and version == VERSION:
            for check in coverage.CHECKS:
                report.check(f"coverage/{check.__name__}", check)
    report.finish()


if __name__ == "__main__":
    main()
