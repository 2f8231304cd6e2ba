"""SQL cases: a directory with pipeline*.sql, in/, expected*/ and case.toml. tests/README.md says how to add one."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass

from . import compare
from .report import Failure
from .weir import ROOT, last_line

FINDING = re.compile(r"^(\S*?[^/\s:]+\.(?:sql|toml)):(\d+):(\d+): ?(.*)$")
DATA = os.path.join(ROOT, "tests", "data")
KNOWN_KEYS = {"story", "field-case", "note", "exit", "options", "compare", "modes", "env", "environment", "errors",
              "stderr", "absent", "dead", "dead-count", "empty", "setup", "large"}
ALL_MODES = ["straight", "batch", "epochs", "kills"]


@dataclass
class Case:
    name: str
    directory: str
    sql: str
    expected_directory: str
    options: dict
    input_directory: str = ""

    def get(self, key, default=None):
        return self.options.get(key, default)

    def outputs(self):
        """spec -> expected bytes. expected/a.jsonl; expected/parts/all (rolling); expected/x.db/TABLE."""
        found = {}
        for directory, _, files in os.walk(self.expected_directory):
            below = os.path.relpath(directory, self.expected_directory)
            for name in files:
                with open(os.path.join(directory, name), "rb") as f:
                    data = f.read()
                if below.endswith(".db"):
                    spec = f"db:{below}:{name}"
                elif name == "all" and below != ".":
                    spec = below + "/"
                else:
                    spec = os.path.normpath(os.path.join(below, name))
                found[spec] = data
        for spec in self.get("empty", []):
            found[spec] = b""
        return found


def load(directory):
    """The cases of one directory: one for each pipeline*.sql. [variant.X] in case.toml belongs to
    pipeline-X.sql, whose expected output is in expected-X/ (else expected/)."""
    with open(os.path.join(directory, "case.toml"), "rb") as f:
        options = tomllib.load(f)
    variants = options.pop("variant", {})
    cases = []
    for path in sorted(glob.glob(os.path.join(directory, "pipeline*.sql"))):
        suffix = os.path.basename(path)[len("pipeline"):-len(".sql")]
        merged = dict(options, **variants.get(suffix.lstrip("-"), {}))
        unknown = set(merged) - KNOWN_KEYS
        if unknown:
            raise Failure(f"{directory}/case.toml: unknown keys {sorted(unknown)}")
        expected = os.path.join(directory, "expected" + suffix)
        if not os.path.isdir(expected):
            expected = os.path.join(directory, "expected")
        cases.append(Case(os.path.basename(directory) + suffix, directory, path, expected, merged))
    if not cases:
        raise Failure(f"{directory} has no pipeline*.sql")
    left_over = set(variants) - {c.name[len(os.path.basename(directory)) + 1:] for c in cases}
    if left_over:
        raise Failure(f"{directory}/case.toml: variants without a pipeline: {sorted(left_over)}")
    return cases


def _run_script(path, *args):
    done = subprocess.run([sys.executable, path, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise Failure(f"{os.path.basename(path)} failed:\n{done.stdout.decode()}")


def make(case, scratch):
    """Runs the case's make.py DATA IN (input made from tests/data) and oracle.py IN EXPECTED (results computed
    from scratch), when it has them. Their output takes the place of in/ and expected/."""
    shutil.rmtree(scratch, ignore_errors=True)
    source = os.path.join(case.directory, "in")
    maker = os.path.join(case.directory, "make.py")
    if os.path.exists(maker):
        source = os.path.join(scratch, "in")
        os.makedirs(source)
        _run_script(maker, DATA, source)
    case.input_directory = source
    judge = os.path.join(case.directory, "oracle.py")
    if os.path.exists(judge):
        case.expected_directory = os.path.join(scratch, "expected")
        os.makedirs(case.expected_directory)
        _run_script(judge, source, case.expected_directory)


def prepare(case, work):
    """A fresh directory with the case's input and its SQL as pipeline.sql."""
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    if os.path.isdir(case.input_directory):
        shutil.copytree(case.input_directory, os.path.join(work, "in"))
    shutil.copyfile(case.sql, os.path.join(work, "pipeline.sql"))
    for name in case.get("setup", []):  # directories that must exist
        os.makedirs(os.path.join(work, name))


def findings(stderr, name="pipeline.sql"):
    """Diagnostics as (line, column, text). The text goes on to the next diagnostic, caret and hints included."""
    found = []
    for line in stderr.splitlines():
        match = FINDING.match(line)
        if match and os.path.basename(match.group(1)) == name:
            found.append([int(match.group(2)), int(match.group(3)), match.group(4)])
        elif found:
            found[-1][2] += "\n" + line
    return [tuple(f) for f in found]


