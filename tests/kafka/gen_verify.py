"""weir gen into topics and weir verify over them, on real brokers. Kafka's own client is the second opinion: what it reads
is held against the files that gen writes for the same seed."""
import base64
import json
import os
import shutil
import signal
import time

from weirtest.report import Failure
from weirtest.weir import KILLED, WORK_DIR, Weir

from boxes import make_receipts_topic
from harness import processes
from harness.secrets import PASSWORDS

GEN = ["--partitions", "3", "--records", "9000", "--rate", "300", "--items", "30", "--jitter", "1500 ms", "--bound", "5 s",
       "--late-by", "30 s", "--out-of-order", "0.02", "--late", "0.02", "--duplicates", "0.01", "--poison", "0.01",
       "--seed", "4"]


def prepared(name):
    work = os.path.join(WORK_DIR, "kafka", "gen-verify", name)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    return Weir(work)


def servers(cluster):
    return ["--kafka", "bootstrap.servers=" + cluster.bootstrap]


def verify(weir, ledger, *words, want):
    life = weir("verify", ledger, *words, "--json", want=want)
    return json.loads(life.out)


def faults_of(verdict):
    return {(entry["layer"], name): entry[name] for entry in verdict["layers"]
            for name in ("missing", "duplicate", "conflicting", "foreign", "on_time") if entry[name]}


def require_faults(verdict, want):
    if faults_of(verdict) != want:
        raise Failure(f"want {want}, got {faults_of(verdict)}", json.dumps(verdict, indent=1))


def files_of(weir):
    """Partition -> lines, of the same events as gen writes them into files."""
    weir("gen", "files.ledger", "--to", "files", *GEN, want=0)
    lines = {}
    for p in range(3):
        with open(os.path.join(weir.cwd, "files", f"part-{p}.jsonl"), "rb") as f:
            lines[p] = f.read().split(b"\n")[:-1]
    return lines


def require_topic(cluster, topic, weir, lines):
    rows, _ = cluster.tool.rows(topic, weir.cwd)
    got = {p: [] for p in lines}
    for row in rows:
        # What is no UTF-8 comes in another field; its text is held against the files by verify alone.
        got[row["partition"]].append(row["value"].encode() if row.get("value") is not None else None)
        item = json.loads(row["value"])["item"] if row.get("value") and row["value"].endswith("}") else None
        if item is not None and row["key"] != item:
            raise Failure(f"record {row} has the key {row['key']}")
    for p, want in lines.items():
        different = [i for i, pair in enumerate(zip(want, got[p])) if pair[1] is not None and pair[0] != pair[1]]
        if len(want) != len(got[p]) or different:
            raise Failure(f"partition {p}: {len(got[p])} of {len(want)} records, first other one {different[:1]}")


def gen_into_a_topic(cluster, topic):
    """Every record once, in order, in its partition, with its key; and verify agrees, aborted records apart."""
    weir = prepared("topic")
    lines = files_of(weir)
    weir("gen", "t.ledger", "--to", "kafka:" + topic, *servers(cluster), *GEN, want=0)
    require_topic(cluster, topic, weir, lines)
    where = ["--raw", "kafka:" + topic, *servers(cluster)]
    require_faults(verify(weir, "t.ledger", *where, want=0), {})
    # A transaction that was aborted is not there for anybody.
    cluster.tool.produce(topic=topic, transactional_id="gen-verify", end="abort",
                         records=[{"partition": 0, "value": "aborted"}])
    require_faults(verify(weir, "t.ledger", *where, want=0), {})
    again = weir("gen", "u.ledger", "--to", "kafka:" + topic, *servers(cluster), *GEN, want=73)
    if topic not in again.err or os.path.exists(os.path.join(weir.cwd, "u.ledger")):
        raise Failure("a topic that holds records was not refused by its name", weir.log())


