"""Watermarks that travel: what one weir writes by key, and so out of order, is not late for the weir that reads it."""
import base64
import collections
import json

from boxes import BOUNDED, Box
from harness import judge
from weirtest.report import Failure
from weirtest.weir import KILLED

SECONDS = 60
STEP_MS = 100
BEGIN_MS = 1_788_000_000_000
# Two files over the same minute. A file is read until it is half a minute ahead of the other: by key, the rows of a
# partition go to and fro by as much.
FIRST = """
CREATE TABLE src (id STRING, k STRING, t BIGINT, ts AS TO_TIMESTAMP_LTZ(t, 3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
  WITH ('connector' = 'filesystem', 'path' = 'in/*.jsonl', 'format' = 'json');
CREATE TABLE mid (id STRING, k STRING, t BIGINT) WITH (@kafka@, 'topic' = '@mid@');
CREATE TABLE counts (k STRING, t BIGINT, n BIGINT) WITH (@kafka@, 'topic' = '@counts@');
CREATE TABLE dead (code STRING, k STRING) WITH (@kafka@, 'topic' = '@dead@');
INSERT INTO mid SELECT id, k, t FROM src;
INSERT INTO counts SELECT k, MAX(t), COUNT(*)
  FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '5' SECOND) GROUP BY k, window_start, window_end;
INSERT INTO dead SELECT code, 'd' FROM DEAD_LETTERS(src);
""".replace("@kafka@", "'connector' = 'kafka', 'properties.bootstrap.servers' = '${KAFKA}', 'key.format' = 'raw', "
            "'key.fields' = 'k', 'value.format' = 'json'@sink@")
SECOND = """
CREATE TABLE mid (k STRING, t BIGINT, ts AS TO_TIMESTAMP_LTZ(t, 3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
  WITH ('connector' = 'kafka', 'topic' = '@mid@', 'properties.bootstrap.servers' = '${KAFKA}', 'value.format' = 'json',
        'key.format' = 'raw', 'key.fields' = 'k', 'scan.watermark.alignment.max-drift' = '1 h',
        'weir.watermark' = '@mode@'@follow@);
CREATE TABLE out (k STRING, s TIMESTAMP(3), n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
CREATE TABLE late (k STRING, t BIGINT) WITH ('connector' = 'filesystem', 'path' = 'late.jsonl', 'format' = 'json');
CREATE VIEW w AS SELECT k, window_start AS s, COUNT(*) AS n
  FROM TUMBLE(TABLE mid, DESCRIPTOR(ts), INTERVAL '1' SECOND) GROUP BY k, window_start, window_end;
INSERT INTO out SELECT k, s, n FROM w;
INSERT INTO late SELECT k, t FROM LATE(w);
"""
KEYS = 7
WINDOW_MS = 5000  # of counts
DEATHS = ["seal.after_commit=kill@3", "deliver.before_commit=kill@1", "deliver.between_commit_and_ack=kill@1"]


def written_by_key(cluster):
    """The first pipeline, dead in the middle and run to its end."""
    box = Box(cluster, "by-key", FIRST, interval="1 ms", topics=("mid", "counts", "dead"),
              settings=("--set", "weir.batch-rows=20"))
    for name in ("a", "b"):
        with open(box.path("in", name + ".jsonl"), "w", encoding="utf-8") as f:
            for i in range(SECONDS * 1000 // STEP_MS):
                f.write(json.dumps({"id": f"{name}{i}", "k": f"k{i % KEYS}", "t": BEGIN_MS + i * STEP_MS}) + "\n")
            f.write("no json\n")
    for point in DEATHS:
        box(*box.args, fault=f"{point},scan.after_batch=wait:20@every", want=KILLED)
    box(*box.args, want=0)
    return box


def require_headers(box):
    """No row at or below the watermark that a row before it in its partition carries; it gets on, and never goes back."""
    highest = {}
    for role in ("mid", "counts"):
        seen = collections.defaultdict(lambda: -1)
        rows = box.delivered(role)
        for row in rows:
            place, time = row["partition"], json.loads(row["value"])["t"]
            if role == "counts":  # a window's time is its last millisecond
                time = time // WINDOW_MS * WINDOW_MS + WINDOW_MS - 1
            headers = {name: base64.b64decode(value) for name, value in row["headers"]}
            carried = int.from_bytes(headers["weir-wm"], "big", signed=True) if "weir-wm" in headers else -1
            if "weir-e" not in headers or carried < seen[place] or time <= carried:
                raise Failure(f"{role}/{place}: {row} behind {seen[place]}, carries {carried}", box.log())
            seen[place] = carried
        if not rows:
            raise Failure(f"{role} is empty", box.log())
        highest[role] = max(seen.values())
    if highest["mid"] < BEGIN_MS + SECONDS * 1000 // 3:
        raise Failure(f"the watermark got to {highest['mid'] - BEGIN_MS} ms of {SECONDS} s only", box.log())
    dead = box.delivered("dead")
    if len(dead) != 2 or any(name == "weir-wm" for row in dead for name, _ in row["headers"]):
        raise Failure(f"dead letters have no time: {dead}", box.log())


def reader(first, name, mode, follow):
    sql = SECOND.replace("@mode@", mode).replace("@mid@", first.topics["mid"])
    return Box(first.cluster, "reads-" + name, sql, follow=follow, interval="1 ms", topics=(),
               settings=("--set", "weir.batch-rows=20"))


def read_by(first, mode):
    """The second pipeline, dead in the middle, too: (late rows, windows)."""
    box = reader(first, mode, mode, BOUNDED)
    for _ in range(2):
        box(*box.args, fault="seal.after_commit=kill@3,scan.after_batch=wait:5@every", want=KILLED)
    box(*box.args, want=0)
    late, out = ([json.loads(line) for line in box.read(name).splitlines()] for name in ("late.jsonl", "out.jsonl"))
    return late, collections.Counter({(row["k"], row["s"]): row["n"] for row in out}), len(out)


def not_late_for_the_next(cluster):
    first = written_by_key(cluster)
    require_headers(first)
    rows = 2 * SECONDS * 1000 // STEP_MS
    late, windows, lines = read_by(first, "upstream")
    want = collections.Counter()
    for row in map(judge.value, first.delivered("mid")):
        want[row["k"], row["t"] // 1000] += 1
    if late or windows.total() != rows or lines != len(want) or sorted(windows.values()) != sorted(want.values()):
        raise Failure(f"{len(late)} late, {windows.total()} of {rows} rows in {lines} of {len(want)} windows", first.log())
    # The same by event times: half a minute of disorder is late for a bound of a second. Nothing is lost all the same.
    late, windows, _ = read_by(first, "declared")
    if len(late) < rows // 10 or len(late) + windows.total() != rows:
        raise Failure(f"declared: {len(late)} late, {windows.total()} in windows, of {rows}", first.log())
    others_are_counted(first)


def others_are_counted(first):
    """Records that carry no watermark, a stranger's or a wrong one, are read, and counted in the status."""
    box = reader(first, "others", "upstream", "")

    def without(status):
        return status["sources"][0]["rows_without_watermark"]

    with box.go() as process:
        before = without(box.wait_status("all rows", lambda status: status["sources"][0]["lag"] == 0, process))
        record = {"partition": 0, "key": "k0", "value": json.dumps({"t": BEGIN_MS + 1})}
        first.cluster.tool.produce(topic=first.topics["mid"], records=[
            record, record | {"headers": [["weir-wm", base64.b64encode(b"short").decode()]]}])
        box.wait_status("two more", lambda status: without(status) == before + 2, process)
        box.stop(process)


CHECKS = [not_late_for_the_next]
