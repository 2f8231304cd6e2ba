"""The harness judged before anything is judged with it: brokers, proxy and tool with Kafka's own client, against facts
that were measured on real clusters; and the oracle, which is shown every kind of wrong."""
import os
import tempfile
import threading
import time

from harness import judge, processes, secrets, wire
from weirtest.report import Failure

SETTINGS_OF_A_PATIENT_CLIENT = {"request.timeout.ms": 4000, "delivery.timeout.ms": 60000, "linger.ms": 0}


def expect(condition, what):
    if not condition:
        raise Failure(what)


def refused(said, word, what):
    if word not in said.get("error", ""):
        raise Failure(f"{what}: wanted an error with {word}, got {said}")


# ---- without a cluster ----

def oracle_says_no():
    rows = [{"id": f"r{i}", "v": i} for i in range(5)]

    def record(i, row):
        return {"partition": 0, "offset": i, "value": judge.json.dumps(row)}
    right = [record(i, row) for i, row in enumerate(rows)]
    expect(judge.judge_rows(rows, right, "id").exact, "right rows are not right")
    expect(judge.judge_rows(rows, right[::-1], "id").exact, "the order of partitions is nobody's mistake")
    for name, got in (
            ("missing", right[:-1]), ("missing", []), ("duplicate", right + [record(9, rows[2])]),
            ("duplicate", right * 2), ("conflicting", right[:-1] + [record(9, {"id": "r4", "v": 5})]),
            ("conflicting", right[:-1] + [record(9, {"id": "r4", "v": "4"})]),
            ("conflicting", right + [record(9, {"id": "r4", "v": 7})]),
            ("foreign", right + [record(9, {"id": "r9", "v": 9})]),
            ("foreign", right + [{"partition": 0, "offset": 9, "value": "no json"}]),
            ("foreign", right + [{"partition": 0, "offset": 9, "value": None}])):
        verdict = judge.judge_rows(rows, got, "id")
        expect(verdict.counts[name], f"{name} was not seen: {verdict.text()}")
        try:
            verdict.require("x")
        except Failure:
            continue
        raise Failure(f"{name} was forgiven")
    windows = judge.Windows(10_000)
    for time_ms, amount in ((9_999, 1), (10_000, 2), (19_999, 3), (20_000, 4)):
        windows.add("k", time_ms, amount)
    want = {("k", 0): (1, 1), ("k", 10_000): (2, 5), ("k", 20_000): (1, 4)}
    expect(windows.expected() == want, f"windows: {windows.expected()}")
    expect_open_windows(want)


def expect_open_windows(want):
    """A window whose input may still be on its way is not missing; it is wrong all the same when it is wrong."""
    def judged(rows):
        one = judge.Judge(lambda row: row[0], lambda row: row[1])
        for row in rows:
            one.add(row)
        return one.judge(want, complete=lambda name: name[1] < 20_000)
    done = [(name, content) for name, content in want.items() if name[1] < 20_000]
    expect(judged(done).exact, "an open window is missing")
    expect(judged(done[1:]).counts["missing"] == 1, "a dropped window was not seen")
    expect(judged(done + [(("k", 20_000), (9, 9))]).counts["conflicting"] == 1, "an early window was not seen as wrong")


def leaks_are_found():
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "sub", ".hidden")
        os.makedirs(os.path.dirname(path))
        for text in (secrets.PASSWORDS["bob"], secrets.base64.b64encode(secrets.PASSWORDS["alice"].encode()).decode()):
            with open(path, "w", encoding="utf-8") as f:
                f.write("x" + text + "y")
            expect(len(secrets.leaks(work)) == 1, f"{text} in a file was not found")
            expect(not secrets.leaks(work, allowed=[path]), "an allowed file is no leak")
        expect(secrets.leaks(os.path.join(work, "nothing"), texts=["pw " + secrets.PASSWORDS["dave"]]),
               "a password in a text was not found")


