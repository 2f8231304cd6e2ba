"""What the results must be, computed from scratch: rows of several files in reading order, watermarks, TUMBLE and
SESSION. Written from docs/time.md, in another language, sharing nothing with weir. Times are ms since 1970."""
import datetime
import json
from collections import OrderedDict

NEVER = float("-inf")
END = float("inf")
EPOCH = datetime.datetime(1970, 1, 1)


def ms(text):
    """'2024-03-01 10:00:00.123' (T or blank, fraction optional) as UTC."""
    moment = datetime.datetime.fromisoformat(text.replace(" ", "T"))
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    delta = moment - EPOCH
    return (delta.days * 86400 + delta.seconds) * 1000 + delta.microseconds // 1000


def text(time_ms):
    moment = EPOCH + datetime.timedelta(milliseconds=time_ms)
    return moment.strftime("%Y-%m-%d %H:%M:%S.") + f"{moment.microsecond // 1000:03d}"


def json_line(row):
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"


class Partition:
    """One file: its name and its records as (row or None, ts or None); None as row: no row comes of it."""

    def __init__(self, name, records):
        self.name, self.records = name, records
        self.at = 0
        first = next((ts for row, ts in records if row is not None and ts is not None), None)
        self.highest = NEVER if first is None else first  # the peek
        self.ended = not records


def in_reading_order(partitions, bound, drift=None):
    """Yields (partition, row, ts, watermark made by the rows before it), then (None, None, None, END).

    The file with the lowest watermark is read (ties by path) until it is more than `drift` ahead of the next."""
    drift = max(4 * bound, 30000) if drift is None else drift
    parts = sorted(partitions, key=lambda p: p.name)
    watermark = NEVER
    current = None

    def own(p):
        return p.highest - bound

    def recompute(low):
        return max(watermark, min((own(p) for p in parts if not p.ended), default=low))

    watermark = recompute(NEVER)
    while True:
        active = [p for p in parts if not p.ended]
        if not active:
            yield None, None, None, END
            return
        if current is None or current.ended:
            current = min(active, key=lambda p: (own(p), p.name))
        others = min((own(p) for p in active if p is not current), default=END)
        if current.at == len(current.records):
            current.ended = True
            watermark = recompute(watermark)
            continue
        row, ts = current.records[current.at]
        # Somebody whose time is not known (a file without a usable row) stops nobody.
        if row is not None and others != NEVER and own(current) > others + drift:
            current = None
            continue
        current.at += 1
        if row is None:
            continue
        yield current, row, ts, watermark
        if ts is not None and ts > current.highest:
            current.highest = ts
            watermark = max(watermark, min(own(current), others))


class Tumble:
    """Results in window_end order, in a window in first-seen order of keys. add() is False for a late row."""

    def __init__(self, size, new, offset=0):
        self.size, self.offset, self.new = size, offset, new
        self.open = {}  # start -> OrderedDict(key -> accumulator)
        self.fired = []  # (start, end, key, accumulator)

    def window(self, ts):
        start = (ts - self.offset) // self.size * self.size + self.offset
        return start, start + self.size

    def add(self, key, ts, watermark):
        """The accumulator to add to, or None for a late row."""
        start, end = self.window(ts)
        if end - 1 <= watermark:
            return None
        groups = self.open.setdefault(start, OrderedDict())
        if key not in groups:
            groups[key] = self.new()
        return groups[key]

    def advance(self, watermark):
        for start in sorted(s for s in self.open if s + self.size - 1 <= watermark):
            for key, accumulator in self.open.pop(start).items():
                self.fired.append((start, start + self.size, key, accumulator))


class Session:
    """Flink's rule: a row is merged with the open sessions that it touches first, and is late only when the merged
    end - 1 is at or below its watermark."""

    def __init__(self, gap, new, merge):
        self.gap, self.new, self.merge = gap, new, merge
        self.open = {}  # key -> list of [start, end, accumulator]
        self.fired = []

    def add(self, key, ts, watermark):
        # A session that should have fired before this row counts as fired for it.
        self.advance(watermark)
        sessions = self.open.get(key, [])
        start, end = ts, ts + self.gap
        touched = [s for s in sessions if s[0] <= end and start <= s[1]]
        for s in touched:
            start, end = min(start, s[0]), max(end, s[1])
        if end - 1 <= watermark:
            return None
        accumulator = self.new()
        for s in touched:
            accumulator = self.merge(accumulator, s[2])
            sessions.remove(s)
        sessions.append([start, end, accumulator])
        self.open[key] = sessions
        return accumulator

    def advance(self, watermark):
        due = [(s[1], key, s) for key, sessions in self.open.items() for s in sessions if s[1] - 1 <= watermark]
        for end, key, s in sorted(due, key=lambda d: d[0]):
            self.open[key].remove(s)
            self.fired.append((s[0], end, key, s[2]))
