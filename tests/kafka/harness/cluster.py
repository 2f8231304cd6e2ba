#!/usr/bin/env python3
"""Apache Kafka brokers (KRaft) on loopback, made from jars, with the proxy before them.

  cluster.py up DIR [--brokers N] [--version V]    starts, prints how to reach it, and stays until ^C or SIGTERM

As a library: Cluster(directory) is a context manager. Listeners of each broker:

  CLIENT          plaintext, advertised at the proxy's port: what weir is given (`bootstrap`). ANONYMOUS may do all.
  DIRECT          plaintext, past the proxy: brokers among themselves, and the tool
  SASL_SSL        SCRAM-SHA-256/512 (alice, dave), PLAIN (bob), OAUTHBEARER (unsigned tokens); passed by the proxy as bytes
  SASL_PLAINTEXT  the same without TLS, and the proxy understands what passes
  SSL             client certificates (CN=weir-client)

Who is not ANONYMOUS needs ACLs. Everything lives under the directory: nothing is shared with another cluster.
"""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.realpath(__file__))
if __package__ in (None, ""):
    sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "..", "lib")]
    __package__ = "harness"
    import harness  # noqa: F401

from weirtest.report import Failure  # noqa: E402

from . import processes, secrets  # noqa: E402
from .faults import Faults  # noqa: E402
from .tool import Tool  # noqa: E402

VERSION = "4.1.2"
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
OTHER_CLUSTER_ID = "Q0I0OTdGQTE4RjE5NEJCNg"
STARTED = "Kafka Server started"
PROXIED = ("CLIENT", "SASL_PLAINTEXT", "SASL_SSL", "SSL")
DIRECT = ("DIRECT", "CONTROLLER")
PROTOCOLS = {"CLIENT": "PLAINTEXT", "DIRECT": "PLAINTEXT", "CONTROLLER": "PLAINTEXT",
             "SASL_PLAINTEXT": "SASL_PLAINTEXT", "SASL_SSL": "SASL_SSL", "SSL": "SSL"}
START_S = 120


def jars(version):
    done = subprocess.run([os.path.join(HERE, "..", "jars.sh"), version], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise Failure(f"no jars of Kafka {version}")
    return done.stdout.strip()


class Broker:
    """One broker process and its directory, which outlives it."""

    def __init__(self, cluster, number):
        self.cluster, self.number = cluster, number
        self.log = os.path.join(cluster.directory, f"broker{number}.log")
        self.config = os.path.join(cluster.directory, f"broker{number}.properties")
        self.process = None
        self.starts = 0

    def _java(self):
        return [processes.java(), "-Xms128m", "-Xmx" + self.cluster.heap, "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=info",
                "-Dorg.slf4j.simpleLogger.showDateTime=true",
                "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
                "-cp", os.path.join(self.cluster.jars, "libs", "*")]

    def format(self, cluster_id):
        users = [word for user in secrets.scram_users() for word in ("--add-scram", user)]
        return processes.spawn([*self._java(), "kafka.tools.StorageTool", "format", "-t", cluster_id,
                                "-c", self.config, *users], self.log)

    def start(self):
        if self.running():
            raise Failure(f"broker {self.number} runs already")
        self.starts = self._started_lines() + 1
        self.process = processes.spawn([*self._java(), "kafka.Kafka", self.config], self.log)

    def _started_lines(self):
        try:
            with open(self.log, encoding="utf-8", errors="replace") as f:
                return f.read().count(STARTED)
        except FileNotFoundError:
            return 0

    def running(self):
        return self.process is not None and self.process.poll() is None

    def wait_ready(self):
        def ready():
            if not self.running():
                raise Failure(f"broker {self.number} ended at its start", processes.tail(self.log, 60))
            return self._started_lines() >= self.starts
        processes.until(f"broker {self.number} is ready", ready, START_S, 0.1,
                        lambda: processes.tail(self.log, 60))

    def kill(self):
        """SIGKILL."""
        processes.end(self.process)

    def stop(self):
        """SIGTERM: a controlled shutdown, as in a rolling restart."""
        processes.end(self.process, 60)

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)


