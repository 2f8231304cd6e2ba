"""Receipts in a compacted topic (weir.receipt = 'topic:NAME'): for brokers that hide a group's offset, and for boxes that
stay away longer than offsets are kept. What the other groups show of receipts in a group is shown of these, too."""
import crashes
import in_doubt
import worlds
from boxes import TopicReceipts
from in_doubt import delivering, goes_on
from weirtest.report import Failure


def receipts_deleted(cluster):
    """Row 12: the receipt is gone and nothing is in doubt; the scan finds nothing of ours above A, and it goes on."""
    box, process = delivering(cluster, "receipts-deleted")
    with process:
        box.stop(process)
    topic = box.receipts_topic
    end = cluster.tool.offsets(topic=topic)["offsets"]["0"]
    if not end:
        raise Failure("no receipt was written into the topic", box.log())
    cluster.tool.set_topic_config(topic=topic, configs={"cleanup.policy": "delete"})
    cluster.tool.delete_records(topic=topic, before={"0": end})
    cluster.tool.set_topic_config(topic=topic, configs={"cleanup.policy": "compact"})
    with box.go() as process:
        goes_on(box, process)
    if '"row":12' not in box.read("trace.jsonl"):
        raise Failure("row 12 has not decided", box.log())


def in_a_topic(check):
    def run(cluster):
        check(TopicReceipts(cluster))
    run.__name__ = check.__name__
    return run


def beside(rng):
    attacked = {"end_answer_cut", "end_lost_cut", "end_late_after_reset", "produce_lost", "init_answer_lost",
                "end_held_over_a_kill", "late_init", "another_producers_open_transaction"}
    chosen = [check for check in in_doubt.BESIDE if check.__name__ in attacked]
    if len(chosen) != len(attacked):
        raise Failure(f"in_doubt.py has no longer all of {attacked}")
    chosen += [crashes.at_point(point, rng.choice(crashes.OCCURRENCES)) for point in (
        "deliver.before_receipt", "deliver.after_receipt", "deliver.before_commit", "deliver.between_commit_and_ack")]
    chosen += [worlds.twin_with_a_copied_directory, worlds.recreated_sink_topic, receipts_deleted]
    return [in_a_topic(check) for check in chosen]
