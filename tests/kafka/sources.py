"""The Kafka source on real brokers: every record once, whatever dies; nothing lost and nothing jumped when the topic is
not what it was; and the reason said when nothing comes. The output is a file, so that the sink is not in question."""
import base64
import json
import os
import sqlite3
import tempfile
import time

from harness import secrets
from weirtest.report import Failure
from weirtest.weir import Weir

WAIT_S = 60


def expect(condition, what, log=""):
    if not condition:
        raise Failure(what, log)


def wait_for(what, condition, log=lambda: "", seconds=WAIT_S):
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise Failure(f"not within {seconds} s: {what}", log())
        time.sleep(0.05)


class Box:
    """A directory with one pipeline that copies a topic into a file."""

    def __init__(self, cluster, topic, options="", columns="id STRING", server=None):
        self.cluster, self.topic = cluster, topic
        self.directory = tempfile.mkdtemp(prefix="source-", dir=cluster.directory)
        self.weir = Weir(self.directory)
        self.out = os.path.join(self.directory, "out.jsonl")
        self.write(options, columns, server or cluster.bootstrap)

    def write(self, options, columns, server):
        names = ", ".join(column.strip().split()[0] for column in columns.split(","))
        with open(os.path.join(self.directory, "p.sql"), "w", encoding="utf-8") as f:
            f.write(f"""SET 'execution.checkpointing.interval' = '100 ms';
CREATE TABLE src ({columns}) WITH ('connector' = 'kafka', 'topic' = '{self.topic}', 'format' = 'json',
  'properties.bootstrap.servers' = '{server}' {options});
CREATE TABLE out ({columns.replace(" METADATA VIRTUAL", "")}) WITH ('connector' = 'filesystem', 'path' = '{self.out}', 'format' = 'json');
INSERT INTO out SELECT {names} FROM src;
""")

    def start(self):
        return self.weir.start("run", "p.sql")

    def run(self, want=0):
        return self.weir("run", "p.sql", want=want, timeout=WAIT_S)

    def rows(self):
        if not os.path.exists(self.out):
            return []
        with open(self.out, encoding="utf-8") as f:
            return [json.loads(line) for line in f if line.endswith("\n")]

    def ids(self):
        return sorted(row["id"] for row in self.rows())

    def status(self):
        return self.weir.status("p.sql")

    def source(self):
        return self.status()["sources"][0]

    def sealed_positions(self):
        """Of how many partitions there is a sealed one. An idle source has nothing to seal after that."""
        connection = sqlite3.connect(f"file:{self.directory}/p.weir/state.db?mode=ro", uri=True, timeout=60)
        try:
            blobs = [bytes(row[0]) for row in connection.execute("SELECT data FROM blob WHERE owner = 'scan:src'")]
        finally:
            connection.close()
        names = (f"p{self.topic}/{n}".encode() for n in range(len(self.source()["partitions"])))
        return sum(any(name in blob for blob in blobs) for name in names)

    def wait_ids(self, want, life):
        want = sorted(want)
        wait_for(f"{len(want)} rows", lambda: len(self.rows()) >= len(want), life.err)
        expect(self.ids() == want, f"rows are not the records: {len(self.ids())}, want {len(want)}", life.err())

    def wait_status(self, what, condition, life):
        def holds():
            try:
                return condition(self.status())
            except (Failure, KeyError, IndexError):
                return None
        return wait_for(what, holds, life.err)


def records(begin, end, partition=None):
    made = [{"value": json.dumps({"id": f"r{i:06d}"}), "key": f"k{i}"} for i in range(begin, end)]
    for record in made:
        if partition is not None:
            record["partition"] = partition
    return made


def ids(begin, end):
    return [f"r{i:06d}" for i in range(begin, end)]


def topic_of(cluster, name, partitions=1, **more):
    cluster.tool.create_topic(topic=name, partitions=partitions, **more)
    return name


