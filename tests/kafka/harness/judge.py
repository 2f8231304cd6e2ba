"""What the delivered rows must be, and who is wrong about it. Shares no code with weir.

A row has an identity (what must occur once) and a content. Verdicts: missing (never seen), duplicate (seen twice),
conflicting (seen with another content), foreign (an identity that nobody produced)."""
import base64
import collections
import json

from weirtest.report import Failure

NAMES = ("missing", "duplicate", "conflicting", "foreign")
EXAMPLES = 8


class Verdict:
    def __init__(self):
        self.counts = dict.fromkeys(NAMES, 0)
        self.examples = {name: [] for name in NAMES}
        self.right = 0

    def add(self, name, example):
        self.counts[name] += 1
        if len(self.examples[name]) < EXAMPLES:
            self.examples[name].append(example)

    @property
    def exact(self):
        return not any(self.counts.values())

    def text(self):
        lines = [f"{self.right} right, " + ", ".join(f"{self.counts[name]} {name}" for name in NAMES)]
        lines += [f"{name}: {example}" for name in NAMES for example in self.examples[name]]
        return "\n".join(lines)

    def require(self, what, log=""):
        if not self.exact:
            raise Failure(f"{what}: {self.text()}", log)


class Judge:
    """Rows as they come in; nothing is kept of a row but its place, so a long campaign can feed it for hours."""

    def __init__(self, identity, content):
        self.identity, self.content = identity, content
        self.seen = {}  # identity -> [content, place, times]
        self.unreadable = []

    def add(self, row, place=""):
        name = self.identity(row)
        entry = self.seen.setdefault(name, [self.content(row), place, 0, []])
        entry[2] += 1
        if entry[2] > 1:
            entry[3].append(place)
            if self.content(row) != entry[0]:
                entry[0] = ("two contents", entry[0], self.content(row))

    def judge(self, expected, complete=lambda name: True):
        """`expected`: identity -> content. `complete(name)`: False for what may still be on its way; such a row may be
        absent, but never wrong, twice or foreign."""
        verdict = Verdict()
        for name, content in expected.items():
            entry = self.seen.get(name)
            if entry is None:
                if complete(name):
                    verdict.add("missing", f"{name}: {content}")
                continue
            self._judge_one(verdict, name, content, entry)
        for name, entry in self.seen.items():
            if name not in expected:
                verdict.add("foreign", f"{name}: {entry[0]} at {entry[1]}")
        return verdict

    @staticmethod
    def _judge_one(verdict, name, content, entry):
        wrong = False
        if entry[2] > 1:
            verdict.add("duplicate", f"{name}: {entry[2]} times, at {entry[1]} and {', '.join(map(str, entry[3][:3]))}")
            wrong = True
        if entry[0] != content:
            verdict.add("conflicting", f"{name}: want {content}, got {entry[0]} at {entry[1]}")
            wrong = True
        verdict.right += not wrong


def value(record):
    """The JSON of a record's value; a value that is none is no reason to die, it is a wrong row."""
    try:
        return json.loads(record["value"])
    except (KeyError, TypeError, ValueError):
        return {"not json": record.get("value", record.get("value_b64"))}


def base64_bytes(text):
    return base64.b64decode(text or "")


def place(record):
    return f"partition {record['partition']} offset {record['offset']}"


def judge_rows(expected, records, key):
    """Records whose values are the rows `expected` (a list of dicts), each once; `key`: the column that names a row."""
    judge = Judge(lambda row: row.get(key), lambda row: json.dumps(row, sort_keys=True))
    for record in records:
        judge.add(value(record), place(record))
    return judge.judge({row[key]: json.dumps(row, sort_keys=True) for row in expected})


class Windows:
    """Tumbling counts and sums from scratch: a pure sum over the input, since with disorder below the bound no row is
    late. What is late must be in the late rows, and then it is not in the window."""

    def __init__(self, size_ms):
        self.size_ms = size_ms
        self.windows = collections.defaultdict(lambda: [0, 0])

    def add(self, key, time_ms, amount=0):
        entry = self.windows[(key, time_ms // self.size_ms * self.size_ms)]
        entry[0] += 1
        entry[1] += amount

    def expected(self):
        return {name: tuple(entry) for name, entry in self.windows.items()}
