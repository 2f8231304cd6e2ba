"""The Java tool as an object: Kafka's own client, in one long-lived JVM. It is the oracle's eye: it shares nothing with
weir, and it reads and writes past the proxy."""
import itertools
import json
import os
import subprocess
import threading
import time

from weirtest.report import Failure

from . import processes


class Tool:
    """tool.create_topic(topic="t", partitions=3): every command of Tool.java, by its name. Safe for several threads."""

    def __init__(self, jars, server, log, heap="192m"):
        self.server, self.log = server, log
        self.numbers = itertools.count(1)
        self.waiting = {}
        self.lock = threading.Lock()
        self.process = processes.spawn(
            [processes.java(), "-Xms32m", "-Xmx" + heap, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
             "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
             # A line a try while a broker is away would push everything else out of the log.
             "-Dorg.slf4j.simpleLogger.log.org.apache.kafka.clients.NetworkClient=error",
             "-Dorg.slf4j.simpleLogger.showDateTime=true",
             "-cp", os.path.join(jars, "classes") + ":" + os.path.join(jars, "libs", "*"), "Tool"],
            log, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            said = json.loads(line)
            with self.lock:
                slot = self.waiting.pop(said.pop("id"), None)
            if slot is not None:
                slot[1] = said
                slot[0].set()
        with self.lock:
            left, self.waiting = self.waiting, {}
        for slot in left.values():
            slot[1] = {"error": "the tool has ended"}
            slot[0].set()

    def ask(self, op, timeout=90, **order):
        """The answer, whatever it is: {"error": ...} included."""
        slot = [threading.Event(), None]
        with self.lock:
            number = next(self.numbers)
            self.waiting[number] = slot
            line = json.dumps({"id": number, "op": op, "server": self.server, **order}) + "\n"
            try:
                self.process.stdin.write(line.encode())
                self.process.stdin.flush()
            except (BrokenPipeError, ValueError):
                raise Failure("the tool has ended", processes.tail(self.log)) from None
        if not slot[0].wait(timeout):
            raise Failure(f"the tool does not answer {op} within {timeout} s", processes.tail(self.log))
        return slot[1]

    def __getattr__(self, op):
        if op.startswith("_"):
            raise AttributeError(op)

        def command(timeout=90, **order):
            said = self.ask(op, timeout, **order)
            if "error" in said:
                raise Failure(f"tool, {op} {order.get('topic', '')}: {said['error']}",
                              said.get("trace", "") + processes.tail(self.log))
            return said
        return command

    def rows(self, topic, directory, isolation="read_committed", start=None, timeout=90, settle_s=20):
        """The records of a topic up to the end as it is now, as dicts, by partition and offset; and where to go on:
        [records, next]. read_committed: what is open now is waited for, `settle_s` at most (0 where a test holds a
        transaction open), for the answer to a commit comes before its markers."""
        path = os.path.join(directory, f".dump-{topic}-{next(self.numbers)}")
        # A broker may know of a topic before it leads its partitions.
        deadline = time.monotonic() + 30
        while True:
            said = self.ask("dump", timeout, topic=topic, file=path, isolation=isolation, start=start or {},
                            settle_ms=1000 * settle_s)
            if "UnknownTopicOrPartition" not in said.get("error", "") or time.monotonic() > deadline:
                break
            time.sleep(0.2)
        if "error" in said:
            raise Failure(f"tool, dump {topic}: {said['error']}", said.get("trace", "") + processes.tail(self.log))
        with open(path, encoding="utf-8") as f:
            records = [json.loads(line) for line in f]
        os.unlink(path)
        if len(records) != said["records"]:
            raise Failure(f"the tool says {said['records']} records and wrote {len(records)}")
        records.sort(key=lambda r: (r["partition"], r["offset"]))
        return records, said["next"]

    def close(self):
        if self.process.poll() is None:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass
        processes.end(self.process, 5)
