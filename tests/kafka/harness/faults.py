"""The client of proxy.py: what a test says to the network."""
import json
import socket
import threading

from weirtest.report import Failure


class Faults:
    def __init__(self, port):
        self.port = port
        self.lock = threading.Lock()
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.answers = self.socket.makefile("rb")

    def _say(self, patience, order):
        with self.lock:
            self.socket.settimeout(patience + 10)
            self.socket.sendall(json.dumps(order).encode() + b"\n")
            line = self.answers.readline()
        if not line:
            raise Failure("the proxy is gone")
        said = json.loads(line)
        if "error" in said:
            raise Failure(f"proxy, {order['op']} {order.get('name', '')}: {said['error']}")
        return said

    def _order(self, op, _patience=10, **more):
        return self._say(_patience, {"op": op, **{k: v for k, v in more.items() if v is not None}})

    def rule(self, name, key, action, on="request", **more):
        """See proxy.py. Only frames that come after this call meet the rule."""
        self._order("rule", name=name, key=key, action=action, on=on, **more)
        return name

    def wait(self, name, matched=1, timeout=30):
        return self._order("wait", timeout, name=name, matched=matched, timeout=timeout)["matched"]

    def release(self, name, timeout=20):
        """How the broker answered what was sent late, each as {"error": code}."""
        return self._order("release", timeout, name=name, timeout=timeout)["answers"]

    def clear(self, name=None):
        self._order("clear", name=name)

    def mark(self):
        """To count events from here on."""
        return self._order("events", since=1 << 60)["last"]

    def events(self, since=0, key=None, txid=None):
        return self._order("events", 30, since=since, key=key, txid=txid)["events"]

    def state(self):
        return self._order("state")

    def cut(self, mode="reset", broker=None):
        self._order("cut", mode=mode, broker=broker)

    def mend(self, broker=None):
        self._order("mend", broker=broker)

    def bounce(self, broker=None):
        self._order("bounce", broker=broker)

    def latency(self, ms, broker=None):
        self._order("latency", ms=ms, broker=broker)

    def quiet(self):
        """As it was at the start: no rule, no cut, no latency."""
        self.clear()
        self.mend()
        self.latency(0)