def verify_waits_for_what_is_open(cluster, topic):
    """A transaction that is open when verify comes is waited for: the rows of a commit are shown after it was answered. One
    that stays open ends the reading, and what stands behind it is missing."""
    weir = prepared("open")
    lines = files_of(weir)
    tool = cluster.tool
    tool.producer_open(server=cluster.bootstrap, name="open", transactional_id="gen-verify-open")
    tool.producer_begin(name="open")
    for p, values in lines.items():
        for i in range(0, len(values), 1000):
            tool.producer_send(name="open", topic=topic, records=[
                {"partition": p, "value_b64": base64.b64encode(value).decode()} for value in values[i:i + 1000]])
    words = ["verify", "files.ledger", "--raw", "kafka:" + topic, *servers(cluster), "--json"]
    life = weir(*words, want=65)
    require_faults(json.loads(life.out), {("raw", "missing"): sum(map(len, lines.values()))})
    with weir.start(*words) as process:
        time.sleep(1.5)
        if not process.running():
            raise Failure("an open transaction was not waited for", process.wait().log())
        tool.ask("producer_commit", name="open")
        life = process.wait()
    tool.producer_close(name="open")
    if life.code != 0:
        raise Failure(f"verify ended with {life.code}", life.log())
    require_faults(json.loads(life.out), {})


def verify_says_no(cluster, topic):
    weir = prepared("says-no")
    lines = files_of(weir)
    weir("gen", "t.ledger", "--to", "kafka:" + topic, *servers(cluster), *GEN, want=0)
    where = ["--raw", "kafka:" + topic, *servers(cluster)]
    twice = next(line for line in lines[1] if line.endswith(b"}") and b"many" not in line and b"02-30" not in line
                 and b"\xff" not in line and lines[1].count(line) == 1).decode()
    cluster.tool.produce(topic=topic, records=[{"partition": 0, "value": twice}, {"partition": 2, "value": "stranger"},
                                               {"partition": 2, "value": twice.replace('"amount":', '"amount":1')}])
    require_faults(verify(weir, "t.ledger", *where, want=65),
                   {("raw", "duplicate"): 2, ("raw", "conflicting"): 1, ("raw", "foreign"): 1})
    cluster.tool.delete_records(topic=topic, before={"0": 5})
    verdict = verify(weir, "t.ledger", *where, want=65)
    if faults_of(verdict).get(("raw", "missing")) not in (4, 5):  # a copy may be among the five
        raise Failure(f"deleted records are not missing: {faults_of(verdict)}")


def refused_with_the_reason(cluster, topic):
    """A wrong password, a topic that is not there or has other partitions, a property that weir sets itself."""
    weir = prepared("refused")
    with open(os.path.join(weir.cwd, "pw"), "w", encoding="utf-8") as f:
        f.write(PASSWORDS["mallory"] + "\n")
    sasl = ["--kafka", "bootstrap.servers=" + cluster.address("SASL_PLAINTEXT"),
            "--kafka", "security.protocol=SASL_PLAINTEXT", "--kafka", "sasl.mechanism=SCRAM-SHA-256",
            "--kafka", "sasl.username=alice", "--kafka", "sasl.password=${file:pw}"]
    for words, code, says in (
            ([*sasl, "--to", "kafka:" + topic], 75, "authentication"),
            ([*servers(cluster), "--to", "kafka:not-there"], 78, "not-there"),
            ([*servers(cluster), "--to", "kafka:" + topic, "TWO"], 78, "3 partitions"),
            ([*servers(cluster), "--to", "kafka:" + topic, "--kafka", "acks=1"], 64, "acks"),
            ([*servers(cluster), "--to", "files"], 64, "--kafka"),
            (["--to", "kafka:" + topic], 64, "bootstrap.servers")):
        options = ["--partitions", "2", *GEN[2:]] if words[-1] == "TWO" else GEN
        life = weir("gen", "t.ledger", *options, *[word for word in words if word != "TWO"], want=code)
        if says.lower() not in life.err.lower() or PASSWORDS["mallory"] in life.err + life.out.decode():
            raise Failure(f"{life.err.strip()} does not say {says}", weir.log())
        if os.path.exists(os.path.join(weir.cwd, "t.ledger")):
            raise Failure("a refused gen left a ledger that would be in the way", weir.log())


