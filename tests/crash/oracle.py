"""What the crash pipelines must write, from scratch (lib/weirtest/oracle.py)."""
import glob
import json
import os

from weirtest import oracle


def _rows(directory):
    # A row without `k` and `v` is one too: its fields are NULL. The generator's odd line of that kind is kept.
    files = []
    for path in glob.glob(os.path.join(directory, "*.jsonl")):
        records = []
        with open(path, encoding="utf-8") as f:
            for line in f:
                try:
                    row = json.loads(line)
                    records.append((row, oracle.ms(row["ts"])))
                except ValueError:
                    records.append((None, None))
        files.append(oracle.Partition(path, records))
    return oracle.in_reading_order(files, bound=3000, drift=5000)


def stateless(directory):
    out, parts = [], []
    for _, row, _, _ in _rows(directory):
        if row is None or row.get("v") is None:
            continue
        if row["v"] > -900 and row["d"] != "x":
            out.append(oracle.json_line({"id": row["id"], "v": row["v"] * 2, "n": int(row["d"])}))
        if row["v"] > 0:
            parts.append(f"{row['id']},{row['k']}\n")
    return {"out.jsonl": "".join(out), "parts/": "".join(parts)}


def _tumble(directory):
    windows = oracle.Tumble(5000, lambda: {"n": 0, "s": None, "hi": None})
    late = []
    for _, row, ts, watermark in _rows(directory):
        windows.advance(watermark)
        if row is None:
            continue
        group = windows.add(row.get("k"), ts, watermark)
        if group is None:
            late.append(oracle.json_line({"id": row["id"], "ts": oracle.text(ts),
                                          "window_end": oracle.text(windows.window(ts)[1]),
                                          "watermark": oracle.text(watermark)}))
            continue
        group["n"] += 1
        if row.get("v") is not None:
            group["s"] = (group["s"] or 0) + row["v"]
            group["hi"] = row["v"] if group["hi"] is None else max(group["hi"], row["v"])
    return windows.fired, late


def tumble(directory):
    fired, late = _tumble(directory)
    return {"counts.jsonl": "".join(oracle.json_line({"k": k, "window_start": oracle.text(start), **g})
                                    for start, _, k, g in fired), "late/": "".join(late)}


def session(directory):
    def merge(a, b):
        return {"n": a["n"] + b["n"], "s": a["s"] + b["s"], "null": a["null"] and b["null"]}

    windows = oracle.Session(700, lambda: {"n": 0, "s": 0, "null": True}, merge)
    late = []
    for _, row, ts, watermark in _rows(directory):
        windows.advance(watermark)
        if row is None:
            continue
        group = windows.add(row.get("k"), ts, watermark)
        if group is None:
            late.append(oracle.json_line({"id": row["id"], "ts": oracle.text(ts), "window_end": oracle.text(ts + 700)}))
            continue
        group["n"] += 1
        if row.get("v") is not None:
            group["s"] += row["v"]
            group["null"] = False
    rows = [oracle.json_line({"k": k, "window_start": oracle.text(start), "window_end": oracle.text(end), "n": g["n"],
                              "s": None if g["null"] else g["s"]}) for start, end, k, g in windows.fired]
    return {"sessions.jsonl": "".join(rows), "late.jsonl": "".join(late)}


def upsert(directory):
    latest = {}
    parts = []
    for _, row, _, _ in _rows(directory):
        if row is None or row.get("k") is None:
            continue
        latest[row["k"]] = [row["k"], row["id"], row["v"]]
        if row["v"] > 900:
            parts.append(row["id"] + "\n")
    fired, _ = _tumble(directory)
    counts = [[k, oracle.text(start), g["n"], g["s"]] for start, _, k, g in fired]
    counts.sort(key=lambda row: [(value is not None, value) for value in row])

    def dump(rows):
        return "".join(json.dumps(row) + "\n" for row in rows)

    return {"db:out.db:latest": dump(latest[k] for k in sorted(latest)), "db:out.db:counts": dump(counts),
            "parts/": "".join(parts)}


def bulk(directory):
    out, parts = [], []
    for path in sorted(glob.glob(os.path.join(directory, "*.jsonl"))):  # no event time: by name
        with open(path, encoding="utf-8") as f:
            for line in f:
                try:
                    row = json.loads(line)
                except ValueError:
                    continue
                value = row.get("v")
                out.append(row["id"].ljust(4000, "x") + "," + ("" if value is None else str(value)) + "\n")
                if value is not None and value > 0:
                    parts.append(row["id"].rjust(3000, "y") + "\n")
    return {"out.csv": "".join(out), "parts/": "".join(parts)}


def spool(directory):
    rows = []
    for path in glob.glob(os.path.join(directory, "*.jsonl")):
        with open(path, encoding="utf-8") as f:
            for line in f:
                try:
                    row = json.loads(line)
                except ValueError:
                    continue
                rows.append([row["id"], row.get("p")])
    rows.sort(key=lambda row: [(value is not None, value) for value in row])
    return {"db:out.db:t": "".join(json.dumps(row) + "\n" for row in rows)}


ORACLES = {"bulk": bulk, "spool": spool, "stateless": stateless, "tumble": tumble, "session": session, "upsert": upsert}
# Compared as a multiset: the order of sessions that end together is first-seen of their keys, which weir may count
# from a merged session's first row or from its last; docs/sql.md says which.
UNORDERED = {"sessions.jsonl"}