def frames_are_read():
    """Bytes as a client would send them."""
    def string(text):
        return len(text).to_bytes(2, "big") + text.encode()
    old = b"\x00\x1a\x00\x01\x00\x00\x00\x07" + string("me") + string("tx-1") + (42).to_bytes(8, "big") + b"\x00\x03\x01"
    seen = wire.request(old)
    expect((seen["key"], seen["client"], seen["txid"], seen["pid"], seen["epoch"], seen["commit"])
           == ("EndTxn", "me", "tx-1", 42, 3, True), f"EndTxn v1: {seen}")
    expect(wire.answer(b"\x00\x00\x00\x07\x00\x00\x00\x00\x00\x2f", seen) == {"error": 47}, "the answer of EndTxn v1")
    new = b"\x00\x1a\x00\x03\x00\x00\x00\x07" + string("me") + b"\x00\x05tx-1" + (42).to_bytes(8, "big") + b"\x00\x03\x00\x00"
    seen = wire.request(new)
    expect((seen["txid"], seen["commit"]) == ("tx-1", False), f"EndTxn v3: {seen}")
    expect(wire.answer(b"\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x33\x00", seen) == {"error": 51}, "of EndTxn v3")
    expect(wire.request(new[:20]).get("unreadable"), "half a frame was read")


ALONE = [oracle_says_no, leaks_are_found, frames_are_read]


# ---- with the cluster ----

class Client:
    """A transactional producer of the tool, through the proxy."""

    def __init__(self, cluster, topic, txid, name=None, **properties):
        self.cluster, self.topic, self.txid, self.name = cluster, topic, txid, name or txid
        self.group = txid + "-receipt"
        cluster.tool.producer_open(server=cluster.bootstrap, name=self.name, transactional_id=txid,
                                   properties=dict(SETTINGS_OF_A_PATIENT_CLIENT, **properties))

    def deliver(self, epoch, rows=6, until=None):
        """begin, rows over all partitions, receipt; not the commit. `until`: stops before "receipt"."""
        tool = self.cluster.tool
        tool.producer_begin(name=self.name)
        tool.producer_send(name=self.name, topic=self.topic, records=[
            {"partition": i % 3, "key": f"k{i}", "value": judge.json.dumps({"id": f"{epoch}-{i}"})} for i in range(rows)])
        if until != "receipt":
            self.receipt(epoch)

    def receipt(self, epoch):
        self.cluster.tool.producer_offsets(name=self.name, group=self.group, offsets=[
            {"topic": self.topic, "partition": 0, "offset": epoch, "metadata": f"epoch {epoch}"}])

    def commit(self):
        return self.cluster.tool.ask("producer_commit", name=self.name)

    def close(self, now=False):
        self.cluster.tool.producer_close(name=self.name, now=now)


def held_to(cluster, topic, group, epochs, rows=6, receipt=None):
    """The rows of these epochs once each, and the receipt of the last (or the one that is given)."""
    work = cluster.directory
    want = [{"id": f"{epoch}-{i}"} for epoch in epochs for i in range(rows)]
    records, _ = cluster.tool.rows(topic, work)
    judge.judge_rows(want, records, "id").require(f"epochs {epochs}")
    offsets = cluster.tool.group_offsets(group=group)["offsets"]
    got = offsets.get(f"{topic}/0", {}).get("offset")
    want = receipt or (epochs[-1] if epochs else None)
    expect(got == want, f"the receipt says {got}, want {want}")


def round_trip(cluster, topic):
    """Every byte of a record comes back: null and binary keys, tombstones, headers, timestamps, offsets."""
    sent = [{"partition": 0, "key": "k", "value": "v", "timestamp": 1709287200123, "headers": [["h", "AAH/"], ["h", None]]},
            {"partition": 0, "key": None, "value": "no key"}, {"partition": 1, "key": "dead", "value": None},
            {"partition": 2, "key_b64": "/wA=", "value_b64": "gA=="}, {"partition": 2, "key": "", "value": "\u00e9\n\t\""}]
    last = cluster.tool.produce(topic=topic, records=sent)["last"]
    expect(last == {"0": 1, "1": 0, "2": 1}, f"offsets: {last}")
    got, following = cluster.tool.rows(topic, cluster.directory)
    for want, have in zip(sent, got):
        for name in ("partition", "timestamp", "headers", "key_b64", "value_b64"):
            expect(name not in want or want[name] == have.get(name), f"{name}: want {want}, got {have}")
        for name in ("key", "value"):
            expect(name + "_b64" in want or (name in have and want[name] == have[name]), f"{name}: {want}, {have}")
    expect([r["offset"] for r in got] == [0, 1, 0, 0, 1] and following == {"0": 2, "1": 1, "2": 2}, f"{got} {following}")
    more, _ = cluster.tool.rows(topic, cluster.directory, start=following)
    expect(more == [], f"read again: {more}")


