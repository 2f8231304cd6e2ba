#!/usr/bin/env python3
"""The judges judged: each comparison and each reader of results is shown a broken expectation and must say no."""
import os
import sqlite3
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))

from weirtest import books, cases, compare, oracle, workload  # noqa: E402
from weirtest.report import Failure, Report  # noqa: E402
from weirtest.weir import LOG_DIR  # noqa: E402


def refuses(function, *args):
    try:
        function(*args)
    except Failure:
        return
    raise Failure(f"{function.__name__}{args!r} found nothing wrong")


def expect(condition, what):
    if not condition:
        raise Failure(what)


def bytes_are_bytes():
    compare.require_equal(b"a\n", b"a\n", "x")
    for got in (b"", b"a", b"a\n\n", b"a\nb\n", b"b\n"):
        refuses(compare.require_equal, b"a\n", got, "x")


def rows_are_a_multiset():
    compare.require_rows(b'{"a":1}\n{"a":2}\n', b'{"a":2}\n{"a":1}\n', "x")
    for got in (b'{"a":1}\n', b'{"a":1}\n{"a":2}\n{"a":2}\n', b'{"a":1}\n{"a":3}\n', b'{"a":1}\n{"a":2.0}\n'[:-1] + b"x\n",
                b'{"b":1}\n{"a":2}\n', b'{"a":"1"}\n{"a":2}\n', b'{"a":1}\n{"a":null}\n'):
        refuses(compare.require_rows, b'{"a":1}\n{"a":2}\n', got, "x")
    # Digits beyond a double, and the order of columns.
    refuses(compare.require_rows, b'{"a":9007199254740993}\n', b'{"a":9007199254740992}\n', "x")
    refuses(compare.require_rows, b'{"a":1,"b":2}\n', b'{"b":2,"a":1}\n', "x")


def tables_and_parts():
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "x.db")
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE t (a, b)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(2, None), (1, "x"), (1, None)])
        connection.commit()
        connection.close()
        expect(compare.table_bytes(path, "t") == b'[1, null]\n[1, "x"]\n[2, null]\n', "a table's order")
        refuses(compare.table_bytes, path, "nothing")
        refuses(compare.table_bytes, path + "x", "t")
        for name, text in (("part-2", "b"), ("part-1", "a"), (".part-3.inprogress", "c")):
            with open(os.path.join(work, name), "w", encoding="utf-8") as f:
                f.write(text)
        os.unlink(path)
        expect(compare.rolling_bytes(work) == b"ab", "a file in progress is no output")


STDERR = """pipeline.sql:2:3: error: "timestamp" is a reserved word
  timestamp TIMESTAMP(3),
  ^~~~~~~~~
  hint: write `timestamp`
pipeline.sql:13:8: error: no column amuont; did you mean amount
"""


def findings_are_all_wanted():
    good = ["2:3 timestamp `timestamp`", "13:8 amuont amount"]
    cases.match_findings(good, STDERR)
    for wanted in (good[:1], [*good, "1:1 more"], ["2:4 timestamp", good[1]], ["2:3 nothing-of-it", good[1]], []):
        refuses(cases.match_findings, wanted, STDERR)
    expect(not cases.contains_words("the window grows", "window shrinks"), "every word must occur")
    expect(cases.contains_words("the Window grows", "window shrinks|GROWS"), "one of the alternatives must occur")


def books_must_balance():
    good = {"scan": {"read": 10, "decoded": 8, "dead": 1, "skipped": 1}, "calc": {"in": 8, "out": 5, "filtered": 3},
            "w": {"in": 5, "placed": 4, "late": 1, "assigned": 4, "fired": 3, "open": 1},
            "sink:out": {"in": 3, "staged": 3, "sealed": 3, "acked": 3}}
    books.require_balance({"books": good})
    for node, count in (("scan", "read"), ("scan", "dead"), ("calc", "filtered"), ("w", "late"), ("w", "fired"),
                        ("sink:out", "staged"), ("sink:out", "acked")):
        broken = {name: dict(counts) for name, counts in good.items()}
        broken[node][count] += 1
        refuses(books.require_balance, {"books": broken})
    refuses(books.require_balance, {"books": {}})
    refuses(books.require_balance, {})
    refuses(books.require_balance, {"books": good, "reasons": ["the books do not balance: x"]})


def the_oracle_knows_time():
    ts = oracle.ms("1969-12-31 23:59:59.999")
    expect(ts == -1 and oracle.text(ts) == "1969-12-31 23:59:59.999", "before 1970")
    expect(oracle.ms("2026-07-03T14:20:00+02:00") == oracle.ms("2026-07-03 12:20:00"), "offsets")
    # One file, bound 5 s: the row at 14.999 takes the watermark to the last millisecond of [0, 10).
    rows = [({"v": i}, t) for i, t in enumerate((3000, 14999, 9999, 15000, 9998))]
    windows, late = oracle.Tumble(10000, lambda: {"n": 0}), []
    for _, row, t, watermark in oracle.in_reading_order([oracle.Partition("a", rows)], 5000):
        windows.advance(watermark)
        if row is not None:
            group = windows.add("", t, watermark)
            if group is None:
                late.append(row["v"])
            else:
                group["n"] += 1
    expect(late == [2, 4], f"late rows {late}")
    expect([(s, g["n"]) for s, _, _, g in windows.fired] == [(0, 1), (10000, 2)], "windows")
    # Two files: the one behind holds the watermark, and is read first.
    a = oracle.Partition("a", [({"v": 1}, 100000), ({"v": 2}, 200000)])
    b = oracle.Partition("b", [({"v": 3}, 1000), ({"v": 4}, 150000)])
    order = [(row["v"], w) for _, row, _, w in oracle.in_reading_order([a, b], 1000, 30000) if row]
    expect(order == [(3, 0), (4, 0), (1, 99000), (2, 99000)], f"reading order {order}")


def the_workload_holds_what_it_must():
    """Late rows, bad rows, rows that fail in an expression: without them the crash layer would show little."""
    lines = workload.events(1, 1500, "a")
    expect(lines == workload.events(1, 1500, "a"), "a pure function of the seed")
    expect(lines != workload.events(2, 1500, "a"), "the seed counts")
    expect(sum('"d":"x"' in line for line in lines) > 10, "rows that fail in an expression")
    expect(sum(not line.startswith("{") for line in lines) > 3, "rows that are no JSON")


def main():
    report = Report("selftest", LOG_DIR)
    for check in (bytes_are_bytes, rows_are_a_multiset, tables_and_parts, findings_are_all_wanted, books_must_balance,
                  the_oracle_knows_time, the_workload_holds_what_it_must):
        report.check(check.__name__.replace("_", "-"), check)
    report.finish()


if __name__ == "__main__":
    main()
