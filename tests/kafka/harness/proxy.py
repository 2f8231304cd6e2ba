#!/usr/bin/env python3
"""A TCP proxy before the brokers that knows requests from answers and one API key from another.

  proxy.py --control PORT --listen BROKER:PORT:UPSTREAM[:raw] [--listen ...]

It is told what to do over the control port: one JSON object a line, one JSON object back (faults.py is the client).

  {"op": "rule", "name": N, "key": "EndTxn" | "*", "on": "request" | "answer", "action": A, "skip": 0, "count": 1,
   "ms": 0, "broker": b, "txid": T, "client": prefix, "commit": true}     frames that match all of it; count 0: each
  {"op": "wait", "name": N, "matched": 1, "timeout": s}       until so many frames have met the rule
  {"op": "release", "name": N, "timeout": s}                  what the rule keeps goes on its way; the rule is over
  {"op": "clear", "name": N | absent}                         the rule is over, what it kept is thrown away
  {"op": "events", "since": n, "key": K, "txid": T}           what passed, of the keys in wire.LOGGED
  {"op": "cut", "mode": "reset" | "blackhole", "broker": b}, {"op": "mend"}, {"op": "bounce"}, {"op": "latency", "ms": n}
  {"op": "state"}

Actions on requests: hold (it and what follows on the connection wait), drop, drop_close (lost, and the connection with
it), delay, copy (goes on, and a copy is kept: `release` sends it on a new connection), hold_close (kept, the client sees
a reset; `release` sends it on a new connection: a late packet as the network makes them). On answers: hold, drop,
drop_close, delay.

A held request outlives its client: the broker's end stays open until it is released or cleared. Frames of one connection
never overtake each other. A raw listener passes bytes (TLS): only cut, bounce and latency work there.
"""
import argparse
import asyncio
import collections
import json
import os
import struct
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import wire  # noqa: E402

ON_REQUEST = {"hold", "drop", "drop_close", "delay", "copy", "hold_close"}
ON_ANSWER = {"hold", "drop", "drop_close", "delay"}
FRAME_MAX = 256 << 20
RAW_CHUNK = 1 << 16
EVENTS_KEPT = 200_000


class Rule:
    def __init__(self, order):
        self.name, self.action = order["name"], order["action"]
        self.on = order.get("on", "request")
        self.key = order.get("key", "*")
        if self.action not in (ON_REQUEST if self.on == "request" else ON_ANSWER):
            raise ValueError(f"no action {self.action} on {self.on}")
        if self.key != "*" and self.key not in wire.NUMBERS:
            raise ValueError(f"no key {self.key}")
        self.skip, self.count = order.get("skip", 0), order.get("count", 1)
        self.ms = order.get("ms", 0)
        self.broker = order.get("broker")
        self.txid, self.client, self.commit = order.get("txid"), order.get("client"), order.get("commit")
        self.seen = self.matched = 0
        self.released = asyncio.Event()
        self.thrown_away = False
        self.kept = []  # (broker, frame, what it is)

    def meets(self, on, broker, asked):
        """Whether this frame is one that the rule acts on; counts it."""
        if self.released.is_set() or on != self.on or self.key not in ("*", asked["key"]):
            return False
        if self.broker is not None and broker != self.broker:
            return False
        if self.txid is not None and asked.get("txid") != self.txid:
            return False
        if self.client is not None and not asked.get("client", "").startswith(self.client):
            return False
        if self.commit is not None and asked.get("commit") != self.commit:
            return False
        self.seen += 1
        if self.seen <= self.skip or (self.count and self.matched >= self.count):
            return False
        self.matched += 1
        return True


