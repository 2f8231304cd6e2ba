"""weir on the test cluster: one box (a directory, an instance name), its pipeline, topics of its own, and what must hold
of everything that it did."""
import collections
import json
import os
import shutil
import signal

from harness import judge, processes, secrets
from weirtest.books import require_balance
from weirtest.report import Failure
from weirtest.weir import KILLED, WORK_DIR, Started, Weir, last_line

# @out@ and @in@ are the case's topics; the address comes by the environment, as a user would have it.
TO_KAFKA = """
CREATE TABLE src (id STRING, k STRING, v BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'in/*.jsonl', 'format' = 'json'@follow@);
CREATE TABLE sink (id STRING, k STRING, v BIGINT)
  WITH ('connector' = 'kafka', 'topic' = '@out@', 'properties.bootstrap.servers' = '${KAFKA}',
        'key.format' = 'raw', 'key.fields' = 'k', 'value.format' = 'json'@sink@);
INSERT INTO sink SELECT id, k, v FROM src;
"""
FOLLOW = ", 'source.monitor-interval' = '20 ms'"
BOUNDED = ", 'scan.bounded.mode' = 'latest-offset'"
# The same rows, from and to Kafka.
THROUGH_KAFKA = """
CREATE TABLE src (id STRING, k STRING, v BIGINT)
  WITH ('connector' = 'kafka', 'topic' = '@in@', 'properties.bootstrap.servers' = '${KAFKA}', 'format' = 'json'@follow@);
CREATE TABLE sink (id STRING, k STRING, v BIGINT)
  WITH ('connector' = 'kafka', 'topic' = '@out@', 'properties.bootstrap.servers' = '${KAFKA}',
        'key.format' = 'raw', 'key.fields' = 'k', 'value.format' = 'json'@sink@);
INSERT INTO sink SELECT id, k, v FROM src;
"""
PATIENCE = 90  # seconds for what should take one; a loaded machine is no failure


def rows(first, count):
    return [{"id": f"r{i}", "k": f"k{i % 7}", "v": i} for i in range(first, first + count)]


class TopicReceipts:
    """A cluster on which receipts are kept in a topic; names differ, so that a check can run on both."""
    receipts, prefix = "topic", "t-"

    class Rules:
        def __init__(self, faults, prefix):
            self._faults, self._prefix = faults, prefix

        def __getattr__(self, name):
            call = getattr(self._faults, name)
            if name not in ("rule", "wait", "release", "clear"):
                return call
            return lambda rule, *more, **options: call(self._prefix + rule, *more, **options)

    def __init__(self, cluster):
        self._cluster = cluster

    def __getattr__(self, name):
        return getattr(self._cluster, name)

    @property
    def faults(self):
        return self.Rules(self._cluster.faults, self.prefix)


class GroupReceipts(TopicReceipts):
    receipts, prefix = "group", "g-"


def make_receipts_topic(cluster, name):
    cluster.tool.create_topic(topic=name + "-receipts", configs={"cleanup.policy": "compact"})
    return name + "-receipts"


