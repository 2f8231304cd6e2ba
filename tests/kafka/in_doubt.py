"""Commit in doubt: what the network and the brokers can do to a delivery, and what a read_committed reader must see."""
import signal

from boxes import PATIENCE, Box
from harness import processes, wire
from weirtest.report import Failure

REFUSED = (wire.INVALID_PRODUCER_EPOCH, wire.PRODUCER_FENCED)


def delivering(cluster, name, **kwargs):
    """A box that has delivered once and runs on."""
    box = Box(cluster, name, **kwargs)
    box.put(40)
    process = box.go()
    box.wait_delivered(process=process)
    return box, process


def goes_on(box, process, more=30):
    """It delivers what comes, stops in peace, and all of it is exact."""
    box.put(more)
    box.wait_delivered(process=process)
    box.stop(process)
    box.require_exact()


def attack(name, key, action, on="request"):
    """One frame of the next delivery is lost or kept; nobody dies."""
    def check(cluster):
        box, process = delivering(cluster, name)
        with process:
            cluster.faults.rule(name, key, action, on, txid=box.txid)
            box.put(30)
            cluster.faults.wait(name, timeout=PATIENCE)
            box.wait_delivered(process=process)
            cluster.faults.clear(name)
            goes_on(box, process)
    check.__name__ = name.replace("-", "_")
    return check


def end_held_over_a_kill(cluster):
    """EndTxn is held, its sender dies, a successor fences and delivers, then the old EndTxn arrives: refused."""
    box, process = delivering(cluster, "end-held")
    cluster.faults.rule("end-held", "EndTxn", "hold_close", txid=box.txid)
    # No retry may get through before the kill.
    cluster.faults.rule("end-lost", "EndTxn", "drop_close", txid=box.txid, count=0)
    with process:
        box.put(30)
        cluster.faults.wait("end-held", timeout=PATIENCE)
        box.killed(process)
    cluster.faults.clear("end-lost")
    with box.go() as process:
        box.wait_delivered(process=process)
        answers = cluster.faults.release("end-held")
        if any(a.get("error") not in REFUSED for a in answers) or not answers:
            raise Failure(f"a late EndTxn was not refused: {answers}", box.log())
        goes_on(box, process)


def late_copies_in_a_later_delivery(cluster):
    """Copies of EndTxn and TxnOffsetCommit of delivery N arrive while delivery N+1 is open and before its EndTxn."""
    box, process = delivering(cluster, "late-copies")
    faults = cluster.faults
    with process:
        faults.rule("late-end", "EndTxn", "copy", txid=box.txid)
        faults.rule("late-receipt", "TxnOffsetCommit", "copy", txid=box.txid)
        box.put(30)
        faults.wait("late-end", timeout=PATIENCE)
        faults.wait("late-receipt", timeout=PATIENCE)
        box.wait_delivered(process=process)
        faults.rule("late-open", "EndTxn", "hold", txid=box.txid)
        box.put(30)
        faults.wait("late-open", timeout=PATIENCE)
        for name in ("late-end", "late-receipt"):
            answers = faults.release(name)
            if answers[0].get("error") not in REFUSED:
                raise Failure(f"{name} was not refused: {answers}", box.log())
        faults.release("late-open")
        box.wait_delivered(process=process)
        goes_on(box, process)


def late_init(cluster):
    """A late InitProducerId fences whoever delivers: in doubt, the path is taken again, no twin is cried."""
    box, process = delivering(cluster, "late-init")
    faults = cluster.faults
    with process:
        faults.rule("late-init", "InitProducerId", "copy", txid=box.txid)
        box.put(30)
        faults.wait("late-init", timeout=PATIENCE)
        box.wait_delivered(process=process)
        faults.rule("init-open", "EndTxn", "hold", txid=box.txid)
        box.put(30)
        faults.wait("init-open", timeout=PATIENCE)
        faults.release("late-init")
        faults.release("init-open")
        box.wait_delivered(process=process)
        goes_on(box, process)


def aborted(cluster, box):
    processes.until("the brokers abort the transaction", lambda: cluster.tool.transaction(
        transactional_id=box.txid)["state"] == "CompleteAbort", 150, 0.5)