class Connection:
    """One client, and its connection to one broker."""

    def __init__(self, proxy, listener, number, reader, writer):
        self.proxy, self.listener, self.number = proxy, listener, number
        self.client_reader, self.client_writer = reader, writer
        self.asked = {}  # correlation -> the request
        self.requests, self.answers = asyncio.Queue(64), asyncio.Queue(64)
        self.tasks = []

    async def run(self):
        try:
            self.broker_reader, self.broker_writer = await asyncio.open_connection(
                "127.0.0.1", self.listener.upstream, limit=1 << 20)
        except OSError:
            self.close()
            return
        self.tasks = [asyncio.ensure_future(task) for task in (
            self._read(self.client_reader, self.requests), self._forward_requests(),
            self._read(self.broker_reader, self.answers), self._forward_answers())]
        await asyncio.gather(*self.tasks, return_exceptions=True)
        self.close()

    def close(self):
        """Both ends, at once."""
        for task in self.tasks:
            task.cancel()
        for writer in (self.client_writer, getattr(self, "broker_writer", None)):
            if writer is not None:
                writer.transport.abort()

    def close_client(self):
        """The client sees a reset; what was sent to the broker stays sent."""
        self.client_writer.transport.abort()

    async def _read(self, reader, queue):
        try:
            while True:
                if self.listener.raw:
                    frame = await reader.read(RAW_CHUNK)
                    if not frame:
                        break
                else:
                    size, = struct.unpack(">i", await reader.readexactly(4))
                    if not 0 <= size <= FRAME_MAX:
                        self.close()
                        return
                    frame = await reader.readexactly(size)
                await queue.put((time.monotonic(), frame))
        except (asyncio.IncompleteReadError, ConnectionError, OSError):
            pass
        await queue.put(None)

    async def _paced(self, arrived):
        wait = arrived + self.listener.latency_ms / 1000 - time.monotonic()
        if wait > 0:
            await asyncio.sleep(wait)
        await self.listener.open.wait()

    async def _write(self, writer, frame):
        """A dead end is no reason to stop: the other side may still matter."""
        try:
            if not self.listener.raw:
                writer.write(struct.pack(">i", len(frame)))
            writer.write(frame)
            await writer.drain()
        except (ConnectionError, OSError, RuntimeError):
            pass

    async def _act(self, on, asked, frame):
        """What becomes of a frame: True when it is to be passed on."""
        for rule in list(self.proxy.rules.values()):
            if not rule.meets(on, self.listener.broker, asked):
                continue
            self.proxy.log(self, on, asked, did=rule.action, rule=rule.name)
            await self.proxy.changed_now()
            if rule.action == "hold":
                await rule.released.wait()
                return not rule.thrown_away
            if rule.action == "delay":
                await asyncio.sleep(rule.ms / 1000)
                return True
            if rule.action in ("copy", "hold_close"):
                rule.kept.append((self.listener, frame, asked))
                if rule.action == "copy":
                    return True
            if rule.action in ("drop_close", "hold_close"):
                self.close_client()
            return False
        return True

    async def _forward_requests(self):
        while (item := await self.requests.get()) is not None:
            arrived, frame = item
            await self._paced(arrived)
            if not self.listener.raw:
                asked = wire.request(frame)
                self.proxy.counts[asked["key"]] += 1
                if asked["number"] in wire.LOGGED:
                    self.proxy.log(self, "request", asked)
                if not await self._act("request", asked, frame):
                    continue
                self.asked[asked["correlation"]] = asked
            await self._write(self.broker_writer, frame)
        try:
            self.broker_writer.write_eof()
        except (OSError, RuntimeError):
            pass

    async def _forward_answers(self):
        while (item := await self.answers.get()) is not None:
            arrived, frame = item
            await self._paced(arrived)
            if not self.listener.raw:
                asked = self.asked.pop(struct.unpack_from(">i", frame)[0], None)
                if asked is not None:
                    if asked["number"] in wire.LOGGED:
                        self.proxy.log(self, "answer", dict(asked, **wire.answer(frame, asked)))
                    if not await self._act("answer", asked, frame):
                        continue
            await self._write(self.client_writer, frame)
        self.close_client()


class Listener:
    def __init__(self, broker, port, upstream, raw):
        self.broker, self.port, self.upstream, self.raw = broker, port, upstream, raw
        self.latency_ms = 0
        self.refusing = False
        self.open = asyncio.Event()  # clear: a black hole
        self.open.set()
        self.connections = set()