class Box(Weir):
    receipts_topic = None  # unless they are in a topic

    def __init__(self, cluster, name, sql=TO_KAFKA, follow=FOLLOW, sink="", address=None, partitions=3, topics=("out",),
                 interval="100 ms", settings=(), receipts_topic=None):
        name = cluster.prefix + name
        self.cluster, self.name = cluster, name
        work = os.path.join(WORK_DIR, "kafka", "boxes", name)
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(os.path.join(work, "in"))
        super().__init__(work, env={"KAFKA": address or cluster.bootstrap})
        self.partitions = partitions
        self.topics = {role: f"{name}-{role}" for role in topics}
        for topic in self.topics.values():
            cluster.tool.create_topic(topic=topic, partitions=partitions)
        if cluster.receipts == "topic":
            self.receipts_topic = receipts_topic or make_receipts_topic(cluster, name)
            sink += f", 'weir.receipt' = 'topic:{self.receipts_topic}'"
        self.pipeline = name + ".sql"
        self.instance = "box"
        text = sql.replace("@follow@", follow).replace("@sink@", sink)
        for role, topic in self.topics.items():
            text = text.replace(f"@{role}@", topic)
        self.write(self.pipeline, text)
        self.write("weir.toml", f'instance = "{self.instance}"\n')
        self.args = ["run", self.pipeline, "--config", "weir.toml", "--progress", "never", "--trace", "trace.jsonl",
                     "--set", f"execution.checkpointing.interval={interval}", *settings]
        self.expected = []
        self.begun_at = cluster.faults.mark()

    @property
    def txid(self):
        return f"weir-{self.instance}-{self.name}-{self.cluster.cluster_id}"

    def path(self, *parts):
        return os.path.join(self.cwd, *parts)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()

    def put(self, count, name="a.jsonl"):
        """More input, in the file that is followed; these rows are expected from now on."""
        more = rows(len(self.expected), count)
        with open(self.path("in", name), "a", encoding="utf-8") as f:
            f.writelines(json.dumps(row) + "\n" for row in more)
        self.expected += more

    def produce(self, count, role="in", partitions=3, **order):
        """The same into the topic that is read."""
        more = rows(len(self.expected), count)
        self.cluster.tool.produce(topic=self.topics[role], records=[
            {"partition": row["v"] % partitions, "key": row["k"], "value": json.dumps(row)} for row in more], **order)
        self.expected += more

    def go(self, fault=None, env=None):
        return self.start(*self.args, fault=fault, env=env)

    def delivered(self, role="out"):
        return self.cluster.tool.rows(self.topics[role], self.cluster.directory)[0]

    def wait_delivered(self, count=None, process=None, seconds=PATIENCE):
        """Until so many rows (all that are expected) are there for a read_committed reader. More is an error that the
        judge names."""
        want = len(self.expected) if count is None else count

        def there():
            if process is not None and not process.running():
                raise Failure(f"ended while {want} rows were waited for", process.wait().log())
            return len(self.delivered()) >= want
        processes.until(f"{want} rows are delivered; there are {len(self.delivered())}", there, seconds, 0.2,
                        lambda: process.err() if process is not None else self.log())

    def stop(self, process, code=0):
        process.signal(signal.SIGTERM)
        return self.ended(process, code)

    def ended(self, process, code=0):
        life = process.wait(PATIENCE)
        self.lives.append(life)
        if life.code != code:
            raise Failure(f"ended with {life.code}, want {code}: {last_line(life.err)}", self.log())
        return life

    def killed(self, process):
        life = process.kill()
        self.lives.append(life)
        if life.code != KILLED:
            raise Failure(f"ended with {life.code} before it was killed: {last_line(life.err)}", self.log())

    def state(self, process=None):
        """`weir status --json`."""
        return self.status(self.pipeline)

    def wait_status(self, what, condition, process, seconds=PATIENCE):
        """Until the status says so; the status."""
        seen = []

        def holds():
            if not process.running():
                raise Failure(f"ended while waiting: {what}", process.wait().log())
            life = self("status", self.pipeline, "--json")
            del self.lives[-1]
            status = json.loads(life.out) if life.code == 0 else None
            seen[:] = [str(status)]
            try:
                return status if status and condition(status) else None
            except (KeyError, IndexError):
                return None  # a start that has not got that far tells less
        return processes.until(what, holds, seconds, 0.2, lambda: f"status: {seen[0]}\n" + process.err())

    def require_exact(self, what="", role="out"):
        """Rows once each, keys where they belong, books, trace, one producer for each delivery, no secret anywhere."""
        records = self.delivered(role)
        judge.judge_rows(self.expected, records, "id").require(f"{self.name} {what}", self.log())
        for record in records:
            row = judge.value(record)
            if record["key"] != row["k"]:
                raise Failure(f"key {record['key']} of {row}", self.log())
        self.require_numbered(records)
        state = self.state()
        require_balance(state, self.log())
        waiting = [t for t in state["targets"] if t["undelivered_rows"]]
        if waiting:
            raise Failure(f"rows wait that nobody delivers: {waiting}", self.log())
        self("trace", "verify", "trace.jsonl", want=0)
        self.require_one_producer_each()
        self.require_no_secret()

    def require_numbered(self, records):
        """Each row carries weir-e: lineage, epoch, number in the epoch; no two the same."""
        seen = {}
        for record in records:
            marks = [value for name, value in record["headers"] if name == "weir-e"]
            if len(marks) != 1 or len(judge.base64_bytes(marks[0])) != 32:
                raise Failure(f"headers of {judge.place(record)}: {record['headers']}", self.log())
            if marks[0] in seen:
                raise Failure(f"weir-e of {judge.place(record)} is that of {seen[marks[0]]}", self.log())
            seen[marks[0]] = judge.place(record)

    def events(self, txid=None):
        return self.cluster.faults.events(since=self.begun_at, txid=txid or self.txid)

    def require_one_producer_each(self, least=1):
        """From what passed the proxy: each EndTxn belongs to a producer epoch of its own that one InitProducerId was
        given, and after it nothing but a retry of it was sent in that epoch."""
        ended, ends, given = {}, 0, collections.Counter()
        for event in self.events():
            if event["what"] == "answer" and event["key"] == "InitProducerId" and "did" not in event and event.get("error") == 0:
                given[(event["pid"], event["epoch"])] += 1
            if event["what"] != "request" or "did" in event or event.get("epoch", -1) < 0:
                continue
            name = (event["pid"], event["epoch"])
            if event["key"] == "EndTxn":
                ends += name not in ended
                ended[name] = event
            elif name in ended and event["key"] != "InitProducerId":
                raise Failure(f"{event['key']} after EndTxn in producer epoch {name}: a producer was used again",
                              json.dumps(event) + "\n" + self.log())
        wrong = {name: given[name] for name in ended if given[name] != 1}
        if wrong:
            raise Failure(f"not one InitProducerId for each delivery: {wrong}", self.log())
        if ends < least:
            raise Failure(f"only {ends} transactions of {self.txid} passed the proxy", self.log())

    def require_no_secret(self, allowed=()):
        found = secrets.leaks(self.cwd, [self.path(name) for name in allowed],
                              [life.command + life.err for life in self.lives] + [life.out for life in self.lives])
        if found:
            raise Failure("a secret leaked: " + "; ".join(found), self.log())


def copy_of(box, name):
    """A directory restored from a backup, or the disk of a twin: everything but the running process."""
    copy = os.path.join(WORK_DIR, "kafka", "boxes", name)
    shutil.rmtree(copy, ignore_errors=True)  # of the same check on another version of the brokers
    shutil.copytree(box.cwd, copy, symlinks=True, ignore=shutil.ignore_patterns("status.sock"))


__all__ = ["Box", "TopicReceipts", "GroupReceipts", "make_receipts_topic", "Started", "copy_of", "rows", "TO_KAFKA", "THROUGH_KAFKA", "FOLLOW", "BOUNDED", "PATIENCE"]