def match_findings(wanted, stderr, name="pipeline.sql"):
    """Each wanted finding, "LINE:COL words that must all occur", has one of its own; and there are no others."""
    left = findings(stderr, name)
    missing = []
    for text in wanted:
        place, _, words = text.partition(" ")
        line, column = (int(part) if part != "*" else None for part in place.split(":"))
        for found in left:
            if found[0] == line and column in (None, found[1]) and contains_words(found[2], words):
                left.remove(found)
                break
        else:
            missing.append(text)
    if missing or left:
        raise Failure("\n".join(["findings differ"] + [f"missing: {m}" for m in missing]
                                + [f"not wanted: {f[0]}:{f[1]}: {f[2].splitlines()[0]}" for f in left]
                                + ["stderr:", stderr[-3000:]]))


def contains_words(text, words):
    """`words`: blank-separated; "a|b" is either; case does not count."""
    lower = text.lower()
    return all(any(option in lower for option in word.lower().split("|")) for word in words.split())


def dead_letters(work, state="pipeline.weir"):
    """subject -> rows of dead/SUBJECT*.jsonl, in the order of the files' names."""
    found = {}
    for path in sorted(glob.glob(os.path.join(work, state, "dead", "*.jsonl"))):
        subject = re.split(r"[.-]", os.path.basename(path))[0]
        with open(path, encoding="utf-8") as f:
            found.setdefault(subject, []).extend(json.loads(line) for line in f)
    return found


def dead_bytes(work, state="pipeline.weir"):
    """All dead letters as one text, for comparing two runs. Ends as an output does, without sequence numbers."""
    out = b""
    for path in sorted(glob.glob(os.path.join(work, state, "dead", "*.jsonl"))):
        with open(path, "rb") as f:
            out += os.path.basename(path).encode() + b"\n" + f.read()
    return out


def _position(case, wanted):
    """Where the dead record begins: `pos`, or the offset of `line` in `input` (the only file of in/)."""
    if "pos" in wanted:
        return wanted["pos"]
    directory = case.input_directory
    name = wanted.get("input") or sorted(os.listdir(directory))[0]
    with open(os.path.join(directory, name), "rb") as f:
        lines = f.read().split(b"\n")
    return sum(len(line) + 1 for line in lines[:wanted["line"] - 1])


def check_dead(case, work, log=""):
    """`dead` of case.toml: every dead letter, each by its place, stage and words of its message; no others."""
    wanted = case.get("dead", [])
    got = dead_letters(work)
    if "dead-count" in case.options:  # too many to list: the oracle's own dead.jsonl judges those that are selected
        count = sum(len(rows) for rows in got.values())
        if count != case.get("dead-count"):
            raise Failure(f"{count} dead letters in dead/, want {case.get('dead-count')}", log)
        return
    left = [(subject, row) for subject, rows in got.items() for row in rows]
    missing = []
    for want in wanted:
        position = _position(case, want) if ("line" in want or "pos" in want) else None
        for subject, row in left:
            if want.get("subject", "src") != subject:
                continue
            if position is not None and row["pos"] != position:
                continue
            if "stage" in want and row["stage"] != want["stage"]:
                continue
            if "code" in want and row["code"] != want["code"]:
                continue
            if "raw" in want and row["raw"] != want["raw"]:
                continue
            if not contains_words(row["message"], want.get("message", "")):
                continue
            left.remove((subject, row))
            break
        else:
            missing.append(want)
    if missing or left:
        raise Failure("\n".join(["dead letters differ"] + [f"missing: {m}" for m in missing]
                                + [f"not wanted: {s}: {json.dumps(r, ensure_ascii=False)[:400]}" for s, r in left]), log)


def check_outputs(case, work, log=""):
    """Every expected output, as bytes unless `compare` of the case says "rows"."""
    modes = case.get("compare", {})
    for spec, want in sorted(case.outputs().items()):
        if spec == "stdout":
            continue
        if not want and spec in case.get("empty", []) and not os.path.exists(os.path.join(work, spec)):
            continue  # an output without rows may as well not exist
        got = compare.output_bytes(work, spec)
        if modes.get(spec) == "rows":
            compare.require_rows(want, got, spec, log)
        else:
            compare.require_equal(want, got, spec, log)


def snapshot(case, work):
    """All that two runs of the case must have in common, byte for byte."""
    taken = {"dead letters": dead_bytes(work)}
    for spec in case.outputs():
        if spec != "stdout" and (spec.startswith("db:") or os.path.exists(os.path.join(work, spec))):
            taken[spec] = compare.output_bytes(work, spec)
    return taken


def require_same(want, got, what, log=""):
    for spec in sorted(set(want) | set(got)):
        compare.require_equal(want.get(spec, b""), got.get(spec, b""), f"{what}: {spec}", log)


def check_exit(case, life, log):
    want = case.get("exit", 0)
    if life.code != want:
        raise Failure(f"exit {life.code}, want {want}: {last_line(life.err)}", log)
    for words in case.get("stderr", []):
        if not contains_words(life.err, words):
            raise Failure(f"stderr does not say '{words}'", log)
    for text in case.get("absent", []):
        if text in life.err:
            raise Failure(f"stderr says '{text}'", log)
