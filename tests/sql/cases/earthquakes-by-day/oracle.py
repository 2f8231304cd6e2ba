#!/usr/bin/env python3
"""oracle.py IN EXPECTED: what the pipeline must write, from scratch."""
import csv
import decimal
import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "..", "lib"))
from weirtest import oracle  # noqa: E402


def records(path):
    with open(path, encoding="utf-8", newline="") as f:
        for row in csv.DictReader(f):
            yield row, oracle.ms(row["DateTime"].replace("/", "-").ljust(23, "0"))


def main():
    source, target = sys.argv[1:3]
    files = [oracle.Partition(p, list(records(p))) for p in glob.glob(os.path.join(source, "*.txt"))]
    windows = oracle.Tumble(86400000, lambda: {"n": 0, "stations": None, "max": None, "sum": decimal.Decimal(0),
                                               "first": None})
    late = []
    for _, row, ts, watermark in oracle.in_reading_order(files, bound=3600000, drift=12 * 3600000):
        windows.advance(watermark)
        if row is None or row["Magnitude"] == "" or decimal.Decimal(row["Magnitude"]) < 1:
            continue
        group = windows.add(row["MagType"], ts, watermark)
        if group is None:
            late.append(f'{{"id":"{row["EventID"]}","lat":{row["Latitude"]},'
                        f'"window_end":"{oracle.text(windows.window(ts)[1])}"}}\n')
            continue
        magnitude = decimal.Decimal(row["Magnitude"])
        group["n"] += 1
        group["sum"] += magnitude
        group["max"] = magnitude if group["max"] is None else max(group["max"], magnitude)
        group["first"] = row["EventID"] if group["first"] is None else min(group["first"], row["EventID"])
        if row["NbStations"] != "":
            group["stations"] = (group["stations"] or 0) + int(row["NbStations"])
    with open(os.path.join(target, "days.jsonl"), "w", encoding="utf-8") as f:
        for start, _, mag_type, g in windows.fired:
            if g["n"] > 1:
                stations = "null" if g["stations"] is None else g["stations"]
                f.write(f'{{"day_start":"{oracle.text(start)}","mag_type":"{mag_type}","n":{g["n"]},'
                        f'"stations":{stations},"strongest":{g["max"]},"sum_mag":{g["sum"]},'
                        f'"first_id":"{g["first"]}"}}\n')
    with open(os.path.join(target, "late.jsonl"), "w", encoding="utf-8") as f:
        f.writelines(late)


main()