def isolation(cluster, topic):
    """Aborted rows and rows of an open transaction are there for read_uncommitted only; control records are nobody's."""
    client = Client(cluster, topic, "selftest-isolation")
    client.deliver(1)
    expect("error" not in client.commit(), "commit")
    client.deliver(2)
    cluster.tool.producer_abort(name=client.name)
    client.deliver(3)
    held_to_rows = {level: len(cluster.tool.rows(topic, cluster.directory, level, settle_s=0)[0])
                    for level in ("read_committed", "read_uncommitted")}
    expect(held_to_rows == {"read_committed": 6, "read_uncommitted": 18}, f"rows: {held_to_rows}")
    stable = cluster.tool.offsets(topic=topic, isolation="read_committed")["offsets"]
    high = cluster.tool.offsets(topic=topic)["offsets"]
    expect(all(stable[p] < high[p] for p in high), f"last stable {stable}, high {high}")
    state = cluster.tool.transaction(transactional_id=client.txid)
    expect(state["state"].lower() == "ongoing", f"describe: {state}")
    expect("error" not in client.commit(), "commit")
    client.close()
    held_to(cluster, topic, client.group, [1, 3])


def answer_lost_link_cut(cluster, topic):
    """d1: EndTxn was applied and its answer lost with the connection: the client finds out, committed once."""
    client = Client(cluster, topic, "selftest-d1")
    cluster.faults.rule("d1", "EndTxn", "drop_close", "answer", txid=client.txid)
    client.deliver(1)
    said = client.commit()
    expect("error" not in said, f"commit: {said}")
    expect(cluster.faults.wait("d1") == 1, "no answer was lost")
    cluster.faults.clear("d1")
    held_to(cluster, topic, client.group, [1])
    client.close()
    asked = [e for e in cluster.faults.events(key="EndTxn", txid=client.txid) if e["what"] == "request" and "did" not in e]
    expect(len(asked) >= 2, f"the retry was not seen: {asked}")


def answer_lost_link_up(cluster, topic):
    """d2: the same with the connection left up: the commit times out, the successor finds the receipt, rows once."""
    client = Client(cluster, topic, "selftest-d2", **{"max.block.ms": 2500, "request.timeout.ms": 30000})
    cluster.faults.rule("d2", "EndTxn", "drop", "answer", txid=client.txid)
    client.deliver(1)
    refused(client.commit(), "Timeout", "commit without an answer")
    cluster.faults.wait("d2")
    cluster.faults.clear("d2")
    successor = Client(cluster, topic, client.txid, "selftest-d2-next")
    held_to(cluster, topic, client.group, [1])
    successor.deliver(2)
    expect("error" not in successor.commit(), "the successor's commit")
    held_to(cluster, topic, client.group, [1, 2])
    client.close(now=True)
    successor.close()


def late_requests_are_refused(cluster, topic):
    """d3, d5, d7, d8: late EndTxn, TxnOffsetCommit and Produce of a predecessor in the open transaction of its successor
    are answered 47 and change nothing."""
    faults, txid = cluster.faults, "selftest-late"
    faults.rule("late-produce", "Produce", "copy", txid=txid)
    faults.rule("late-receipt", "TxnOffsetCommit", "copy", txid=txid)
    faults.rule("late-end", "EndTxn", "copy", txid=txid)
    client = Client(cluster, topic, txid)
    client.deliver(1)
    expect("error" not in client.commit(), "commit")
    client.close()
    successor = Client(cluster, topic, txid, "selftest-late-next")
    successor.deliver(2)
    for name in ("late-produce", "late-receipt", "late-end"):
        faults.wait(name)
        answers = faults.release(name)
        # A late Produce may also be told apart by its sequence numbers; what counts is that it is refused.
        expect(answers and all(a.get("error") for a in answers), f"{name} was accepted: {answers}")
        fenced = (wire.INVALID_PRODUCER_EPOCH, wire.PRODUCER_FENCED)
        expect(name == "late-produce" or answers[0]["error"] in fenced, f"{name}: {answers}")
    held_to_first = cluster.tool.rows(topic, cluster.directory, settle_s=0)[0]
    expect(len(held_to_first) == 6, "the late EndTxn committed something")
    expect("error" not in successor.commit(), "the successor's commit")
    successor.close()
    # Below 4.0 the refused late request hides the receipt from the coordinator's readers, rows and log being right:
    # why weir keeps receipts in a topic there. Should this ever say 2, the floor in docs/kafka.md can go.
    hidden = cluster.version.startswith("3.")
    held_to(cluster, topic, client.group, [1, 2], receipt=1 if hidden else 2)


