#!/usr/bin/env python3
"""The campaign itself is judged: weir whose deliveries are wrong on purpose (src/connectors/kafka/mutant_cluster.h) must be
NOT EXACT, for the right reason. What passes without being wrong is the campaign of run.py.

  judged.py [--seed N]
"""
import argparse
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))

from weirtest.report import Failure, Report  # noqa: E402
from weirtest.weir import LOG_DIR  # noqa: E402

# Mutant: what the oracle calls it.
WRONG = {"twice": "duplicate", "dropped": "missing", "altered": "conflicting"}
PATIENCE_S = 400


def judged(mutant, seed):
    out = os.path.join(LOG_DIR, "campaign-" + mutant)
    shutil.rmtree(out, ignore_errors=True)
    done = subprocess.run([sys.executable, os.path.join(HERE, "run.py"), "--mutant", mutant, "--seed", str(seed)],
                          capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    said = done.stdout + done.stderr
    path = os.path.join(out, "campaign.json")
    if not os.path.exists(path):
        raise Failure("the campaign has ended without a report", said)
    with open(path, encoding="utf-8") as f:
        facts = json.load(f)
    if facts["verdict"] != "NOT EXACT" or not facts["wrong"].get(WRONG[mutant]):
        raise Failure(f"{mutant}: {facts['verdict']}, {facts['wrong']}; want NOT EXACT for {WRONG[mutant]}", said)
    if done.returncode == 0:
        raise Failure("NOT EXACT, and it ends with 0", said)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    args = parser.parse_args()
    report = Report("campaign-judged", LOG_DIR)
    print(f"# campaign-judged: seed {args.seed} (judged.py --seed {args.seed} repeats it)", flush=True)
    for mutant in WRONG:
        report.check("judged/" + mutant, judged, mutant, args.seed)
    report.finish()


if __name__ == "__main__":
    main()