def once_over_a_bad_network(cluster, topic):
    """Answers to Produce are lost and connections cut: the records are there once each, and gen knows it."""
    weir = prepared("network")
    lines = files_of(weir)
    cluster.faults.rule("lost", "Produce", "drop_close", on="answer", count=6, skip=1)
    try:
        with weir.start("gen", "t.ledger", "--to", "kafka:" + topic, *servers(cluster), *GEN) as gen:
            cluster.faults.wait("lost", 2, timeout=60)
            life = gen.wait(180)
    finally:
        cluster.faults.quiet()
    if life.code != 0:
        raise Failure(f"gen ended with {life.code}", life.err)
    require_topic(cluster, topic, weir, lines)
    require_faults(verify(weir, "t.ledger", "--raw", "kafka:" + topic, *servers(cluster), want=0), {})


KAFKA = "'connector' = 'kafka', 'properties.bootstrap.servers' = '{servers}', 'format' = 'json', 'topic' = '{topic}"
EVENT = "part INT, seq BIGINT, item STRING, amount BIGINT, ts TIMESTAMP(3)"
WINDOW = "window_start TIMESTAMP(3), window_end TIMESTAMP(3), item STRING, n BIGINT, total BIGINT"
PIPELINE = f"""SET 'execution.checkpointing.interval' = '100 ms';
CREATE TABLE events ({EVENT}, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
  WITH ({{source}});
CREATE TABLE cleaned ({EVENT}) WITH ({KAFKA}-cleaned'{{receipt}});
CREATE TABLE counts ({WINDOW}) WITH ({KAFKA}-counts', 'key.format' = 'raw', 'key.fields' = 'item'{{receipt}});
CREATE TABLE late ({EVENT}) WITH ({KAFKA}-late'{{receipt}});
CREATE TABLE dead (code STRING, raw BYTES) WITH ({KAFKA}-dead'{{receipt}});
CREATE VIEW by_item AS
  SELECT window_start, window_end, item, COUNT(*) AS n, SUM(amount) AS total
  FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_start, window_end, item;
INSERT INTO cleaned SELECT part, seq, item, amount, ts FROM events;
INSERT INTO counts SELECT window_start, window_end, item, n, total FROM by_item;
INSERT INTO late SELECT part, seq, item, amount, ts FROM LATE(by_item);
INSERT INTO dead SELECT code, raw FROM DEAD_LETTERS(events);
"""
LAYERS = ("cleaned", "counts", "late", "dead")


FILES = "'connector' = 'filesystem', 'path' = 'events', 'format' = 'json'"
FROM_KAFKA = KAFKA + "', 'scan.startup.mode' = 'earliest-offset'"
BOUNDED = FROM_KAFKA + ", 'scan.bounded.mode' = 'latest-offset'"


def with_pipeline(cluster, topic, weir, source):
    """Topics and pipeline of all layers; and the words with which verify judges them."""
    for layer in LAYERS:
        cluster.tool.create_topic(topic=f"{topic}-{layer}", partitions=3)
    receipt = f", 'weir.receipt' = 'topic:{make_receipts_topic(cluster, topic)}'" if cluster.receipts == "topic" else ""
    names = {"servers": cluster.bootstrap, "topic": topic, "receipt": receipt}
    text = PIPELINE.format(source=source.format(**names), **names)
    with open(os.path.join(weir.cwd, topic + ".sql"), "w", encoding="utf-8") as f:
        f.write(text)
    layers = [word for layer in LAYERS
              for word in ("--windows" if layer == "counts" else f"--{layer}", f"kafka:{topic}-{layer}")]
    return ["--raw", "events" if source == FILES else "kafka:" + topic, *layers, "--window", "10 s", *servers(cluster)]


def require_exact(verdict, least_windows):
    require_faults(verdict, {})
    judged = {entry["layer"]: entry["judged"] for entry in verdict["layers"]}
    if verdict["verdict"] != "exact" or judged["windows"] < least_windows or not judged["late"] or not judged["dead"]:
        raise Failure(f"too little was judged: {judged}", json.dumps(verdict, indent=1))




def run_of(topic):
    """The file has the topic's name: another directory's pipeline of the same name would find receipts of a stranger."""
    return ["run", topic + ".sql", "--progress", "never", "--trace", "trace.jsonl"]


# While it reads, then at the first delivery of each life, however much that has taken by then; then in a start.
DEATHS = ["scan.after_batch=kill@9", "seal.after_commit=kill@2", "deliver.after_inflight=kill@1",
          "deliver.before_commit=kill@1", "deliver.between_commit_and_ack=kill@1", "takeover.after_decide=kill@1"]


