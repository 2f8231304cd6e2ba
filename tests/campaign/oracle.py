"""Judges what a read_committed reader sees while a campaign runs: windows, rows passed through, late rows.

Says no at the first wrong row; what may still be on its way is not missing before the end."""
import collections
import json

from events import BOUND_MS, WINDOW_MS, START
import datetime

WRONG = ("missing", "duplicate", "conflicting", "foreign", "late")


def ms(text):
    moment = datetime.datetime.fromisoformat(text.replace(" ", "T"))
    delta = moment - START
    return (delta.days * 86400 + delta.seconds) * 1000 + delta.microseconds // 1000


class Oracle:
    def __init__(self, expected):
        self.expected = expected
        self.seen = {}  # (start, key) -> (count, sum)
        self.seen_of = collections.Counter()  # start -> keys
        self.unjudged = collections.deque()  # seen before the generator knew all of the window
        self.picked = set()
        self.wrong = collections.Counter()
        self.examples = []
        self.right = 0

    def _no(self, name, example):
        self.wrong[name] += 1
        if len(self.examples) < 40:
            self.examples.append(f"{name}: {example}")

    def window(self, record):
        place = f"partition {record['partition']} offset {record['offset']}"
        try:
            row = json.loads(record["value"])
            name = (ms(row["window_start"]), row["k"])
            content = (row["n"], row["s"])
        except (KeyError, TypeError, ValueError):
            self._no("foreign", f"{record.get('value')!r} at {place}")
            return
        if name in self.seen:
            self._no("duplicate" if self.seen[name] == content else "conflicting",
                     f"window {name} {content} at {place}, seen as {self.seen[name]}")
            return
        self.seen[name] = content
        self.seen_of[name[0]] += 1
        self.unjudged.append((name, content, place))

    def passed(self, record):
        place = f"partition {record['partition']} offset {record['offset']}"
        try:
            name = json.loads(record["value"])["id"]
        except (KeyError, TypeError, ValueError):
            self._no("foreign", f"{record.get('value')!r} at {place}")
            return
        if name in self.picked:
            self._no("duplicate", f"row {name} at {place}")
        self.picked.add(name)

    def late(self, record):
        self._no("late", f"an on-time row was filed as late: {record.get('value')}")

    def judge(self):
        """The windows that can be judged by now. True while nothing is wrong."""
        for _ in range(len(self.unjudged)):
            name, content, place = self.unjudged.popleft()
            start, key = name
            if not self.expected.whole(start):
                self.unjudged.append((name, content, place))
                continue
            want = self.expected.windows.get(start, {}).get(key)
            if want is None:
                self._no("foreign", f"window {name} {content} at {place}")
            elif tuple(want) != content:
                self._no("conflicting", f"window {name}: want {tuple(want)}, got {content} at {place}")
            else:
                self.right += 1
        return not self.wrong

    def delivered_up_to(self, until):
        """Whether all windows that end by then are there, and so many rows."""
        return all(self.seen_of[start] >= len(keys) for start, keys in self.expected.windows.items()
                   if start + WINDOW_MS <= until)

    def lacks(self, until):
        return sum(max(0, len(keys) - self.seen_of[start]) for start, keys in self.expected.windows.items()
                   if start + WINDOW_MS <= until)

    def finish(self, until):
        """At the end: windows up to `until` and every row that was passed through must be there."""
        self.judge()
        for start, keys in self.expected.windows.items():
            for key, content in keys.items():
                if start + WINDOW_MS <= until and (start, key) not in self.seen:
                    self._no("missing", f"window {(start, key)} {tuple(content)}")
        for name in self.expected.picked - self.picked:
            self._no("missing", f"row {name}")
        for name in self.picked - self.expected.picked:
            self._no("foreign", f"row {name}")
        for name, content, place in self.unjudged:
            if name[0] + WINDOW_MS <= until:
                self._no("foreign", f"window {name} {content} at {place}")
        return not self.wrong


def closing_time(expected):
    """An event of this time in every partition closes every window that events so far fell into."""
    return max(expected.stream.time(n) for n in expected.produced) + WINDOW_MS + BOUND_MS + 1
