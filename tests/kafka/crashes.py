"""Deaths on the real cluster: at each named point of delivery and takeover, in a row, and in the middle of reading."""
import json
import os
import random
import re

from boxes import BOUNDED, PATIENCE, THROUGH_KAFKA, Box
from harness import judge, processes
from weirtest.report import Failure
from weirtest.weir import KILLED, ROOT, last_line

POINTS = re.compile(r"^(deliver|takeover)\.")
OF_TAKEOVER = re.compile(r"^takeover\.")
OCCURRENCES = (1, 2, 8)


def declared_points():
    with open(os.path.join(ROOT, "src", "io", "fault.cc"), encoding="utf-8") as f:
        block = re.search(r"kFaultPoints\[\]\s*=\s*\{(.*?)\};", f.read(), re.S)
    points = [p for p in re.findall(r'"([a-z_.]+)"', block.group(1)) if POINTS.match(p)]
    if len(points) < 12:
        raise Failure(f"only {points} of src/io/fault.cc concern delivery: the list has moved")
    return points


def feed_until_dead(box, process, what, rounds=16):
    """New rows, one delivery after the other, until the fault has fired; its witness."""
    for _ in range(rounds):
        box.put(15)
        processes.until(f"{what}: rows are delivered, or it dies",
                        lambda: not process.running() or len(box.delivered()) >= len(box.expected), PATIENCE, 0.1,
                        process.err)
        if not process.running():
            break
    life = process.wait(1) if not process.running() else process.kill()
    box.lives.append(life)
    with open(box.path(".witness"), encoding="utf-8") as f:
        witness = f.read()
    point = what.split("@")[0]
    if life.code != KILLED or f"{point} kill " not in witness:
        raise Failure(f"not killed at {what}: {life.code}, witness {witness!r}: {last_line(life.err)}", box.log())


def at_point(point, occurrence):
    what = f"{point}@{occurrence}"

    def check(cluster):
        box = Box(cluster, "at-" + re.sub(r"[^a-z0-9]", "-", what))
        box.put(20)
        if OF_TAKEOVER.match(point):
            # Something to take over: a life that dies in doubt.
            with box.go(fault="deliver.before_commit=kill@1") as process:
                feed_until_dead(box, process, "deliver.before_commit@1")
            for _ in range(occurrence):  # a start comes but once in a life
                with box.go(fault=f"{point}=kill@1") as process:
                    feed_until_dead(box, process, f"{point}@1")
        else:
            with box.go(fault=f"{point}=kill@{occurrence}") as process:
                feed_until_dead(box, process, what)
        with box.go() as process:
            box.put(10)
            box.wait_delivered(process=process)
            box.stop(process)
        box.require_exact(f"killed at {what}")
    check.__name__ = what
    return check


def matrix(rng, full):
    """Each point once, at an occurrence that changes with the seed; full: all."""
    checks = []
    for point in declared_points():
        checks += [at_point(point, n) for n in (OCCURRENCES if full else [rng.choice(OCCURRENCES)])]
    return checks


def deaths_in_a_row(seed, kills=6):
    """Kafka to Kafka, bounded, killed by rows read again and again: the ends that were looked up once still hold."""
    def check(cluster):
        rng = random.Random(seed)
        box = Box(cluster, "deaths-in-a-row", THROUGH_KAFKA, BOUNDED, topics=("in", "out"), interval="20 ms",
                  settings=("--set", "weir.batch-rows=16"))
        box.produce(1500)
        died = 0
        for n in range(1, 60):
            fault = {}
            if died < kills:
                fault = {"fault": f"scan.after_batch=kill@{rng.randrange(4, 14)},scan.after_batch=delay:30@every"}
            life = box(*box.args, timeout=PATIENCE, **fault)
            if life.code == 0:
                break
            if life.code != KILLED or not life.witness:
                raise Failure(f"life {n} ended with {life.code}: {last_line(life.err)}", box.log())
            died += 1
        if died < 3:
            raise Failure(f"only {died} deaths", box.log())
        box.require_exact(f"after {died} deaths")
    check.__name__ = "deaths_in_a_row"
    return check


def latest_offset_loses_nothing(cluster):
    """scan.startup.mode = latest-offset, killed before any record: the first epoch has recorded where it began."""
    box = Box(cluster, "latest", THROUGH_KAFKA, ", 'scan.startup.mode' = 'latest-offset'", topics=("in", "out"))
    box.produce(10)  # before it begins: not for it
    box.expected = []
    with box.go() as process:
        box.wait_status("the first epoch is sealed", lambda s: s.get("sealed_epoch", 0) > 0, process)
        box.killed(process)
    box.expected = []
    more = [{"id": f"new{i}", "k": "k", "v": i} for i in range(12)]
    cluster.tool.produce(topic=box.topics["in"], records=[
        {"partition": i % 3, "key": "k", "value": json.dumps(row)} for i, row in enumerate(more)])
    box.expected = more
    with box.go() as process:
        box.wait_delivered(process=process)
        box.stop(process)
    box.require_exact("begun at the latest offset")


def what_a_reader_skips(cluster):
    """Aborted rows, control records and tombstones are skipped and counted; null keys and headers are read."""
    sql = """
CREATE TABLE src (id STRING, v BIGINT, p INT METADATA FROM 'partition', o BIGINT METADATA FROM 'offset')
  WITH ('connector' = 'kafka', 'topic' = '@in@', 'properties.bootstrap.servers' = '${KAFKA}', 'format' = 'json'@follow@);
CREATE TABLE out (id STRING, v BIGINT, p INT, o BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', 'format' = 'json');
INSERT INTO out SELECT id, v, p, o FROM src;
"""
    box = Box(cluster, "skips", sql, BOUNDED, topics=("in",))
    tool, topic = cluster.tool, box.topics["in"]

    def records(name, count):
        return [{"partition": i % 3, "key": None, "value": json.dumps({"id": f"{name}{i}", "v": i})} for i in range(count)]
    tool.produce(topic=topic, records=records("plain", 30))
    tool.produce(topic=topic, records=records("committed", 30), transactional_id="skips-1")
    tool.produce(topic=topic, records=records("aborted", 30), transactional_id="skips-1", end="abort")
    tool.produce(topic=topic, records=[{"partition": 1, "key": "dead", "value": None}])
    tool.produce(topic=topic, records=[{"partition": 2, "key": "bad", "value": "no json"}])
    tool.produce(topic=topic, records=records("last", 3))
    box(*box.args, want=0, timeout=PATIENCE)
    with open(box.path("out.jsonl"), encoding="utf-8") as f:
        got = [json.loads(line) for line in f]
    wanted = [{"id": f"{name}{i}", "v": i} for name, n in (("plain", 30), ("committed", 30), ("last", 3)) for i in range(n)]
    places = {(r["partition"], r["offset"]): judge.value(r).get("id") for r in tool.rows(topic, box.cwd)[0] if r["value"]}
    verdict = judge.judge_rows(wanted, [{"partition": row["p"], "offset": row["o"], "value": json.dumps(
        {"id": row["id"], "v": row["v"]})} for row in got], "id")
    verdict.require("rows that were read", box.log())
    if any(places[(row["p"], row["o"])] != row["id"] for row in got):
        raise Failure("partition and offset are not the record's", box.log())
    books = box.state()["books"]["scan:src"]
    ends = sum(tool.offsets(topic=topic)["offsets"].values())
    if books["read"] != ends or books["decoded"] != 63 or books["dead"] != 1:
        raise Failure(f"offsets up to {ends}, but the books say {books}", box.log())


BESIDE = [latest_offset_loses_nothing, what_a_reader_skips]
