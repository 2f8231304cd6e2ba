"""What "equal output" means (docs/testing): append files, the bytes; rolling files, the concatenation in
name order; SQLite, the table ordered by all columns. Rows as a multiset only where a case asks for it."""
import collections
import decimal
import difflib
import glob
import json
import os
import sqlite3

from .report import Failure


def rolling_files(directory):
    """The visible files of a rolling sink, in name order: names that begin with a dot are in progress."""
    return sorted(p for p in glob.glob(os.path.join(directory, "*")) if os.path.isfile(p))


def rolling_bytes(directory):
    out = b""
    for path in rolling_files(directory):
        with open(path, "rb") as f:
            out += f.read()
    return out


def table_bytes(path, table):
    """A table's rows as JSON lines, ordered by all columns; blobs as hex."""
    if not os.path.exists(path):
        raise Failure(f"no database at {path}")
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
        if not columns:
            raise Failure(f"{path} has no table {table}")
        names = ", ".join(f'"{c}"' for c in columns)
        rows = connection.execute(f'SELECT {names} FROM "{table}"').fetchall()
    finally:
        connection.close()
    rows = [[value.hex() if isinstance(value, bytes) else value for value in row] for row in rows]
    rows.sort(key=lambda row: [(value is not None, str(type(value)), value) for value in row])
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def output_bytes(base, spec):
    """The bytes of one output. `spec`: a path; a path that ends in / (rolling); db:PATH:TABLE."""
    if spec.startswith("db:"):
        _, path, table = spec.split(":")
        return table_bytes(os.path.join(base, path), table)
    path = os.path.join(base, spec)
    if spec.endswith("/"):
        return rolling_bytes(path)
    try:
        with open(path, "rb") as f:
            return f.read()
    except FileNotFoundError:
        raise Failure(f"no output {spec}") from None


def canonical_rows(data):
    """JSON lines as a multiset. Numbers keep their digits: DECIMAL by value would hide a lost trailing zero."""
    rows = []
    for number, line in enumerate(data.decode("utf-8").splitlines(), 1):
        try:
            row = json.loads(line, parse_float=lambda t: ("n", decimal.Decimal(t)),
                             parse_int=lambda t: ("n", decimal.Decimal(t)),
                             object_pairs_hook=tuple)
        except ValueError as error:
            raise Failure(f"line {number} is no JSON: {error}: {line[:200]}") from None
        rows.append(repr(row))
    return collections.Counter(rows)


def difference(want, got, label="output"):
    """"" when equal, else a diff for people."""
    if want == got:
        return ""
    want_lines = want.decode("utf-8", "backslashreplace").splitlines()
    got_lines = got.decode("utf-8", "backslashreplace").splitlines()
    diff = list(difflib.unified_diff(want_lines, got_lines, "want", "got", lineterm="", n=1)) \
        if len(want_lines) + len(got_lines) < 20000 else []
    head = f"{label} differs: want {len(want_lines)} lines, {len(want)} bytes; got {len(got_lines)}, {len(got)}"
    first = next((i for i, (a, b) in enumerate(zip(want_lines, got_lines)) if a != b),
                 min(len(want_lines), len(got_lines)))
    head += f"; first at line {first + 1}"
    return "\n".join([head, *diff[:40]])


def require_equal(want, got, label, log=""):
    text = difference(want, got, label)
    if text:
        raise Failure(text, log)


def require_rows(want, got, label, log=""):
    """The same rows, in any order."""
    a, b = canonical_rows(want), canonical_rows(got)
    if a == b:
        return
    missing, extra = a - b, b - a
    text = [f"{label}: {sum(missing.values())} rows missing, {sum(extra.values())} too many"]
    text += [f"missing {row}" for row in list(missing)[:10]]
    text += [f"extra   {row}" for row in list(extra)[:10]]
    raise Failure("\n".join(text), log)
