"""What needs a second cluster, of one broker: another one behind the same address, and one that forgets receipts after a
minute."""
import contextlib
import os
import subprocess
import sys

import worlds
from boxes import PATIENCE, TO_KAFKA, Box, make_receipts_topic
from harness import cluster as clusters
from harness import judge, processes
from in_doubt import aborted, delivering, goes_on
from weirtest.report import Failure

RETENTION_S = 60
SETTINGS = {"offsets.retention.minutes": 1, "offsets.retention.check.interval.ms": 1000}


def second_cluster(directory, version):
    """Made by who runs the checks, in the main thread: its processes die with the test."""
    return clusters.Cluster(directory, brokers=1, version=version, settings=SETTINGS,
                            cluster_id=clusters.OTHER_CLUSTER_ID)


@contextlib.contextmanager
def leads_to(port, cluster):
    """The address 127.0.0.1:PORT is this cluster's: a machine that was set up anew keeps its name."""
    control, = processes.free_ports(1)
    upstream = cluster.proxy_ports[1]["CLIENT"]
    process = processes.spawn(
        [sys.executable, os.path.join(os.path.dirname(clusters.__file__), "proxy.py"), "--control", str(control),
         "--listen", f"1:{port}:{upstream}:raw"], os.path.join(cluster.directory, "address.log"), stdout=subprocess.PIPE)
    try:
        if process.stdout.readline() != b"ready\n":
            raise Failure("the address leads nowhere")
        yield
    finally:
        processes.end(process)


@contextlib.contextmanager
def producers_of_our_names(box, second):
    """On the second cluster somebody has transactions open under the names that weir has on the first, and would have on
    the second. That nobody fences them shows when they commit."""
    names = [f"weir-{box.instance}-{box.name}-{c.cluster_id}" for c in (box.cluster, second)]
    for name in names:
        second.tool.producer_open(name=name, transactional_id=name, properties={"transaction.timeout.ms": 300000})
        second.tool.producer_begin(name=name)
        second.tool.producer_send(name=name, topic="theirs", records=[{"partition": 0, "value": name}])
    yield
    for name in names:
        second.tool.producer_commit(name=name)  # fails when it was fenced
        second.tool.producer_close(name=name)


def another_cluster_behind_the_address(cluster):
    """Another cluster answers: parked before anybody is fenced there. The right one again: nothing is lost. Then the
    operator says that the other one is ours."""
    second = cluster.second
    port, = processes.free_ports(1)
    second.tool.create_topic(topic="theirs")
    with leads_to(port, cluster):
        box, process = delivering(cluster, "behind", address=f"127.0.0.1:{port}")
        with process:
            box.stop(process)
    second.tool.create_topic(topic=box.topics["out"], partitions=3)
    if cluster.receipts == "topic":
        make_receipts_topic(second, box.name)
    with leads_to(port, second), producers_of_our_names(box, second), box.go() as process:
        box.put(20)
        worlds.require_park(box, box.wait_status("parked", worlds.parked, process), "kafka.moved", "accept-topic")
        box.stop(process)
    if second.tool.rows(box.topics["out"], second.directory)[0]:
        raise Failure("rows went to a cluster that is not ours", box.log())
    with leads_to(port, cluster), box.go() as process:
        goes_on(box, process)
    there = len(box.expected)
    with leads_to(port, second):
        box("resolve", box.pipeline, "--accept-topic", "sink", "--yes", want=0)
    with leads_to(port, second), box.go() as process:
        box.put(15)
        rows = processes.until("rows are on the other cluster", lambda: accepted(box, second, 15), PATIENCE, 0.3, process.err)
        box.stop(process)
    judge.judge_rows(box.expected[there:], rows, "id").require("the other cluster, accepted", box.log())


def accepted(box, second, count):
    rows = second.tool.rows(box.topics["out"], second.directory)[0]
    return rows if len(rows) >= count else None


def expired(box):
    return not box.cluster.tool.group_offsets(group=box.txid + "-receipt")["offsets"]


def away_past_the_retention_timeout(cluster):
    """The link is cut for longer than the brokers keep receipts. Row 12: nothing was in doubt; row 10: a delivery was.
    Who is idle and not away has written his receipt again."""
    second = cluster.second
    idle, idle_process = delivering(second, "kept", address=second.direct)
    plain, plain_process = delivering(second, "expired")
    doubt, doubt_process = delivering(second, "expired-in-doubt")
    with idle_process, plain_process, doubt_process:
        second.faults.rule("expired-lost", "EndTxn", "drop_close", txid=doubt.txid, count=0)
        doubt.put(30)
        second.faults.wait("expired-lost", timeout=PATIENCE)
        second.faults.cut("reset")
        plain.put(30)
        aborted(second, doubt)
        processes.until("the receipts have expired", lambda: expired(plain) and expired(doubt), 4 * RETENTION_S, 1)
        if expired(idle):
            raise Failure("the receipt of an idle pipeline has expired", idle.log())
        second.faults.clear("expired-lost")
        second.faults.mend()
        for box, process in ((plain, plain_process), (doubt, doubt_process)):
            box.wait_delivered(process=process)
            goes_on(box, process)
        idle.require_one_producer_each = lambda: None  # it is not behind the proxy
        goes_on(idle, idle_process)


TO_BOTH = TO_KAFKA.replace("INSERT INTO sink", """CREATE TABLE other (id STRING, k STRING, v BIGINT)
  WITH ('connector' = 'kafka', 'topic' = '@out@', 'properties.bootstrap.servers' = '${OTHER}',
        'key.format' = 'raw', 'key.fields' = 'k', 'value.format' = 'json'@sink@);
INSERT INTO other SELECT id, k, v FROM src;
INSERT INTO sink""")


def one_topic_name_on_two_clusters(cluster):
    """Two outputs, each exactly once, through a kill."""
    second = cluster.second
    box = Box(cluster, "both", sql=TO_BOTH)
    second.tool.create_topic(topic=box.topics["out"], partitions=3)
    if cluster.receipts == "topic":
        make_receipts_topic(second, box.name)
    box.env["OTHER"] = second.bootstrap
    box.put(20)
    with box.go() as process:
        box.wait_delivered(process=process)
        box.put(20)
        box.killed(process)
    with box.go() as process:
        box.wait_delivered(process=process)
        rows = processes.until("rows are on the other cluster", lambda: accepted(box, second, 40), PATIENCE, 0.3, process.err)
        box.wait_status("both acked", lambda s: len(s["targets"]) == 2 and not any(t["undelivered_rows"] for t in s["targets"]),
                        process)
        box.stop(process)
    judge.judge_rows(box.expected, rows, "id").require("the other cluster", box.log())
    judge.judge_rows(box.expected, box.delivered(), "id").require("the first cluster", box.log())


BESIDE = [away_past_the_retention_timeout, another_cluster_behind_the_address, one_topic_name_on_two_clusters]