class Proxy:
    def __init__(self, listeners):
        self.listeners = listeners
        self.rules = {}
        self.counts = collections.Counter()
        self.events = collections.deque(maxlen=EVENTS_KEPT)
        self.logged = self.connected = 0
        self.changed = asyncio.Condition()

    def log(self, connection, what, asked, **more):
        self.logged += 1
        seen = {k: v for k, v in asked.items() if k not in ("number", "correlation") and v is not None}
        self.events.append({"n": self.logged, "t": round(time.time(), 4), "what": what,
                            "broker": connection.listener.broker if connection else None,
                            "connection": connection.number if connection else None, **seen, **more})

    async def changed_now(self):
        async with self.changed:
            self.changed.notify_all()

    async def serve(self, control_port):
        servers = [await asyncio.start_server(self._acceptor(listener), "127.0.0.1", listener.port, limit=1 << 20)
                   for listener in self.listeners]
        servers.append(await asyncio.start_server(self._control, "127.0.0.1", control_port))
        print("ready", flush=True)
        await asyncio.gather(*(server.serve_forever() for server in servers))

    def _acceptor(self, listener):
        async def accept(reader, writer):
            if listener.refusing:
                writer.transport.abort()
                return
            self.connected += 1
            connection = Connection(self, listener, self.connected, reader, writer)
            listener.connections.add(connection)
            try:
                await connection.run()
            finally:
                listener.connections.discard(connection)
        return accept

    async def _control(self, reader, writer):
        while line := await reader.readline():
            try:
                order = json.loads(line)
                said = await getattr(self, "op_" + order.pop("op"))(**order)
            except Exception as error:  # whatever it is, the test that asked wants to see it
                said = {"error": f"{type(error).__name__}: {error}"}
            try:
                writer.write((json.dumps(said or {}) + "\n").encode())
                await writer.drain()
            except (ConnectionError, OSError):
                break
        writer.close()

    def _chosen(self, broker):
        return [listener for listener in self.listeners if broker in (None, listener.broker)]

    async def op_rule(self, **order):
        if order["name"] in self.rules:
            raise ValueError(f"there is a rule {order['name']}")
        self.rules[order["name"]] = Rule(order)

    async def op_wait(self, name, matched=1, timeout=30):
        async with self.changed:
            try:
                await asyncio.wait_for(self.changed.wait_for(lambda: self.rules[name].matched >= matched), timeout)
            except asyncio.TimeoutError:
                raise TimeoutError(f"rule {name}: {self.rules[name].matched} of {matched} frames "
                                   f"after {timeout} s") from None
        return {"matched": self.rules[name].matched}

    async def op_release(self, name, timeout=20):
        rule = self.rules.pop(name)
        rule.released.set()
        answers = []
        for listener, frame, asked in rule.kept:
            answers.append(await self._send_late(listener, frame, asked, timeout))
        return {"matched": rule.matched, "answers": answers}

    async def op_clear(self, name=None):
        for rule in [self.rules.pop(name)] if name else [self.rules.pop(n) for n in list(self.rules)]:
            rule.thrown_away = True
            rule.released.set()

    async def op_events(self, since=0, key=None, txid=None):
        return {"last": self.logged,
                "events": [e for e in self.events
                           if e["n"] > since and key in (None, e["key"]) and txid in (None, e.get("txid"))]}

    async def op_state(self):
        return {"counts": self.counts, "connections": {str(x.port): len(x.connections) for x in self.listeners},
                "rules": {r.name: {"matched": r.matched, "seen": r.seen} for r in self.rules.values()}}

    async def op_cut(self, mode="reset", broker=None):
        for listener in self._chosen(broker):
            if mode == "blackhole":
                listener.open.clear()
            elif mode == "reset":
                listener.refusing = True
                for connection in list(listener.connections):
                    connection.close()
            else:
                raise ValueError(f"no way to cut called {mode}")

    async def op_mend(self, broker=None):
        for listener in self._chosen(broker):
            listener.refusing = False
            listener.open.set()

    async def op_bounce(self, broker=None):
        for listener in self._chosen(broker):
            for connection in list(listener.connections):
                connection.close()

    async def op_latency(self, ms, broker=None):
        for listener in self._chosen(broker):
            listener.latency_ms = ms

    async def _send_late(self, listener, frame, asked, timeout):
        """On a connection of its own, past all rules."""
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", listener.upstream)
            writer.write(struct.pack(">i", len(frame)) + frame)
            await writer.drain()
            size, = struct.unpack(">i", await asyncio.wait_for(reader.readexactly(4), timeout))
            said = wire.answer(await asyncio.wait_for(reader.readexactly(size), timeout), asked)
            writer.close()
        except (OSError, asyncio.TimeoutError, asyncio.IncompleteReadError) as error:
            said = {"lost": f"{type(error).__name__}: {error}"}
        self.log(None, "late", dict(asked, **said))
        return said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--control", type=int, required=True)
    parser.add_argument("--listen", action="append", required=True)
    args = parser.parse_args()

    async def serve():
        listeners = []
        for text in args.listen:
            words = text.split(":")
            listeners.append(Listener(int(words[0]), int(words[1]), int(words[2]), words[3:] == ["raw"]))
        await Proxy(listeners).serve(args.control)

    try:
        asyncio.run(serve())
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
