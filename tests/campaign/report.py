"""The report of a campaign, for people and for programs."""
import json
import os


def write(directory, facts):
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, "campaign.json"), "w", encoding="utf-8") as f:
        json.dump(facts, f, indent=1)
        f.write("\n")
    with open(os.path.join(directory, "campaign.md"), "w", encoding="utf-8") as f:
        f.write(markdown(facts))


def markdown(facts):
    counts = facts["wrong"]
    lines = [f"# Campaign: {facts['verdict']}", "",
             f"{facts['minutes']:.1f} minutes, seed {facts['seed']}, weir {facts['weir']}, "
             f"three Kafka brokers {facts['kafka']}.", "",
             "| what | number |", "|---|---|",
             f"| events produced | {facts['produced']:,} in {facts['partitions']} partitions, {facts['keys']:,} keys |",
             f"| windows judged right | {facts['windows_right']:,} |",
             f"| rows passed through, judged right | {facts['rows_right']:,} |",
             *(f"| {name} | {counts.get(name, 0)} |" for name in ("missing", "duplicate", "conflicting", "foreign", "late")),
             f"| starts of weir | {facts['starts']} |",
             f"| transactions that ended | {facts['transactions']} |", "",
             "## Faults", "", "| at s | fault | how | all delivered again after s |", "|---|---|---|---|"]
    lines += [f"| {f['at']:.0f} | {f['fault']} | {f['how']} | {f['recovered']} |" for f in facts["faults"]]
    if facts["not_covered"]:
        lines += ["", "Mandatory and not done: " + ", ".join(facts["not_covered"]) + "."]
    if facts["why"]:
        lines += ["", "## Why", "", *(f"- {why}" for why in facts["why"])]
    lines += ["", "## What this shows and what not", "",
              "A read_committed reader's view was compared, row by row, with what another program computes from the same "
              "events. It shows that these faults, at these moments, on one machine with three brokers, lost and "
              "doubled nothing. It does not show what was not done: power cuts (tests/sim), other brokers, a cluster "
              "that loses acknowledged data.", ""]
    return "\n".join(lines)
