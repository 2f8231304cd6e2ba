"""As much of Kafka's wire protocol as the proxy needs: which request a frame is, whose, and how it was answered.

Not a client: nothing here is needed to talk to a broker, and what cannot be read is left out, never guessed."""
import struct

KEYS = {
    0: "Produce", 1: "Fetch", 2: "ListOffsets", 3: "Metadata", 8: "OffsetCommit", 9: "OffsetFetch",
    10: "FindCoordinator", 17: "SaslHandshake", 18: "ApiVersions", 19: "CreateTopics", 22: "InitProducerId",
    23: "OffsetForLeaderEpoch", 24: "AddPartitionsToTxn", 25: "AddOffsetsToTxn", 26: "EndTxn", 27: "WriteTxnMarkers",
    28: "TxnOffsetCommit", 32: "DescribeConfigs", 36: "SaslAuthenticate", 60: "DescribeCluster",
    75: "DescribeTopicPartitions",
}
NUMBERS = {name: key for key, name in KEYS.items()}
# The first version with compact strings and tags.
FLEXIBLE_FROM = {0: 9, 22: 2, 24: 3, 25: 3, 26: 3, 28: 3}
# Of these each request and answer is put into the log; the others are counted.
LOGGED = set(FLEXIBLE_FROM)
INVALID_PRODUCER_EPOCH = 47
CONCURRENT_TRANSACTIONS = 51
PRODUCER_FENCED = 90  # what newer EndTxn says instead of 47


class _Reader:
    def __init__(self, data, flexible):
        self.data, self.at, self.flexible = data, 0, flexible

    def number(self, form):
        value, = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def i8(self):
        return self.number(">b")

    def i16(self):
        return self.number(">h")

    def i32(self):
        return self.number(">i")

    def i64(self):
        return self.number(">q")

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if not byte & 0x80:
                return value
            shift += 7

    def length(self, form):
        return self.varint() - 1 if self.flexible else self.number(form)

    def text(self):
        size = self.length(">h")
        if size < 0:
            return None
        value = bytes(self.data[self.at:self.at + size])
        if len(value) != size:
            raise IndexError("a frame shorter than its string")
        self.at += size
        return value.decode("utf-8", "backslashreplace")

    def array(self):
        return max(0, self.length(">i"))

    def tags(self):
        if self.flexible:
            for _ in range(self.varint()):
                self.varint()
                self.at += self.varint()


def request(frame):
    """What a request frame (without its size) says. `frame` starts at the API key."""
    key, version, correlation = struct.unpack_from(">hhi", frame)
    seen = {"key": KEYS.get(key, str(key)), "number": key, "version": version, "correlation": correlation}
    reader = _Reader(frame, False)
    reader.at = 8
    try:
        seen["client"] = reader.text() or ""
        if key not in FLEXIBLE_FROM:
            return seen
        reader.flexible = version >= FLEXIBLE_FROM[key]
        reader.tags()
        if key == 24 and version >= 4:
            return seen  # among brokers only
        seen["txid"] = reader.text()
        if key == 28:
            seen["group"] = reader.text()
        if key == 22:
            seen["timeout_ms"] = reader.i32()
        if key in (22, 24, 25, 26, 28):
            seen["pid"], seen["epoch"] = reader.i64(), reader.i16()
        if key == 25:
            seen["group"] = reader.text()
        if key == 26:
            seen["commit"] = bool(reader.i8())
    except (IndexError, struct.error):
        seen["unreadable"] = True
    return seen


def answer(frame, asked):
    """What the answer to `asked` (from request()) says: {"error": code} of the first thing in it that has one."""
    key, version = asked["number"], asked["version"]
    if key not in FLEXIBLE_FROM or (key == 24 and version >= 4):
        return {}
    reader = _Reader(frame, version >= FLEXIBLE_FROM[key])
    reader.at = 4
    try:
        reader.tags()
        if key in (22, 25, 26):
            reader.i32()
            said = {"error": reader.i16()}
            if key == 22:
                said["pid"], said["epoch"] = reader.i64(), reader.i16()
            return said
        if key != 0:
            reader.i32()
        errors = []
        for _ in range(reader.array()):
            if (key == 0 and version >= 13) or (key == 28 and version >= 6):
                reader.at += 16  # topics by id
            else:
                reader.text()
            for _ in range(reader.array()):
                reader.i32()
                errors.append(reader.i16())
                if key == 0:
                    # What follows differs by version; the first partition of a topic is enough.
                    return {"error": errors[0]}
                reader.tags()
            reader.tags()
        return {"error": next((e for e in errors if e), 0)} if errors else {}
    except (IndexError, struct.error):
        return {"unreadable": True}
