"""The oracle of the campaign is shown every kind of wrong, and must say no; and a right run, and must say yes."""
import copy
import json

from events import JITTER_MS, PARTITIONS, PICKED_FROM, WINDOW_MS, Expected, Stream, text
from oracle import Oracle, closing_time
from weirtest.report import Failure


def run_of(count=3000):
    """A whole run: what was expected, and the records that a right pipeline delivers."""
    expected = Expected(Stream(7, 1_700_000_000_000, 100))
    passed = []
    for partition in range(PARTITIONS):
        for sequence in range(count):
            event = expected.stream.event(partition, sequence)
            expected.add(partition, event)
            if event[2] >= PICKED_FROM:
                passed.append({"id": event[0]})
    windows = [{"k": key, "window_start": text(start), "n": n, "s": s}
               for start, keys in expected.windows.items() for key, (n, s) in keys.items()]
    return expected, windows, passed


def judged(expected, windows, passed, late=()):
    oracle = Oracle(expected)
    for method, rows in ((oracle.window, windows), (oracle.passed, passed), (oracle.late, late)):
        for i, row in enumerate(rows):
            method({"partition": 0, "offset": i, "value": row if isinstance(row, str) else json.dumps(row)})
    oracle.finish(closing_time(expected))
    return oracle.wrong


def oracle_says_no():
    expected, windows, passed = run_of()
    if len(windows) < 1000 or len(passed) < 500:
        raise Failure("too little to judge")
    # Windows that are not whole yet are judged at the end of a campaign, when they were closed.
    expected.frontier = lambda: closing_time(expected)
    if judged(expected, windows, passed):
        raise Failure(f"a right run is wrong: {judged(expected, windows, passed)}")
    altered = copy.deepcopy(windows)
    altered[5]["n"] += 1
    summed = copy.deepcopy(windows)
    summed[5]["s"] -= 1
    moved = copy.deepcopy(windows)
    moved[5]["window_start"] = text(1_700_000_000_000 - 100 * WINDOW_MS)
    cases = [("missing", windows[1:], passed, ()), ("missing", windows, passed[1:], ()),
             ("duplicate", windows + windows[:1], passed, ()), ("duplicate", windows, passed + passed[:1], ()),
             ("conflicting", altered, passed, ()), ("conflicting", summed, passed, ()),
             ("conflicting", windows + altered[5:6], passed, ()), ("foreign", moved, passed, ()),
             ("foreign", windows + ["no json"], passed, ()), ("foreign", windows, passed + [{"id": "9-9"}], ()),
             ("late", windows, passed, passed[:1])]
    for name, *run in cases:
        if not judged(expected, *run)[name]:
            raise Failure(f"{name} was not seen")


def a_window_is_not_judged_too_early():
    expected, windows, _ = run_of(count=2000)
    whole = [w for w in windows if expected.whole(ms_of(w))]
    if not whole or len(whole) == len(windows):
        raise Failure("the run ends at the end of a window: it shows nothing")
    oracle = Oracle(expected)
    for i, row in enumerate(windows):
        oracle.window({"partition": 0, "offset": i, "value": json.dumps(row)})
    if not oracle.judge() or oracle.right != len(whole):
        raise Failure(f"{oracle.right} windows judged, {len(whole)} are whole")


def ms_of(window):
    from oracle import ms
    return ms(window["window_start"])


def events_are_a_pure_function():
    one, two = Stream(3, 10**12, 50), Stream(3, 10**12, 50)
    events = [one.event(p, n) for p in range(PARTITIONS) for n in range(500)]
    if events != [two.event(p, n) for p in range(PARTITIONS) for n in range(500)]:
        raise Failure("not the same twice")
    if events == [Stream(4, 10**12, 50).event(p, n) for p in range(PARTITIONS) for n in range(500)]:
        raise Failure("the seed does nothing")
    for name, _, _, time_ms in events:
        sequence = int(name.split("-")[1])
        if not 0 <= one.time(sequence) - time_ms < JITTER_MS:
            raise Failure("an event is further out of order than it may be")


CHECKS = [oracle_says_no, a_window_is_not_judged_too_early, events_are_a_pure_function]