def held_end_outlives_its_client(cluster, topic):
    """EndTxn held, its client dead, released before anybody took over: it commits. The other half of in doubt."""
    faults = cluster.faults
    client = Client(cluster, topic, "selftest-held", **{"max.block.ms": 1500, "request.timeout.ms": 30000})
    client.deliver(1)
    faults.rule("held", "EndTxn", "hold", txid=client.txid)
    refused(client.commit(), "Timeout", "a held commit")
    client.close(now=True)
    expect(len(cluster.tool.rows(topic, cluster.directory, settle_s=0)[0]) == 0, "committed too early")
    faults.release("held")
    processes.until("the released EndTxn commits", lambda: cluster.tool.transaction(
        transactional_id=client.txid)["state"] == "CompleteCommit", 20)
    held_to(cluster, topic, client.group, [1])


def late_init_fences(cluster, topic):
    """d12: a late InitProducerId of somebody who is gone fences who is there: one fencing proves no twin."""
    faults, txid = cluster.faults, "selftest-init"
    faults.rule("late-init", "InitProducerId", "copy", txid=txid)
    first = Client(cluster, topic, txid)
    first.close()
    client = Client(cluster, topic, txid, "selftest-init-next")
    client.deliver(1)
    # A transaction is open: the first try is told so while it is aborted, a later one fences.
    expect(faults.release("late-init")[0].get("error") in (0, wire.CONCURRENT_TRANSACTIONS), "the late init")
    said = client.commit()
    expect("error" in said, "a fenced producer committed")
    client.close(now=True)
    held_to(cluster, topic, client.group, [])


def network_faults(cluster, topic):
    """A cut by reset and a black hole stop a client until they are mended; latency only makes it slower."""
    faults = cluster.faults
    record = [{"partition": 0, "value": "x"}]
    for mode in ("reset", "blackhole"):
        done = threading.Event()
        faults.cut(mode)

        def produce(finished=done):
            cluster.tool.produce(server=cluster.bootstrap, topic=topic, records=record,
                                 properties={"request.timeout.ms": 1000, "delivery.timeout.ms": 60000})
            finished.set()
        thread = threading.Thread(target=produce)
        thread.start()
        early = done.wait(1.5)
        faults.mend()
        thread.join(60)
        expect(not early, f"{mode}: a record passed a cut link")
        expect(done.is_set(), f"{mode}: nothing passed after the link was mended")
    cluster.tool.producer_open(server=cluster.bootstrap, name="latency", properties={"linger.ms": 0})
    cluster.tool.producer_send(name="latency", topic=topic, records=record)
    faults.latency(150)
    begun = time.monotonic()
    cluster.tool.producer_send(name="latency", topic=topic, records=record)
    took = time.monotonic() - begun
    faults.latency(0)
    faults.bounce()
    cluster.tool.producer_send(name="latency", topic=topic, records=record)
    cluster.tool.producer_close(name="latency")
    expect(took >= 0.3, f"two ways of 150 ms took {took:.3f} s")
    values = [r["value"] for r in cluster.tool.rows(topic, cluster.directory)[0]]
    expect(values == ["x"] * 5, f"want five records, got {values}")


def login(cluster, listener, mechanism, user, password=None, token=None, authority="ca.pem", client=None):
    """What the tool needs to log in."""
    properties = {"security.protocol": listener, "request.timeout.ms": 5000, "default.api.timeout.ms": 8000,
                  "max.block.ms": 8000, "delivery.timeout.ms": 8000}
    if "SSL" in listener:
        properties.update({"ssl.truststore.type": "PEM",
                           "ssl.truststore.location": os.path.join(cluster.certificates, authority)})
    if client:
        pem = []
        for name in (client + ".key", client + ".crt"):
            with open(os.path.join(cluster.certificates, name), encoding="utf-8") as f:
                pem.append(f.read())
        properties.update({"ssl.keystore.type": "PEM", "ssl.keystore.key": pem[0],
                           "ssl.keystore.certificate.chain": pem[1]})
    if mechanism and mechanism != "OAUTHBEARER":
        module = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
        properties.update({
            "sasl.mechanism": mechanism,
            "sasl.jaas.config": f"org.apache.kafka.common.security.{module}LoginModule required "
                                f'username="{user}" password="{password or secrets.PASSWORDS[user]}";'})
    if mechanism == "OAUTHBEARER":
        properties.update({
            "sasl.mechanism": mechanism,
            "sasl.jaas.config": "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
                                f'unsecuredLoginStringClaim_sub="{token or secrets.OAUTH_SUBJECT}";'})
    return properties