BOUNDED = ", 'scan.bounded.mode' = 'latest-offset'"


def bounded_counts_every_offset(cluster):
    """offsets passed = rows + dead + skipped: control records, aborted data and tombstones are no rows, and counted."""
    topic = topic_of(cluster, "src-bounded", 2)
    tool = cluster.tool
    tool.produce(topic=topic, records=records(0, 50, 0))
    tool.produce(topic=topic, records=records(50, 100, 1), transactional_id="src-bounded-1")
    tool.produce(topic=topic, records=records(900, 920, 1), transactional_id="src-bounded-1", end="abort")
    tool.produce(topic=topic, records=[{"key": "k1", "value": None, "partition": 0},
                                       {"value": "no json", "partition": 0}])
    tool.produce(topic=topic, records=records(100, 110, 1), transactional_id="src-bounded-1")
    box = Box(cluster, topic, BOUNDED)
    life = box.run()
    expect(box.ids() == ids(0, 110), f"wrong rows: {len(box.ids())}", life.err)
    books = box.status()["books"]["scan:src"]
    # p0: 50 + tombstone + bad; p1: 50 + marker + 20 aborted + marker + 10 + marker
    want = {"read": 52 + 83, "decoded": 110, "dead": 1, "skipped": 24}
    got = {name: books.get(name, 0) for name in want}
    expect(got == want, f"the books say {got}, want {want}", life.err)


def a_rerun_after_any_death_reads_every_record_once(cluster):
    topic = topic_of(cluster, "src-kill", 3)
    cluster.tool.produce(topic=topic, records=records(0, 2000))
    box = Box(cluster, topic)
    begin = 2000
    for nap in (0.3, 0.6, 0.9, 1.2, 0.45, 0.75):
        with box.start() as life:
            cluster.tool.produce(topic=topic, records=records(begin, begin + 500))
            begin += 500
            time.sleep(nap)
            life.kill()
    cluster.tool.produce(topic=topic, records=records(begin, begin + 5))  # so that it has something to do
    with box.start() as life:
        box.wait_ids(ids(0, begin + 5), life)
        life.signal(15)
        code = life.wait().code
        expect(code == 0, f"SIGTERM is no failure: {code}", life.err())


def latest_offset_and_a_kill_lose_nothing(cluster):
    topic = topic_of(cluster, "src-latest", 2)
    cluster.tool.produce(topic=topic, records=records(0, 10))
    box = Box(cluster, topic, ", 'scan.startup.mode' = 'latest-offset'")
    with box.start() as life:
        box.wait_status("resolved positions are sealed",
                        lambda s: len(s["sources"][0]["partitions"]) == 2 and box.sealed_positions() == 2, life)
        life.kill()
    cluster.tool.produce(topic=topic, records=records(10, 40))
    with box.start() as life:
        box.wait_ids(ids(10, 40), life)


def startup_and_bounded_modes(cluster):
    topic = topic_of(cluster, "src-modes")
    made = records(0, 10, 0)
    for i, record in enumerate(made):
        record["timestamp"] = 1_700_000_000_000 + i * 1000
    cluster.tool.produce(topic=topic, records=made)
    cluster.tool.group_set(group="src-modes", offsets=[{"topic": topic, "partition": 0, "offset": 4}])
    cases = (
        ("'scan.startup.mode' = 'specific-offsets', 'scan.startup.specific-offsets' = 'partition:0,offset:7'"
         + BOUNDED, (7, 10)),
        ("'scan.startup.mode' = 'timestamp', 'scan.startup.timestamp-millis' = '1700000002500'" + BOUNDED, (3, 10)),
        ("'scan.startup.mode' = 'group-offsets', 'properties.group.id' = 'src-modes'" + BOUNDED, (4, 10)),
        ("'scan.bounded.mode' = 'specific-offsets', 'scan.bounded.specific-offsets' = 'partition:0,offset:3'", (0, 3)),
        ("'scan.bounded.mode' = 'timestamp', 'scan.bounded.timestamp-millis' = '1700000005000'", (0, 5)),
        ("'scan.bounded.mode' = 'group-offsets', 'properties.group.id' = 'src-modes'", (0, 4)),
        ("'scan.startup.mode' = 'latest-offset'" + BOUNDED, (0, 0)),
    )
    for options, (begin, end) in cases:
        box = Box(cluster, topic, ", " + options)
        life = box.run()
        expect(box.ids() == ids(begin, end), f"{options}: {box.ids()}", life.err)


