"""What deliveries to Kafka cost and how long they take: seal to acknowledgement, end to end, and a spool that drains."""
import json
import os
import socket
import statistics
import subprocess
import threading
import time

import bench
from bench import Wrong
from weirtest.weir import CLEAN_ENV

SECONDS = 30
# The receipt outlives a directory: each pipeline has a name of its own.
NAME = "SET 'pipeline.name' = '{topic}';\n"
DATAGEN = NAME + """CREATE TABLE made (id BIGINT, v BIGINT, pad STRING)
  WITH ('connector' = 'datagen', 'rows-per-second' = '{rate}', 'fields.pad.length' = '100');
CREATE TABLE out (id BIGINT, v BIGINT, pad STRING)
  WITH ('connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{servers}', 'format' = 'json');
INSERT INTO out SELECT id, v, pad FROM made;
"""
COPY = NAME + """CREATE TABLE events (part INT, seq BIGINT, item STRING, amount BIGINT, ts TIMESTAMP(3), pad STRING,
  sent TIMESTAMP_LTZ(3) METADATA FROM 'timestamp')
  WITH ('connector' = 'kafka', 'topic' = '{source}', 'properties.bootstrap.servers' = '{servers}', 'format' = 'json',
        'scan.startup.mode' = 'latest-offset');
CREATE TABLE out (part INT, seq BIGINT, item STRING, amount BIGINT, ts TIMESTAMP(3), pad STRING,
  sent TIMESTAMP_LTZ(3) METADATA FROM 'timestamp')
  WITH ('connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{servers}', 'format' = 'json');
INSERT INTO out SELECT part, seq, item, amount, ts, pad, sent FROM events;
"""
DRAIN = NAME + """CREATE TABLE lines (line STRING)
  WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'raw');
CREATE TABLE out (line STRING)
  WITH ('connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{servers}', 'format' = 'raw');
INSERT INTO out SELECT line FROM lines;
"""


def cpu_of(pid):
    """CPU-seconds of a process that runs."""
    return bench.ticks_of(pid) / os.sysconf("SC_CLK_TCK")


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