def killed_and_exact(cluster, topic, source, to):
    """Every layer, dead at six points: exact for a reader of committed records. Then one row more among the results, by a
    stranger: not exact."""
    weir = prepared(topic)
    where = with_pipeline(cluster, topic, weir, source)
    weir("gen", "t.ledger", *to, *GEN, want=0)
    for point in DEATHS:
        life = weir(*run_of(topic), "--set", "weir.batch-rows=64", fault=f"{point},scan.after_batch=wait:20@every", want=KILLED)
        if not any(line.startswith(point.split("=")[0] + " kill ") for line in life.witness):
            raise Failure(f"no witness of {point}", weir.log())
    weir(*run_of(topic), want=0)
    require_exact(verify(weir, "t.ledger", *where, "--input-ended", want=0), 100)
    weir("trace", "verify", "trace.jsonl", want=0)
    rows, _ = cluster.tool.rows(topic + "-counts", weir.cwd)
    cluster.tool.produce(topic=topic + "-counts", records=[{"partition": 1, "value": rows[7]["value"]}])
    require_faults(verify(weir, "t.ledger", *where, "--input-ended", want=65), {("windows", "duplicate"): 1})


def files_to_topics_killed_and_exact(cluster, topic):
    killed_and_exact(cluster, topic, FILES, ["--to", "events"])


def topics_to_topics_killed_and_exact(cluster, topic):
    killed_and_exact(cluster, topic, BOUNDED, ["--to", "kafka:" + topic, *servers(cluster)])


def in_time(weir, where, pipeline, condition):
    """The verdict once it is exact and as wanted. What is missing may be on its way, on a machine that is busy for longer
    than verify waits; every other fault is one at once."""
    def verdict_now():
        verdict = verify(weir, "t.ledger", *where, "--wait", "15 s", want=(0, 65, 75))
        found = faults_of(verdict)
        if any(fault != "missing" for _, fault in found):
            raise Failure(f"verify says {found}", json.dumps(verdict, indent=1))
        return verdict if not found and condition(verdict) else None
    return processes.until("an exact verdict", verdict_now, 300, 0.1, lambda: weir.log() + pipeline.err()[-4000:])


def beside_a_running_pipeline(cluster, topic):
    """A generator that keeps its rate, a pipeline without end that is killed twice, verify beside both, then at the end."""
    weir = prepared("running")
    where = with_pipeline(cluster, topic, weir, FROM_KAFKA)
    gen = [*GEN[:2], "--records", "0", *GEN[4:], "--pace"]
    gen[gen.index("--rate") + 1] = "5000"
    gen[gen.index("--late-by") + 1] = "8 s"
    gen[gen.index("--bound") + 1] = "5 s"
    with weir.start("gen", "t.ledger", "--to", "kafka:" + topic, *servers(cluster), *gen) as generator:
        for _ in range(2):
            with weir.start(*run_of(topic)) as pipeline:
                time.sleep(4)  # how far it gets does not matter
                pipeline.kill()
        with weir.start(*run_of(topic)) as pipeline:
            verdict = in_time(weir, where, pipeline, lambda v: v["layers"][-1]["judged"] > 30)
            if verdict["ended"]:
                raise Failure("the ledger of a running generator has an end")
            generator.signal(signal.SIGTERM)
            if generator.wait().code != 0:
                raise Failure("gen ended badly", generator.err())
            require_exact(in_time(weir, where, pipeline, lambda v: v["ended"]), 30)
            pipeline.signal(signal.SIGTERM)
            if pipeline.wait().code != 0:
                raise Failure("the pipeline ended badly", pipeline.err())


ALONE = [once_over_a_bad_network]
BESIDE = [beside_a_running_pipeline, gen_into_a_topic, verify_waits_for_what_is_open, verify_says_no, refused_with_the_reason,
          files_to_topics_killed_and_exact, topics_to_topics_killed_and_exact]


def checks(which):
    """(name, function of the cluster), each with a topic of its own."""
    def on_topic(check):
        def run(cluster):
            topic = "gen-verify-" + check.__name__.replace("_", "-")
            cluster.tool.create_topic(topic=topic, partitions=3)
            check(cluster, topic)
        return run
    return [(f"gen-verify/{check.__name__}", on_topic(check)) for check in which]
