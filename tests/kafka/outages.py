"""Brokers that go while deliveries are on their way: one that coordinates or leads, all of them, one after the other. A
box for each phase of a delivery is held there by the proxy, so that one death meets every phase."""
import contextlib
import itertools

from boxes import PATIENCE, Box
from harness import processes
from weirtest.report import Failure

# Phase: the frame that is held when the brokers go. What the box had done by then is done; what comes next is not.
PHASES = {
    "fenced": ("AddPartitionsToTxn", "request"),
    "producing": ("Produce", "request"),
    "receipt-sent": ("TxnOffsetCommit", "answer"),
    "commit-on-its-way": ("EndTxn", "request"),
    "commit-unanswered": ("EndTxn", "answer"),
}
ROLES = ("transaction", "group", "leader")


def phases(cluster):
    """A receipt in a topic is one more record."""
    return [phase for phase in PHASES if cluster.receipts == "group" or phase != "receipt-sent"]


def roles_of(cluster, box, broker):
    """What the broker is to this box."""
    leads = [cluster.leader(box.topics["out"], p) for p in range(box.partitions)]
    roles = {kind for kind, key in (("transaction", box.txid), ("group", box.txid + "-receipt"))
             if cluster.coordinator(kind, key) == broker}
    return roles | ({"leader"} if broker in leads else set())


def prepare(cluster):
    """Both coordinators exist, and every broker has its share of the work again: deaths before have moved it."""
    if "outage-probe" not in cluster.tool.topics()["topics"]:
        cluster.tool.create_topic(topic="outage-probe")
    cluster.tool.group_set(group="outage-probe", offsets=[{"topic": "outage-probe", "partition": 0, "offset": 0}])
    cluster.tool.produce(topic="outage-probe", records=[{"partition": 0, "value": "x"}], transactional_id="outage-probe")
    cluster.tool.elect_leaders()


def box_to_which(cluster, name, broker, roles):
    """A box to which the broker is just that: names are tried until one fits."""
    partitions = 3 if "leader" in roles and len(roles) > 1 else 1
    for n in itertools.count():
        if n == 200:
            raise Failure(f"no name makes broker {broker} the {roles} of a box")
        candidate = f"{name}-{n}"
        txid = f"weir-box-{candidate}-{cluster.cluster_id}"
        if any((cluster.coordinator(kind, key) == broker) != (kind in roles)
               for kind, key in (("transaction", txid), ("group", txid + "-receipt"))):
            continue
        box = Box(cluster, candidate, partitions=partitions)
        if roles_of(cluster, box, broker) == set(roles):
            return box


@contextlib.contextmanager
def held_in_every_phase(cluster, boxes):
    """Each box has delivered once, and its second delivery stands in its phase."""
    with contextlib.ExitStack() as stack:
        running = {phase: stack.enter_context(box.go()) for phase, box in boxes.items()}
        for box in boxes.values():
            box.put(40)
        for phase, box in boxes.items():
            box.wait_delivered(process=running[phase])
        for phase, box in boxes.items():
            key, on = PHASES[phase]
            cluster.faults.rule("held-" + box.name, key, "hold", on, txid=box.txid)
            box.put(30)
        for box in boxes.values():
            cluster.faults.wait("held-" + box.name, timeout=PATIENCE)
        yield running


def let_go(cluster, boxes):
    for box in boxes.values():
        cluster.faults.release("held-" + box.name)


def all_exact(boxes, running, what):
    for phase, box in boxes.items():
        box.put(20)
        box.wait_delivered(process=running[phase])
    for phase, box in boxes.items():
        box.stop(running[phase])
        box.require_exact(f"{what}, {phase}")


def one_dies(name, roles):
    """The broker that is all of this to the boxes is killed in each phase; deliveries go on while it is away."""
    def check(cluster):
        prepare(cluster)
        victim = cluster.brokers[min(cluster.brokers)]
        boxes = {phase: box_to_which(cluster, f"{name}-{phase}", victim.number, roles) for phase in phases(cluster)}
        with held_in_every_phase(cluster, boxes) as running:
            victim.kill()
            try:
                let_go(cluster, boxes)
                for phase, box in boxes.items():
                    box.wait_delivered(process=running[phase])
            finally:
                victim.start()
                cluster.wait_ready()
            all_exact(boxes, running, f"{'/'.join(roles)} killed")
    check.__name__ = name.replace("-", "_")
    return check


def full_outage(cluster):
    """All brokers are killed in each phase. One box dies meanwhile and is started while nobody answers. Input piles up
    and the status says why; on return everything is delivered."""
    prepare(cluster)
    boxes = {phase: Box(cluster, "outage-" + phase) for phase in phases(cluster)}
    with held_in_every_phase(cluster, boxes) as running, contextlib.ExitStack() as stack:
        for broker in cluster.brokers.values():
            broker.kill()
        try:
            let_go(cluster, boxes)
            reborn = boxes["commit-unanswered"]
            reborn.killed(running["commit-unanswered"])
            running["commit-unanswered"] = stack.enter_context(reborn.go())
            for box in boxes.values():
                box.put(10)
            # The others may still hope for an answer.
            reborn.wait_status("waiting, with the reason", lambda s: s["health"] == "degraded" and any(
                target.get("failing_for_ms") and "do not answer" in target["reason"] for target in s["targets"]),
                running["commit-unanswered"])
        finally:
            for broker in cluster.brokers.values():
                broker.start()
            cluster.wait_ready()
        for phase, box in boxes.items():
            box.wait_delivered(process=running[phase])
        all_exact(boxes, running, "after an outage")


def rolling_restart(cluster):
    """Every broker is stopped in peace and started again, one after the other; deliveries go on all the time."""
    prepare(cluster)
    box = Box(cluster, "rolling")
    with box.go() as process:
        for broker in cluster.brokers.values():
            box.put(20)
            broker.stop()
            box.put(20)
            box.wait_delivered(process=process)
            broker.start()
            box.put(20)
            cluster.wait_ready()
            box.wait_delivered(process=process)
        box.stop(process)
    box.require_exact("after a rolling restart")


def coordinators_move_back(cluster):
    """The brokers give leadership back to who had it before a death, as they do every five minutes: nobody is away, and
    who coordinated a moment ago says that he does not."""
    prepare(cluster)
    first = cluster.brokers[min(cluster.brokers)]
    box = box_to_which(cluster, "moves-back", first.number, ROLES)
    first.kill()
    first.start()
    cluster.wait_ready()
    with box.go() as process:
        box.put(40)
        box.wait_delivered(process=process)
        if "group" in roles_of(cluster, box, first.number):
            raise Failure("the death of its coordinator has moved nothing")
        cluster.tool.elect_leaders()
        for _ in range(3):
            box.put(10)
            box.wait_delivered(process=process)
        box.stop(process)
    box.require_exact("after its coordinators moved")


ALONE = [one_dies("broker-dies", ROLES), coordinators_move_back, full_outage, rolling_restart]
SLOW_ALONE = [one_dies(f"{role}-dies", (role,)) for role in ROLES]
