#!/usr/bin/env python3
"""Stands in for weir when the campaign itself is judged: the same pipeline, small and slow, on Kafka's own client.

It is exactly once by looking at what is there already. WEIR_STANDIN makes it wrong: twice (a delivery is sent again),
dropped (a window is left out), altered (a sum is off). Faults of the deliver family are obeyed, others kill it at once."""
import json
import os
import signal
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "kafka"), os.path.join(HERE, "..", "lib")]

from events import BOUND_MS, PARTITIONS, PICKED_FROM, WINDOW_MS, text  # noqa: E402
from harness.cluster import VERSION, jars  # noqa: E402
from harness.tool import Tool  # noqa: E402
from oracle import ms  # noqa: E402


class Fault:
    def __init__(self):
        self.point, _, action = os.environ.get("WEIR_FAULT", "").partition("=")
        self.left = int(action.partition("@")[2] or 1)

    def at(self, after_commit):
        """Dies here if this is the place: between commit and ack, or before the commit for every other point."""
        if not self.point or after_commit != (self.point == "deliver.between_commit_and_ack"):
            return
        self.left -= 1
        if self.left <= 0:
            with open(os.environ["WEIR_FAULT_WITNESS"], "a", encoding="utf-8") as f:
                f.write(f"{self.point} kill 1 {os.getpid()}\n")
            os.kill(os.getpid(), signal.SIGKILL)


class StandIn:
    def __init__(self):
        self.wrong = os.environ.get("WEIR_STANDIN", "")
        self.fault = Fault()
        # A successor must find nothing open: the transactional id fences before anything is read.
        self.tool = Tool(jars(VERSION), os.environ["KAFKA"], "standin-tool.log", heap="128m")
        self.tool.producer_open(name="p", transactional_id="standin", properties={"transaction.timeout.ms": 30000})
        self.windows, self.highest, self.next, self.deliveries = {}, [0] * PARTITIONS, {}, 0
        self.done = {(row["k"], ms(row["window_start"])) for row in self.there("campaign-counts")}
        self.passed = {row["id"] for row in self.there("campaign-picked")}

    def there(self, topic):
        return [json.loads(record["value"]) for record in self.tool.rows(topic, ".")[0]]

    def turn(self):
        records, self.next = self.tool.rows("campaign-in", ".", start=self.next)
        out = []
        for record in records:
            row = json.loads(record["value"])
            time_ms = ms(row["ts"])
            entry = self.windows.setdefault(time_ms // WINDOW_MS * WINDOW_MS, {}).setdefault(row["k"], [0, 0])
            entry[0] += 1
            entry[1] += row["v"]
            self.highest[record["partition"]] = max(self.highest[record["partition"]], time_ms)
            if row["v"] >= PICKED_FROM and row["id"] not in self.passed:
                self.passed.add(row["id"])
                out.append({"topic": "campaign-picked", "value": json.dumps({"id": row["id"]})})
        watermark = min(self.highest) - BOUND_MS
        for start in [s for s in self.windows if s + WINDOW_MS - 1 <= watermark]:
            for key, (n, s) in self.windows.pop(start).items():
                if (key, start) not in self.done:
                    out.append({"topic": "campaign-counts", "key": key, "value": json.dumps(
                        {"k": key, "window_start": text(start), "n": n, "s": s + (self.wrong == "altered")})})
        if out:
            self.deliver(out[1:] if self.wrong == "dropped" else out)

    def deliver(self, out):
        self.deliveries += 1
        for _ in range(2 if self.wrong == "twice" and self.deliveries == 5 else 1):
            self.tool.producer_begin(name="p")
            self.tool.producer_send(name="p", topic="campaign-counts", records=out)
            self.fault.at(after_commit=False)
            self.tool.producer_commit(name="p")
            self.fault.at(after_commit=True)


def main():
    if sys.argv[1] == "status":
        with open("standin-turns", encoding="utf-8") as f:
            print(json.dumps({"sealed_epoch": len(f.read())}))
    if sys.argv[1] != "run":
        return
    stopped = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(1))
    stand_in = StandIn()
    while not stopped:
        stand_in.turn()
        with open("standin-turns", "a", encoding="utf-8") as f:
            f.write(".")
        time.sleep(0.3)


if __name__ == "__main__":
    main()
