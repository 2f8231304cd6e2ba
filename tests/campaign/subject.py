"""The weir process of a campaign: kept alive by a supervisor's rule (dead by a signal: started again), killed, stopped and
frozen by the chaos."""
import json
import os
import shutil
import signal
import threading

from events import BOUND_MS, PARTITIONS, PICKED_FROM
from harness import processes
from weirtest.report import Failure
from weirtest.weir import KILLED, SANITIZER, Weir, last_line

SQL = f"""
CREATE TABLE events (id STRING, k STRING, v BIGINT, ts TIMESTAMP(3),
    WATERMARK FOR ts AS ts - INTERVAL '{BOUND_MS // 1000}' SECOND)
  WITH (@input@, 'format' = 'json');
CREATE TABLE counts (k STRING, window_start TIMESTAMP(3), n BIGINT, s BIGINT)
  WITH ('connector' = 'kafka', 'topic' = 'campaign-counts', 'properties.bootstrap.servers' = '${{KAFKA}}',
        'key.format' = 'raw', 'key.fields' = 'k', 'value.format' = 'json');
CREATE TABLE picked (id STRING)
  WITH ('connector' = 'kafka', 'topic' = 'campaign-picked', 'properties.bootstrap.servers' = '${{KAFKA}}', 'format' = 'json');
CREATE TABLE late (id STRING, ts TIMESTAMP(3))
  WITH ('connector' = 'kafka', 'topic' = 'campaign-late', 'properties.bootstrap.servers' = '${{KAFKA}}', 'format' = 'json');
CREATE VIEW w AS
  SELECT k, window_start, COUNT(*) AS n, SUM(v) AS s
  FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)
  GROUP BY k, window_start, window_end;
INSERT INTO counts SELECT * FROM w;
INSERT INTO picked SELECT id FROM events WHERE v >= {PICKED_FROM};
INSERT INTO late SELECT id, ts FROM LATE(w);
"""
INPUTS = {"kafka": "'connector' = 'kafka', 'topic' = 'campaign-in', 'properties.bootstrap.servers' = '${KAFKA}'",
          "files": "'connector' = 'filesystem', 'path' = 'in/*.jsonl', 'source.monitor-interval' = '50 ms'"}
TOPICS = ("campaign-in", "campaign-counts", "campaign-picked", "campaign-late")
EPOCH_MS = 300


class Subject(Weir):
    def __init__(self, cluster, directory, preset_binary=None, source="kafka"):
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(os.path.join(directory, "in"))
        super().__init__(directory, binary=preset_binary, env={"KAFKA": cluster.bootstrap})
        for topic in TOPICS:
            cluster.tool.create_topic(topic=topic, partitions=PARTITIONS)
        with open(os.path.join(directory, "campaign.sql"), "w", encoding="utf-8") as f:
            f.write(SQL.replace("@input@", INPUTS[source]))
        with open(os.path.join(directory, "weir.toml"), "w", encoding="utf-8") as f:
            f.write('instance = "campaign"\n')
        # Not on the disk that is filled: a trace that finds no space stops, and with it what it shows.
        self.trace = os.path.join(cluster.directory, "trace.jsonl")
        self.args = ["run", "campaign.sql", "--config", "weir.toml", "--progress", "never", "--trace", self.trace,
                     "--set", f"execution.checkpointing.interval={EPOCH_MS} ms"]
        self.process = None
        self.starts = self.deaths = 0
        self.lock = threading.Lock()

    def launch(self, fault=None):
        self.starts += 1
        self.process = self.start(*self.args, fault=fault)

    def witnesses(self):
        try:
            with open(os.path.join(self.cwd, ".witness"), encoding="utf-8") as f:
                return f.read().splitlines()
        except FileNotFoundError:
            return []

    def kill(self):
        life = self.process.kill()
        self._died(life)

    def _died(self, life):
        """By SIGKILL and nothing else: weir never ends by itself here."""
        self.lives.append(life)
        del self.lives[:-6]
        self.deaths += 1
        if life.code != KILLED or SANITIZER.search(life.err):
            raise Failure(f"weir ended with {life.code}: {last_line(life.err)}", self.log())

    def require_alive(self):
        if not self.process.running():
            self._died(self.process.wait())
            raise Failure("weir was killed by nobody of ours", self.log())

    def wait_death(self, seconds):
        """Of a fault point that was armed."""
        processes.until("the fault point is reached", lambda: not self.process.running(), seconds, 0.05, self.process.err)
        self._died(self.process.wait())

    def stop(self):
        self.process.signal(signal.SIGTERM)
        life = self.process.wait(90)
        self.lives.append(life)
        if life.code != 0:
            raise Failure(f"stopped with {life.code}: {last_line(life.err)}", self.log())

    def sealed(self):
        life = self("status", "campaign.sql", "--json")
        try:
            return json.loads(life.out).get("sealed_epoch", 0) if life.code == 0 else 0
        except ValueError:
            return 0
        finally:
            self.lives.pop()