class Cluster:
    prefix = ""  # of every name that a check makes up

    def __init__(self, directory, brokers=3, version=VERSION, settings=None, cluster_id=CLUSTER_ID, heap="384m"):
        self.directory = os.path.realpath(directory)
        self.version, self.heap, self.cluster_id = version, heap, cluster_id
        self.settings = dict(settings or {})
        self.size = brokers
        # Before 4.0 a late request that is refused may hide a group's offset: docs/kafka.md.
        self.receipts = "topic" if version.startswith("3.") else "group"
        self.jars = jars(version)
        self.brokers = {}
        self.tool = self.faults = self.proxy = None

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_):
        self.close()

    def start(self):
        """Formats and starts all; ready when a topic can be made."""
        for tries_left in (2, 1, 0):
            try:
                self._start_once()
                return self
            except Failure as failure:
                # Somebody else took one of the ports in the meantime.
                said = (failure.log + str(failure)).lower()
                if not tries_left or not any(word in said for word in ("failed to bind", "address already in use")):
                    raise
                self.close()
        return self

    def _start_once(self):
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(self.directory)
        self.certificates = os.path.join(self.directory, "tls")
        secrets.make_certificates(self.certificates)
        names = (*PROXIED, *DIRECT)
        numbers = range(1, self.size + 1)
        ports = iter(processes.free_ports(len(numbers) * (len(names) + len(PROXIED)) + 1))
        self.ports = {n: {name: next(ports) for name in names} for n in numbers}
        self.proxy_ports = {n: {name: next(ports) for name in PROXIED} for n in numbers}
        control = next(ports)
        self.brokers = {n: Broker(self, n) for n in numbers}
        for n, broker in self.brokers.items():
            with open(broker.config, "w", encoding="utf-8") as f:
                f.writelines(f"{key}={value}\n" for key, value in self._properties(n).items())
        formats = [(broker, broker.format(self.cluster_id)) for broker in self.brokers.values()]
        for broker, process in formats:
            if process.wait(60):
                raise Failure(f"broker {broker.number} could not be formatted", processes.tail(broker.log))
        for broker in self.brokers.values():
            broker.start()
        self.proxy = self._start_proxy(control)
        self.tool = Tool(self.jars, self.direct, os.path.join(self.directory, "tool.log"))
        self.wait_ready()

    def _start_proxy(self, control):
        listen = [f"{n}:{self.proxy_ports[n][name]}:{self.ports[n][name]}" + (":raw" if "SSL" in name else "")
                  for n in self.brokers for name in PROXIED]
        process = processes.spawn(
            [sys.executable, os.path.join(HERE, "proxy.py"), "--control", str(control),
             *(word for text in listen for word in ("--listen", text))],
            os.path.join(self.directory, "proxy.log"), stdout=subprocess.PIPE)
        if process.stdout.readline() != b"ready\n":
            raise Failure("the proxy did not start: " + processes.tail(os.path.join(self.directory, "proxy.log")))
        self.faults = Faults(control)
        return process

    def _properties(self, n):
        def addresses(of, names):
            return ",".join(f"{name}://127.0.0.1:{of[name]}" for name in names)
        factor = min(3, self.size)
        minimum = min(2, self.size)
        plain = "org.apache.kafka.common.security.plain.PlainLoginModule required"
        scram = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
        oauth = ('org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required '
                 'unsecuredLoginStringClaim_sub="broker";')
        properties = {
            "process.roles": "broker,controller",
            "node.id": n,
            "controller.quorum.voters": ",".join(f"{i}@127.0.0.1:{p['CONTROLLER']}" for i, p in self.ports.items()),
            "listeners": addresses(self.ports[n], (*PROXIED, *DIRECT)),
            "advertised.listeners": addresses(dict(self.ports[n], **self.proxy_ports[n]), (*PROXIED, "DIRECT")),
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "DIRECT",
            "listener.security.protocol.map": ",".join(f"{name}:{p}" for name, p in PROTOCOLS.items()),
            "log.dirs": os.path.join(self.directory, f"data{n}"),
            "default.replication.factor": factor,
            "min.insync.replicas": minimum,
            "offsets.topic.replication.factor": factor,
            "offsets.topic.num.partitions": 3,
            "transaction.state.log.replication.factor": factor,
            "transaction.state.log.min.isr": minimum,
            "transaction.state.log.num.partitions": 3,
            "share.coordinator.state.topic.replication.factor": factor,
            "share.coordinator.state.topic.min.isr": minimum,
            "group.initial.rebalance.delay.ms": 0,
            "auto.create.topics.enable": "false",
            "transaction.abort.timed.out.transaction.cleanup.interval.ms": 1000,
            "broker.session.timeout.ms": 3000,
            "broker.heartbeat.interval.ms": 500,
            # Small machines: threads cost memory, and a segment that is not there yet costs nothing.
            "num.network.threads": 2,
            "num.io.threads": 4,
            "log.cleaner.dedupe.buffer.size": 8 << 20,
            "log.index.size.max.bytes": 1 << 20,
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": os.path.join(self.certificates, "server.pem"),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": os.path.join(self.certificates, "ca.pem"),
            "listener.name.ssl.ssl.client.auth": "required",
            "sasl.enabled.mechanisms": "SCRAM-SHA-256,SCRAM-SHA-512,PLAIN,OAUTHBEARER",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
            "allow.everyone.if.no.acl.found": "false",
        }
        for listener in ("sasl_ssl", "sasl_plaintext"):
            for bits in (256, 512):
                properties[f"listener.name.{listener}.scram-sha-{bits}.sasl.jaas.config"] = scram
            properties[f"listener.name.{listener}.plain.sasl.jaas.config"] = \
                f'{plain} user_bob="{secrets.PASSWORDS["bob"]}";'
            properties[f"listener.name.{listener}.oauthbearer.sasl.jaas.config"] = oauth
        properties.update(self.settings)
        return properties

    def address(self, listener="CLIENT", broker=None):
        """A bootstrap string: of all brokers, or of one. The proxied listeners are named as the proxy offers them."""
        of = self.proxy_ports if listener in PROXIED else self.ports
        host = "localhost" if "SSL" in listener else "127.0.0.1"
        return ",".join(f"{host}:{of[n][listener]}" for n in of if broker in (None, n))

    @property
    def bootstrap(self):
        return self.address()

    @property
    def direct(self):
        return self.address("DIRECT")

    def wait_ready(self):
        """All that run have started, and the cluster makes and leads topics."""
        running = [broker for broker in self.brokers.values() if broker.running()]
        for broker in running:
            broker.wait_ready()
        self.tool.wait_brokers(count=len(running), timeout=90)

    def leader(self, topic, partition=0):
        """Its number; None while nobody can say."""
        said = self.tool.ask("describe_topic", topic=topic)
        return None if "error" in said else said["partitions"][partition]["leader"]

    def coordinator(self, kind, key):
        """The broker that coordinates a group or a transactional id ("group", "transaction"), or None so far."""
        return self.tool.coordinator(kind=kind, key=key).get("broker")

    def dump_logs(self, into, lines=400):
        """The evidence of a failure: the ends of all logs, and what passed the proxy last."""
        os.makedirs(into, exist_ok=True)
        for name in os.listdir(self.directory):
            if name.endswith(".log"):
                with open(os.path.join(into, name), "w", encoding="utf-8") as f:
                    f.write(processes.tail(os.path.join(self.directory, name), lines))
        if self.faults is not None:
            try:
                with open(os.path.join(into, "proxy-events.jsonl"), "w", encoding="utf-8") as f:
                    f.writelines(json.dumps(event) + "\n" for event in self.faults.events()[-5000:])
            except (Failure, OSError):
                pass

    def close(self):
        """Ends everything; the directory stays, without the brokers' data."""
        if self.tool is not None:
            self.tool.close()
        # Nobody reads these logs again, so nothing is lost by a SIGKILL.
        for broker in self.brokers.values():
            broker.kill()
        processes.end(self.proxy)
        for n in self.brokers:
            shutil.rmtree(os.path.join(self.directory, f"data{n}"), ignore_errors=True)
        self.tool = self.proxy = self.faults = None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["up"])
    parser.add_argument("directory")
    parser.add_argument("--brokers", type=int, default=1)
    parser.add_argument("--version", default=VERSION)
    args = parser.parse_args()
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    signal.signal(signal.SIGINT, lambda *_: ended.set())
    begun = time.monotonic()
    with Cluster(args.directory, args.brokers, args.version) as cluster:
        for listener in PROXIED:
            print(f"{listener:15} {cluster.address(listener)}")
        print(f"{'DIRECT':15} {cluster.direct}")
        print(f"{'tls':15} {cluster.certificates}")
        print(f"ready after {time.monotonic() - begun:.1f} s", flush=True)
        ended.wait()


if __name__ == "__main__":
    main()
