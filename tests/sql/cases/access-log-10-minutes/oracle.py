#!/usr/bin/env python3
"""oracle.py IN EXPECTED: what the pipeline must write, from scratch."""
import base64
import datetime
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "..", "lib"))
from weirtest import oracle  # noqa: E402

LINE = re.compile(rb'^(\S+) \S+ \S+ \[([^\]]+)\] "([A-Z]+) (\S+) HTTP/[0-9.]+" (\d{3}) (\d+|-) ".*" ".*"$')


def main():
    source, target = sys.argv[1:3]
    with open(os.path.join(source, "access.log"), "rb") as f:
        lines = f.read().split(b"\n")[:-1]
    windows = oracle.Tumble(600000, lambda: {"n": 0, "bytes": None, "errors": 0})
    late, dead, position, highest = [], [], 0, oracle.NEVER
    for line in lines:
        begin, position = position, position + len(line) + 1
        match = LINE.match(line)
        if match is None:
            if line:
                dead.append({"raw": base64.b64encode(line).decode(), "stage": "decode", "pos": begin})
            continue
        try:
            moment = datetime.datetime.strptime(match[2].decode(), "%d/%b/%Y:%H:%M:%S %z")
        except ValueError:
            dead.append({"raw": None, "stage": "eval", "pos": begin})
            continue
        ts = int(moment.timestamp()) * 1000
        watermark = highest - 30000
        windows.advance(watermark)
        group = windows.add("", ts, watermark)
        highest = max(highest, ts)
        if group is None:
            late.append({"ts": oracle.text(ts), "url": match[4].decode(),
                         "window_end": oracle.text(windows.window(ts)[1])})
            continue
        group["n"] += 1
        group["errors"] += int(match[5]) >= 500
        if match[6] != b"-":
            group["bytes"] = (group["bytes"] or 0) + int(match[6])
    windows.advance(oracle.END)
    if not late or not dead:
        raise SystemExit("no late or no dead line: the case shows nothing")
    with open(os.path.join(target, "traffic.csv"), "w", encoding="utf-8") as f:
        f.write("window_start,requests,bytes,errors\n")
        for start, _, _, g in windows.fired:
            f.write(f"{oracle.text(start)},{g['n']},{'' if g['bytes'] is None else g['bytes']},{g['errors']}\n")
    for name, rows in (("late.jsonl", late), ("unparsable.jsonl", dead)):
        with open(os.path.join(target, name), "w", encoding="utf-8") as f:
            f.writelines(oracle.json_line(row) for row in rows)


main()
