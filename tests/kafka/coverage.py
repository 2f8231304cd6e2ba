"""What a whole run has reached, added up from what its boxes left behind: rows of the decision table and fault points. A
run that did not get there has not shown what it says."""
import collections
import glob
import json
import os

import crashes
from weirtest.report import Failure
from weirtest.weir import WORK_DIR

ROWS = range(1, 13)


def left_behind(name):
    """Files of that name of all boxes, but not of those that are wrong on purpose."""
    return [path for path in glob.glob(os.path.join(WORK_DIR, "kafka", "*", "*", name))
            if not os.path.basename(os.path.dirname(path)).startswith("mutant")]


def rows_reached():
    """Row -> how often a target with a second proof was decided on by it."""
    rows = collections.Counter()
    for path in left_behind("trace.jsonl"):
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                if '"resolved"' not in line:
                    continue
                try:
                    event = json.loads(line)
                except ValueError:
                    continue  # the torn last line of a killed life
                if event["event"] == "resolved" and event["facts"]["target_can_scan"]:
                    rows[event["row"]] += 1
    return rows


def points_reached():
    points = collections.Counter()
    for path in left_behind(".witness"):
        with open(path, encoding="utf-8") as f:
            points.update(line.split()[0] for line in f if " kill " in line)
    return points


def every_row_of_the_table():
    rows = rows_reached()
    print("# decided by row: " + ", ".join(f"{row}: {rows[row]}" for row in sorted(rows)), flush=True)
    missing = [row for row in ROWS if not rows[row]]
    if missing:
        raise Failure(f"no delivery was decided by rows {missing}")


def death_at_every_point():
    points = points_reached()
    missing = [point for point in crashes.declared_points() if not points[point]]
    if missing:
        raise Failure(f"nobody died at {missing}")


CHECKS = [every_row_of_the_table, death_at_every_point]