def retention_parks_and_a_word_goes_on(cluster):
    topic = topic_of(cluster, "src-retention")
    cluster.tool.produce(topic=topic, records=records(0, 5, 0))
    box = Box(cluster, topic)
    with box.start() as life:
        box.wait_ids(ids(0, 5), life)
        life.signal(15)
        life.wait()
    cluster.tool.produce(topic=topic, records=records(5, 20, 0))
    cluster.tool.delete_records(topic=topic, before={"0": 12})
    with box.start() as life:
        status = box.wait_status("it parks", lambda s: s["parks"] and s, life)
        park = status["parks"][0]
        expect(park["rule"] == "kafka.retention" and "7 offsets" in park["facts"] and "--accept-gap" in park["verbs"],
               f"the park says {park}")
        expect(box.ids() == ids(0, 5), "a parked partition was read", life.err())
        life.signal(15)
        life.wait()
    box.weir("resolve", "p.sql", "--accept-gap", "src", "--yes", want=0)
    with box.start() as life:
        box.wait_ids(ids(0, 5) + ids(12, 20), life)
        books = box.wait_status("the gap is counted", lambda s: s["books"]["scan:src"].get("skipped") and s, life)
        expect(books["books"]["scan:src"]["skipped"] == 7, f"the books: {books['books']['scan:src']}")


def a_recreated_topic_parks(cluster):
    topic = topic_of(cluster, "src-again")
    cluster.tool.produce(topic=topic, records=records(0, 5, 0))
    box = Box(cluster, topic)
    with box.start() as life:
        box.wait_ids(ids(0, 5), life)
        life.signal(15)
        life.wait()
    cluster.tool.delete_topic(topic=topic)
    topic_of(cluster, topic)
    cluster.tool.produce(topic=topic, records=records(100, 120, 0))  # the old position lies within it
    with box.start() as life:
        status = box.wait_status("it parks", lambda s: s["parks"] and s, life)
        expect(status["parks"][0]["rule"] == "kafka.recreated", f"the park says {status['parks'][0]}")
        expect(box.ids() == ids(0, 5), "another topic's records were read", life.err())
        life.kill()
    box.weir("resolve", "p.sql", "--accept-gap", "src", "--yes", want=0)
    with box.start() as life:
        box.wait_ids(ids(0, 5) + ids(100, 120), life)
        time.sleep(0.5)
        life.kill()
    with box.start() as life:  # the word was for one start; the new id is what is known from now on
        cluster.tool.produce(topic=topic, records=records(120, 125, 0))
        box.wait_ids(ids(0, 5) + ids(100, 125), life)


def new_partitions_are_read_from_their_beginning(cluster):
    topic = topic_of(cluster, "src-grow")
    cluster.tool.produce(topic=topic, records=records(0, 5, 0))
    box = Box(cluster, topic, ", 'scan.startup.mode' = 'latest-offset', "
                              "'scan.topic-partition-discovery.interval' = '1 s'")
    with box.start() as life:
        box.wait_status("resolved", lambda s: len(s["sources"][0]["partitions"]) == 1, life)
        cluster.tool.grow_topic(topic=topic, partitions=3)
        cluster.tool.produce(topic=topic, records=records(5, 8, 1) + records(8, 9, 2))
        box.wait_ids(ids(5, 9), life)


