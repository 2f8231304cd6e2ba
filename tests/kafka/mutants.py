"""Deliveries that are wrong on purpose (src/connectors/kafka/mutant_cluster.h): what judges weir here must say no to each,
and weir itself notices none of them."""
import gen_verify
from boxes import PATIENCE, Box
from harness import judge
from in_doubt import delivering
from weirtest.report import Failure
from worlds import a_copy_of

# Mutant: the verdict of the oracle.
WRONG = {"twice": "duplicate", "dropped": "missing", "altered": "conflicting"}


def done(box, rows, process):
    box.wait_status(f"weir believes that {rows} rows are delivered",
                    lambda s: s["books"].get("sink:sink", {}).get("acked") == rows, process)


def said_no(box, words):
    """The whole judgement that every other check relies on."""
    try:
        box.require_exact()
    except Failure as failure:
        if words not in str(failure):
            raise Failure(f"said no, but not for {words}: {failure}", box.log()) from None
        return
    raise Failure(f"nobody said no to {words}", box.log())


def wrong_rows(mutant):
    def check(cluster):
        box = Box(cluster, "mutant-" + mutant)
        with box.go(env={"WEIR_MUTANT": mutant}) as process:
            for _ in range(3):
                box.put(20)
                done(box, len(box.expected), process)
            box.stop(process)
        verdict = judge.judge_rows(box.expected, box.delivered(), "id")
        others = [name for name, count in verdict.counts.items() if count and name != WRONG[mutant]]
        if not verdict.counts[WRONG[mutant]] or others:
            raise Failure(f"the oracle says: {verdict.text()}", box.log())
        said_no(box, WRONG[mutant])
    check.__name__ = mutant
    return check


def reused(cluster):
    """Nothing is wrong with the rows of a producer that makes two deliveries, as long as no packet is late."""
    box = Box(cluster, "mutant-reused")
    with box.go(env={"WEIR_MUTANT": "reused"}) as process:
        for _ in range(3):
            box.put(20)
            done(box, len(box.expected), process)
        box.stop(process)
    said_no(box, "a producer was used again")


def receipt_first(mutant):
    """A twin reads the receipt, then the first one commits, then the twin fences. Who has read before fencing delivers
    again what is there; who reads after it does not."""
    name = "mutant-receipt-" + ("first" if mutant else "after")

    def check(cluster):
        box, process = delivering(cluster, name)
        faults = cluster.faults
        with process:
            box.stop(process)
        twin = a_copy_of(box, name + "-twin")
        with box.go() as first:
            faults.rule(name + "-open", "AddOffsetsToTxn", "hold", txid=box.txid)
            box.put(20)
            faults.wait(name + "-open", timeout=PATIENCE)
            faults.rule(name + "-fence", "InitProducerId", "hold", txid=box.txid)
            twin.put(20)
            with twin.go(env={"WEIR_MUTANT": "receipt-first"} if mutant else None) as second:
                faults.wait(name + "-fence", timeout=PATIENCE)
                faults.release(name + "-open")
                done(box, 60, first)
                faults.release(name + "-fence")
                twin.wait_status("the twin has decided", lambda s: decided(s) or None, second)
        verdict = judge.judge_rows(box.expected, box.delivered(), "id")
        if bool(verdict.counts["duplicate"]) != mutant or verdict.counts["missing"]:
            raise Failure(f"the oracle says: {verdict.text()}", box.log() + twin.log())
    check.__name__ = "receipt_first" if mutant else "receipt_after_the_fence"
    return check


def decided(status):
    """Delivered, or parked."""
    return status["parks"] or status["books"].get("sink:sink", {}).get("acked") == 60


def verified(mutant):
    """weir verify, the judge that a customer has, says no as well."""
    def check(cluster):
        topic = "mutant-verify-" + mutant
        weir = gen_verify.prepared(topic)
        where = gen_verify.with_pipeline(cluster, topic, weir, gen_verify.FILES)
        weir("gen", "t.ledger", "--to", "events", *gen_verify.GEN, want=0)
        weir(*gen_verify.run_of(topic), env={"WEIR_MUTANT": mutant}, want=0)
        verdict = gen_verify.verify(weir, "t.ledger", *where, "--input-ended", want=65)
        found = gen_verify.faults_of(verdict)
        if not any(fault == WRONG[mutant] for _, fault in found):
            raise Failure(f"weir verify does not say {WRONG[mutant]}: {found}", weir.log())
    check.__name__ = "verify_says_no_to_" + mutant
    return check


def no_such_mutant(cluster):
    """A name that is mistyped makes nothing wrong, and must not be taken for a mutant that nobody saw."""
    box = Box(cluster, "mutant-none")
    box.put(1)
    life = box(*box.args, env={"WEIR_MUTANT": "twise"}, want=64)
    if "twise" not in life.err:
        raise Failure("the name is not told", box.log())


BESIDE = [no_such_mutant, *(verified(mutant) for mutant in WRONG), *(wrong_rows(mutant) for mutant in WRONG), reused, receipt_first(True), receipt_first(False)]
