"""Input for the crash, restart and disk layers: three files of events, a pure function of a seed."""
import json
import os
import random

BASE_MS = 1709287200000  # 2024-03-01 10:00:00


def _stamp(ms):
    from . import oracle
    return oracle.text(ms)


def events(seed, rows, name, late_share=0.02, bad_share=0.01, keys=17, step_ms=40, pad=0):
    """The lines of one file. Out of order by up to 3 s; some rows come a minute late; some lines are bad. `pad`: so many
    random bytes as text in a field p of their own."""
    rng = random.Random(f"{seed}/{name}")
    lines = []
    for i in range(rows):
        roll = rng.random()
        ts = BASE_MS + i * step_ms - rng.randrange(0, 3000)
        if roll < bad_share:
            lines.append(rng.choice(["no json", "", '{"id":', '{"id":"x","ts":"2024-03-01 10:00:00"}', "\u00e9" * 3]))
            continue
        if roll < bad_share + late_share:
            ts -= 60000
        row = {"id": f"{name}-{i}", "k": f"k{rng.randrange(keys)}", "v": rng.randrange(-1000, 1000), "ts": _stamp(ts),
               "d": rng.choice(["1", "0", "5"]) if roll > 0.03 else "x"}
        if pad:
            row["p"] = rng.randbytes(pad).hex()
        lines.append(json.dumps(row, separators=(",", ":")))
    return lines


def write_files(directory, seed=1, rows=1500, names=("a", "b", "c"), **kwargs):
    os.makedirs(directory, exist_ok=True)
    for name in names:
        with open(os.path.join(directory, f"{name}.jsonl"), "w", encoding="utf-8") as f:
            f.writelines(line + "\n" for line in events(seed, rows, name, **kwargs))