def security(cluster, topic):
    """Each way in lets in who may, and nobody else; who may is told by ACLs."""
    tool = cluster.tool
    ways = [("SASL_PLAINTEXT", "SCRAM-SHA-256", "alice"), ("SASL_PLAINTEXT", "SCRAM-SHA-512", "alice"),
            ("SASL_SSL", "SCRAM-SHA-512", "alice"), ("SASL_SSL", "PLAIN", "bob"),
            ("SASL_SSL", "OAUTHBEARER", secrets.OAUTH_SUBJECT), ("SSL", None, "CN=weir-client")]
    record = [{"partition": 0, "value": "x"}]

    def produce(listener, properties):
        return tool.ask("produce", server=cluster.address(listener), topic=topic, records=record, properties=properties)
    for user in {user for _, _, user in ways}:
        tool.acl_add(principal="User:" + user, resource="TOPIC", name=topic, operations=["WRITE", "DESCRIBE"])
    for listener, mechanism, user in ways:
        client = "client" if listener == "SSL" else None
        said = produce(listener, login(cluster, listener, mechanism, user, client=client))
        expect("error" not in said, f"{listener} {mechanism}: {said}")
    refused(produce("SASL_SSL", login(cluster, "SASL_SSL", "SCRAM-SHA-512", "alice", "wrong")), "Authentication", "password")
    refused(produce("SASL_SSL", login(cluster, "SASL_SSL", "PLAIN", "mallory")), "Authentication", "unknown user")
    refused(produce("SASL_SSL", login(cluster, "SASL_SSL", "PLAIN", "bob", authority="other-ca.pem")), "SslAuth", "authority")
    refused(produce("SASL_SSL", login(cluster, "SASL_SSL", "SCRAM-SHA-512", "dave")), "TopicAuthorization", "no rights")
    refused(produce("SSL", login(cluster, "SSL", None, None)), "SslAuth", "no certificate")
    tool.acl_delete(principal="User:alice")
    refused(produce("SASL_PLAINTEXT", login(cluster, "SASL_PLAINTEXT", "SCRAM-SHA-256", "alice")), "TopicAuthorization",
            "rights that were taken away")
    expect(len(tool.rows(topic, cluster.directory)[0]) == len(ways), "a record that nobody was allowed to write")


def brokers_die_and_come_back(cluster, topic):
    """A coordinator killed with a transaction open, then all three at once: rows once each."""
    client = Client(cluster, topic, "selftest-brokers")
    client.deliver(1)
    victim = cluster.brokers[cluster.coordinator("transaction", client.txid)]
    expect(victim.number == cluster.tool.transaction(transactional_id=client.txid)["coordinator"], "the coordinator's rule")
    victim.kill()
    said = client.commit()
    expect("error" not in said, f"commit while the coordinator is away: {said}")
    victim.start()
    cluster.wait_ready()
    held_to(cluster, topic, client.group, [1])
    for broker in cluster.brokers.values():
        broker.kill()
    for broker in cluster.brokers.values():
        broker.start()
    cluster.wait_ready()
    client.deliver(2)
    expect("error" not in client.commit(), "commit after an outage")
    client.close()
    held_to(cluster, topic, client.group, [1, 2])


def frozen_broker_loses_its_partitions(cluster, topic):
    frozen = cluster.brokers[cluster.leader(topic, 0)]
    frozen.freeze()
    try:
        processes.until("leadership moves away from a frozen broker",
                        lambda: cluster.leader(topic, 0) not in (None, frozen.number), 240)
    finally:
        frozen.thaw()
    cluster.wait_ready()


CLUSTER = [round_trip, isolation, answer_lost_link_cut, answer_lost_link_up, late_requests_are_refused,
           held_end_outlives_its_client, late_init_fences, network_faults, security, brokers_die_and_come_back]
SLOW = [frozen_broker_loses_its_partitions]


def fresh_topic(cluster, check):
    topic = "selftest-" + check.__name__.replace("_", "-")
    cluster.tool.create_topic(topic=topic, partitions=3)
    try:
        check(cluster, topic)
    finally:
        cluster.faults.quiet()
