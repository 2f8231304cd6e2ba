"""The input of a campaign and what must come of it: events are a pure function of (seed, partition, sequence), so the
expected windows follow from how far each partition was produced. Shares no code with weir."""
import datetime

MASK = (1 << 64) - 1
PARTITIONS = 4
KEYS = 100_000
WINDOW_MS = 10_000
JITTER_MS = 1_500
BOUND_MS = 2_000  # of the watermark: above the jitter, so nothing of this is ever late
PICKED_FROM = 900  # amounts run from 0 to 999; rows from here on are passed through as they are
START = datetime.datetime(1970, 1, 1)


def mixed(seed, partition, sequence):
    """64 bits that look random (the finaliser of SplitMix64)."""
    x = (seed * 0x9E3779B97F4A7C15 + (partition << 48) + sequence) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def text(ms):
    moment = START + datetime.timedelta(milliseconds=ms)
    return moment.strftime("%Y-%m-%d %H:%M:%S.") + f"{moment.microsecond // 1000:03d}"


class Stream:
    """`rate`: events a second and partition; `base_ms`: the time of sequence 0."""

    def __init__(self, seed, base_ms, rate):
        self.seed, self.base_ms, self.rate = seed, base_ms, rate

    def time(self, sequence):
        """Of an event without its jitter: no later event of its partition is older than this minus the jitter."""
        return self.base_ms + sequence * 1000 // self.rate

    def event(self, partition, sequence):
        """(id, key, amount, time in ms)."""
        bits = mixed(self.seed, partition, sequence)
        return (f"{partition}-{sequence}", f"k{bits % KEYS}", (bits >> 24) % 1000,
                self.time(sequence) - (bits >> 40) % JITTER_MS)


class Expected:
    """What must have come out, as far as it was produced. Windows whole: no event can fall into them any more."""

    def __init__(self, stream):
        self.stream = stream
        self.produced = [0] * PARTITIONS
        self.windows = {}  # start -> {key -> [count, sum]}
        self.picked = set()

    def add(self, partition, event):
        name, key, amount, time_ms = event
        entry = self.windows.setdefault(time_ms // WINDOW_MS * WINDOW_MS, {}).setdefault(key, [0, 0])
        entry[0] += 1
        entry[1] += amount
        if amount >= PICKED_FROM:
            self.picked.add(name)
        self.produced[partition] += 1

    def frontier(self):
        """Nothing older than this will be produced."""
        return min(self.stream.time(n) for n in self.produced) - JITTER_MS

    def whole(self, start):
        return start + WINDOW_MS <= self.frontier()