def brokers_away_are_waited_for(cluster):
    topic = topic_of(cluster, "src-away")
    box = Box(cluster, topic, server="127.0.0.1:1")
    with box.start() as life:
        status = box.wait_status("degraded with the reason", lambda s: s["health"] == "degraded" and s, life)
        expect(any("source src" in reason for reason in status["reasons"]), f"reasons: {status['reasons']}")
        expect(life.running(), "it ended", life.err())
        life.signal(15)
        expect(life.wait().code == 0, "SIGTERM is no failure", life.err())
    cluster.tool.produce(topic=topic, records=records(0, 5, 0))
    box.write("", "id STRING", cluster.bootstrap)
    with box.start() as life:
        box.wait_ids(ids(0, 5), life)


def a_wrong_password_is_named_and_no_secret_is_shown(cluster):
    topic = topic_of(cluster, "src-password")
    box = Box(cluster, topic, ", 'properties.security.protocol' = 'SASL_PLAINTEXT', 'properties.sasl.mechanism' = "
                              "'SCRAM-SHA-512', 'properties.sasl.username' = 'alice', 'properties.sasl.password' = "
                              "'${file:pw}'", server=cluster.address("SASL_PLAINTEXT"))
    wrong = "no-such-" + secrets.PASSWORDS["alice"]
    with open(os.path.join(box.directory, "pw"), "w", encoding="utf-8") as f:
        f.write(wrong)
    with box.start() as life:
        status = box.wait_status("the reason", lambda s: any("uthentication" in r for r in s["reasons"]) and s, life)
        expect(life.running(), "it ended", life.err())
        texts = [life.err(), json.dumps(status)]
        life.kill()
    leaks = secrets.leaks(box.directory, allowed=[os.path.join(box.directory, "pw")], texts=texts)
    expect(not leaks, f"a secret was shown: {leaks}")


def metadata_and_keys(cluster):
    """All METADATA, the order of headers that share a name, and a header without a value."""
    topic = topic_of(cluster, "src-meta")
    headers = [["a", base64.b64encode(b"\x00\xff").decode()], ["n", None], ["a", base64.b64encode(b"").decode()]]
    cluster.tool.produce(topic=topic, records=[
        {"key": json.dumps({"id": "x"}), "value": json.dumps({"v": 1}), "partition": 0, "timestamp": 1_700_000_000_000,
         "headers": headers}])
    box = Box(cluster, topic, BOUNDED + ", 'key.format' = 'json', 'key.fields' = 'id', 'value.fields-include' = "
              "'EXCEPT_KEY'", columns="id STRING, v INT, `topic` STRING NOT NULL METADATA VIRTUAL, "
              "`partition` INT NOT NULL METADATA VIRTUAL, `offset` BIGINT NOT NULL METADATA VIRTUAL, "
              "`timestamp` TIMESTAMP_LTZ(3) NOT NULL METADATA VIRTUAL, `timestamp-type` STRING NOT NULL METADATA VIRTUAL, "
              "`leader-epoch` INT METADATA VIRTUAL, headers STRING NOT NULL METADATA VIRTUAL")
    life = box.run()
    want = [{"id": "x", "v": 1, "topic": topic, "partition": 0, "offset": 0, "timestamp": "2023-11-14 22:13:20Z",
             "timestamp-type": "CreateTime", "leader-epoch": 0, "headers": headers}]
    got = [dict(row, timestamp=row["timestamp"].replace(".000", ""), headers=json.loads(row["headers"]))
           for row in box.rows()]
    expect(got == want, f"rows: {box.rows()}", life.err)


CLUSTER = (bounded_counts_every_offset, startup_and_bounded_modes, metadata_and_keys,
           a_rerun_after_any_death_reads_every_record_once, latest_offset_and_a_kill_lose_nothing,
           retention_parks_and_a_word_goes_on, a_recreated_topic_parks, new_partitions_are_read_from_their_beginning,
           brokers_away_are_waited_for, a_wrong_password_is_named_and_no_secret_is_shown)
