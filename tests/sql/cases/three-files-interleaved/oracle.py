#!/usr/bin/env python3
"""oracle.py IN EXPECTED"""
import glob
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "..", "lib"))
from weirtest import oracle  # noqa: E402


def records(path):
    out = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            out.append((row, None if row is None else oracle.ms(row["ts"])))
    return out


def main():
    source, target = sys.argv[1:3]
    files = [oracle.Partition(p, records(p)) for p in glob.glob(os.path.join(source, "*.jsonl"))]
    windows = oracle.Tumble(10000, lambda: {"n": 0, "s": 0})
    late = []
    for _, row, ts, watermark in oracle.in_reading_order(files, bound=5000, drift=30000):
        windows.advance(watermark)
        if row is None:
            continue
        group = windows.add(row["k"], ts, watermark)
        if group is None:
            late.append({"k": row["k"], "v": row["v"], "ts": row["ts"],
                         "window_end": oracle.text(windows.window(ts)[1]), "watermark": oracle.text(watermark)})
            continue
        group["n"] += 1
        group["s"] += row["v"]
    if not late:
        raise SystemExit("the case has no late row: it shows nothing")
    with open(os.path.join(target, "out.jsonl"), "w", encoding="utf-8") as f:
        for start, _, k, group in windows.fired:
            f.write(oracle.json_line({"k": k, "window_start": oracle.text(start), **group}))
    with open(os.path.join(target, "late.jsonl"), "w", encoding="utf-8") as f:
        f.writelines(oracle.json_line(row) for row in late)


main()