def held_past_the_transaction_timeout(cluster):
    """EndTxn arrives after the brokers have aborted: refused, in doubt, delivered once."""
    box, process = delivering(cluster, "held-long")
    with process:
        cluster.faults.rule("held-long", "EndTxn", "hold_close", txid=box.txid, commit=True)
        cluster.faults.rule("held-lost", "EndTxn", "drop_close", txid=box.txid, count=0)
        box.put(30)
        cluster.faults.wait("held-long", timeout=PATIENCE)
        # Nobody may fence it before its time is over: the retries of its EndTxn keep it busy until then.
        cluster.faults.rule("held-init", "InitProducerId", "drop_close", txid=box.txid, count=0)
        aborted(cluster, box)
        answers = cluster.faults.release("held-long")
        if not answers or not answers[0].get("error"):
            raise Failure(f"an EndTxn after the abort was accepted: {answers}", box.log())
        cluster.faults.clear("held-lost")
        cluster.faults.clear("held-init")
        box.wait_delivered(process=process)
        goes_on(box, process)


def link_cut_past_the_transaction_timeout(cluster):
    """The brokers abort what was open; on return everything is delivered once."""
    box, process = delivering(cluster, "link-cut")
    with process:
        cluster.faults.rule("cut-open", "EndTxn", "hold", txid=box.txid)
        box.put(30)
        cluster.faults.wait("cut-open", timeout=PATIENCE)
        cluster.faults.cut("blackhole")
        aborted(cluster, box)
        box.put(30)
        cluster.faults.mend()
        cluster.faults.release("cut-open")
        box.wait_delivered(process=process)
        goes_on(box, process)


def stopped_past_the_transaction_timeout(cluster):
    """SIGSTOP in the middle of a delivery for longer than the brokers wait."""
    box, process = delivering(cluster, "sigstop")
    with process:
        cluster.faults.rule("stopped-open", "EndTxn", "hold", txid=box.txid)
        box.put(30)
        cluster.faults.wait("stopped-open", timeout=PATIENCE)
        process.signal(signal.SIGSTOP)
        try:
            aborted(cluster, box)
        finally:
            process.signal(signal.SIGCONT)
        cluster.faults.release("stopped-open")
        box.wait_delivered(process=process)
        goes_on(box, process)


def another_producers_open_transaction(cluster):
    """Killed in doubt, and somebody else has a transaction open on a sink partition: the scan waits, says so, and
    gives no verdict from a time-out; nobody's rows are touched."""
    box, process = delivering(cluster, "foreign-open")
    tool, topic, foreigner = cluster.tool, box.topics["out"], box.name + "-foreigner"
    with process:
        cluster.faults.rule("foreign-lost", "EndTxn", "drop_close", txid=box.txid, count=0)
        box.put(30)
        cluster.faults.wait("foreign-lost", timeout=PATIENCE)
        tool.producer_open(name=foreigner, transactional_id=foreigner, properties={"transaction.timeout.ms": 300000})
        tool.producer_begin(name=foreigner)
        tool.producer_send(name=foreigner, topic=topic, records=[{"partition": 0, "value": "foreign"}])
        box.killed(process)
    cluster.faults.clear("foreign-lost")
    with box.go() as process:
        box.wait_status("it scans", lambda s: any(t.get("state") == "scanning" for t in s["targets"]), process)
        processes.until("it says where it waits", lambda: f"event=scan_waits where={topic}" in process.err().replace('"', ""),
                        PATIENCE, log=process.err)
        if not process.running() or "event=scanned" in process.err():
            raise Failure("a verdict, or an end, while the scan had to wait", process.err())
        tool.producer_abort(name=foreigner)
        tool.producer_close(name=foreigner)
        box.wait_delivered(process=process)
        goes_on(box, process)


# Those that only touch what passes under their own transactional id may run beside each other.
BESIDE = [
    attack("end-answer-cut", "EndTxn", "drop_close", "answer"),
    attack("end-answer-lost", "EndTxn", "drop", "answer"),
    attack("end-lost-cut", "EndTxn", "drop_close"),
    attack("end-late-after-reset", "EndTxn", "hold_close"),
    attack("receipt-lost", "TxnOffsetCommit", "drop_close"),
    attack("receipt-answer-lost", "TxnOffsetCommit", "drop", "answer"),
    attack("init-answer-lost", "InitProducerId", "drop_close", "answer"),
    attack("produce-lost", "Produce", "drop_close"),
    attack("add-partitions-lost", "AddPartitionsToTxn", "drop_close"),
    attack("add-offsets-lost", "AddOffsetsToTxn", "drop_close", "answer"),
    end_held_over_a_kill, late_copies_in_a_later_delivery, late_init, stopped_past_the_transaction_timeout,
    held_past_the_transaction_timeout,
    another_producers_open_transaction,
]
SLOW_ALONE = [link_cut_past_the_transaction_timeout]