class Trace(threading.Thread):
    """The protocol's events of a process, each with the time it came at (trace files carry none)."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.events, self.ended = path, [], threading.Event()
        self.start()

    def run(self):
        while not os.path.exists(self.path) and not self.ended.wait(0.001):
            pass
        with open(self.path, encoding="utf-8") as f:
            rest = ""
            while True:
                got = f.read()
                now = time.monotonic()
                lines = (rest + got).split("\n")
                rest = lines.pop()
                self.events += [(now, json.loads(line)) for line in lines]
                if not got and self.ended.wait(0.0005):
                    return

    def stop(self):
        self.ended.set()
        self.join()
        return self.events


class Relay(threading.Thread):
    """Lets a client that knows only this port reach a broker: nothing but its first questions pass, since brokers
    advertise themselves."""

    def __init__(self, to):
        super().__init__(daemon=True)
        self.to = to
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))  # bound, not listening: whoever comes is refused
        self.port = self.listener.getsockname()[1]

    def run(self):
        self.listener.listen(64)
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            broker = socket.create_connection(self.to)
            for a, b in ((client, broker), (broker, client)):
                threading.Thread(target=self._copy, args=(a, b), daemon=True).start()

    @staticmethod
    def _copy(a, b):
        try:
            while data := a.recv(1 << 16):
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()


class Deliveries:
    """Mixed into KafkaBench: its figure, failed, directory, args, servers, create."""

    def deliveries(self, rate, epochs_ms, name):
        """SECONDS of datagen; each delivery's time from the seal of its last epoch to its acknowledgement, and how long
        fencing took (beyond 400 ms it met the library's retry of InitProducerId, one in 500 ms)."""
        seal_to_ack, fencing, cpu, rows = [], [], [], []
        for run in range(self.args.runs):
            topic = f"deliver-{rate}-{epochs_ms}-{run}-{os.getpid()}"
            self.create(topic, 3)
            work = self.directory("deliver", DATAGEN.format(rate=rate, topic=topic, servers=self.servers))
            trace = Trace(os.path.join(work, "trace.jsonl"))
            process = self.start(work, "--trace", "trace.jsonl", "--set", f"execution.checkpointing.interval={epochs_ms} ms")
            time.sleep(3)
            begun = cpu_of(process.pid), len(trace.events)
            time.sleep(SECONDS)
            spent = cpu_of(process.pid) - begun[0]
            events = trace.events[begun[1]:]
            if self.stop(process) != 0:
                raise Wrong("weir did not stop well")
            trace.stop()
            sealed, acks = {}, 0
            for at, event in events:
                if event["event"] == "sealed":
                    sealed[event["epoch"]] = at
                elif event["event"] == "acked":
                    acks += 1
                    epoch = int(event["position"].split(":")[0])
                    if epoch in sealed:
                        seal_to_ack.append((at - sealed[epoch]) * 1000)
            fencing += self._fencing(events)
            if not acks:
                raise Wrong("no delivery was acknowledged")
            cpu.append(spent / acks * 1000)
            rows.append(rate * SECONDS / acks)
        note = f"{statistics.median(rows):.0f} rows each"
        self.figure(f"{name}: seal to acknowledgement, p50", [percentile(seal_to_ack, 0.5)], "ms", 0, note)
        self.figure(f"{name}: p99", [percentile(seal_to_ack, 0.99)], "ms", 0)
        self.figure(f"{name}: CPU of a delivery, its rows and epochs included", cpu, "ms", 1, "goal 15")
        met = sum(1 for ms in fencing if ms >= 400)
        self.figure(f"{name}: deliveries whose fencing met the retry", [100 * met / max(1, len(fencing))], "%", 0,
                    f"{met} of {len(fencing)}")

    @staticmethod
    def _fencing(events):
        """From the moment a delivery could begin (its rows sealed, the one before acknowledged) to its fence."""
        could, out, sealed_rows = None, [], False
        for at, event in events:
            kind = event["event"]
            if kind == "sealed" and any(event.get("rows", {}).values()):
                sealed_rows = True
                could = could or at
            elif kind == "fenced" and could is not None:
                out.append((at - could) * 1000)
                could, sealed_rows = None, False
            elif kind == "acked" and sealed_rows:
                could = at
        return out

    def end_to_end(self, epochs_ms):
        """50,000 records a second through weir; the age of each when a read_committed consumer has it."""
        middle, late, peaks = [], [], []
        for run in range(self.args.runs):
            source, topic = (f"age-{what}-{epochs_ms}-{run}-{os.getpid()}" for what in ("in", "out"))
            self.create(source, 3)
            self.create(topic, 3)
            work = self.directory("age", COPY.format(source=source, topic=topic, servers=self.servers))
            process = self.start(work, "--set", f"execution.checkpointing.interval={epochs_ms} ms")
            time.sleep(3)
            generator = subprocess.Popen(
                [self.weir, "gen", "age.ledger", "--to", "kafka:" + source, "--kafka", "bootstrap.servers=" + self.servers,
                 "--partitions", "3", "--records", "0", "--rate", "50000", "--pad", "85", "--pace"],
                cwd=work, env=CLEAN_ENV, stderr=subprocess.DEVNULL)
            time.sleep(5)
            peak = bench.Peak(process.pid)
            done = subprocess.run([os.path.join(self.programs, "kafka_latency"), self.servers, topic, str(SECONDS)],
                                  stdout=subprocess.PIPE, check=False)
            peaks.append(peak.stop() / 2**20)
            generator.terminate()
            generator.wait(60)
            code = self.stop(process)
            if done.returncode or code:
                raise Wrong(f"kafka_latency {done.returncode}, weir {code}")
            count, p50, p99, _ = (int(word) for word in done.stdout.decode().replace("records ", "").split())
            if count < SECONDS * 50000 * 0.9:
                raise Wrong(f"only {count} records came in {SECONDS} s: this machine does not hold 50,000 a second")
            middle.append(p50)
            late.append(p99)
        name = f"record to committed record, 50 k rows/s, epochs of {epochs_ms} ms"
        self.figure(f"{name}: p50", middle, "ms", 0)
        self.figure(f"{name}: p99", late, "ms", 0)
        self.figure(f"{name}: resident peak", peaks, "MiB", 0, "goal 64")

    def drain(self):
        """A bounded file is read while no broker answers; then one does. The same lines by librdkafka alone."""
        path = self.input(1000)
        size = os.path.getsize(path) - self.args.rows
        ratios, speeds, wall = [], [], []
        for run in range(self.args.runs):
            bare_topic, topic = (f"drain-{what}-{run}-{os.getpid()}" for what in ("bare", "weir"))
            self.create(bare_topic, 3)
            self.create(topic, 3)
            work = self.directory("bare", "")
            _, _, _, text = self.run(work, command=[os.path.join(self.programs, "bare_kafka_producer"), self.servers,
                                                    bare_topic, path, "100000"])
            bare = size / 1e3 / int(text.split()[4])
            drained, cpu = self._drain(path, topic)
            ratios.append(size / 1e6 / drained / bare)
            wall.append(size / 1e6 / drained)
            speeds.append(size / 1e6 / cpu)
        self.figure("spool drain", wall, "MB/s", 0)
        self.figure("spool drain, of a bare transactional producer", ratios, "", 2, "goal 0.8")
        self.figure("spool drain per CPU-second", speeds, "MB", 0, "goal 150")

    def _drain(self, path, topic):
        """(seconds from the first fence to the last acknowledgement, CPU of the process meanwhile)"""
        host, port = self.servers.split(",")[0].split(":")
        relay = Relay((host, int(port)))
        try:
            work = self.directory("drain", DRAIN.format(path=path, topic=topic, servers=f"127.0.0.1:{relay.port}"))
            trace = Trace(os.path.join(work, "trace.jsonl"))
            process = self.start(work, "--trace", "trace.jsonl")
            self._until(lambda: self._sealed(trace) == self.args.rows, process)
            before = cpu_of(process.pid)
            relay.start()
            self._until(lambda: any(e["event"] == "fenced" for _, e in trace.events), process)
            cpu = 0.0
            while process.poll() is None:
                try:
                    cpu = cpu_of(process.pid) - before
                except (OSError, IndexError):
                    break
                time.sleep(0.02)
            process.stdout.close()
            if process.wait(60) != 0:
                raise Wrong(f"weir ended with {process.returncode}")
            events = trace.stop()
            fenced = min(at for at, e in events if e["event"] == "fenced")
            acked = max(at for at, e in events if e["event"] == "acked")
            return acked - fenced, cpu
        finally:
            relay.close()

    @staticmethod
    def _sealed(trace):
        return sum(sum(e["rows"].values()) for _, e in list(trace.events) if e["event"] == "sealed")

    @staticmethod
    def _until(condition, process, seconds=300):
        end = time.monotonic() + seconds
        while not condition():
            if process.poll() is not None or time.monotonic() > end:
                raise Wrong("weir did not come so far")
            time.sleep(0.02)

    def delivery_measurements(self):
        return [("deliver-1s", self.deliveries, (1000, 1000, "1,000 rows a second, epochs of 1 s")),
                ("deliver-fast", self.deliveries, (5000, 200, "5,000 rows a second, epochs of 200 ms")),
                ("age-1000", self.end_to_end, (1000,)), ("age-200", self.end_to_end, (200,)), ("drain", self.drain, ())]

