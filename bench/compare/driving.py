"""Driving environments: turns the measurements of `bench/gym` into contests.

`python -m compare.driving <bench/gym> <seconds> <rounds> <out.json>`, in the venv that has the
packages of the environments. `bench/gym/run.py` does the measurements. Each group of environments
gives two contests: steps per second, and simulated seconds per second. There are two because the
steps of environments have different lengths.
"""

import importlib.util
import json
import statistics
import sys
from pathlib import Path

# Key, title and reference environment of each group.
_GROUPS = (
    ("gym-state", "driving environment, lidar or state", "chicane lidar"),
    ("gym-camera", "driving environment, pictures", "chicane camera"),
)
_OURS = "chicane"


def group_of(name: str) -> str:
    """The group of an environment: with or without pictures."""
    return "gym-camera" if "camera" in name or name == "carracing" else "gym-state"


def measure(rows: list, rate, seconds: float, rounds: int) -> dict:
    """Steps per second of every environment in every round.

    Environments that do not start or that fail in a round are left out.
    """
    found = {name: [] for name, *_ in rows}
    for i in range(rounds):
        for name, *_ in rows:
            if i == 0 or found[name]:
                one = rate(name, seconds, 1)
                # `one` holds the rate by real time, then the rate by processor time.
                found[name] += [] if one is None else [one[0]]
    return {name: values for name, values in found.items() if len(values) == rounds}


def contests(rows: list, found: dict) -> list:
    """The contests in the format of `joined.py`: steps and simulated seconds per second."""
    out = []
    for key, title, first in _GROUPS:
        if first not in found:
            continue
        here = [row for row in rows if group_of(row[0]) == key and row[0] in found]
        here.sort(key=lambda row: row[0] != first)
        per_step = {name: (f"{shown} ({each:g} s a step)", each) for name, shown, _, each in here}
        does = "; ".join(f"{shown}: {what}" for _, shown, what, _ in here)
        for more, unit, counts in (("", "steps/s", False), ("-time", "× real time", True)):
            entries = [
                {
                    "key": name,
                    "title": shown.replace("`", ""),
                    "ours": name.startswith(_OURS),
                    "figure": (each if counts else 1.0) * statistics.median(found[name]),
                }
                | _ratios(found, first, name, per_step[first][1] / each if counts else 1.0)
                for name, (shown, each) in per_step.items()
            ]
            note = "the same runs, in simulated time" if counts else does
            named = f"{title}, simulated time" if counts else title
            out.append({"key": key + more, "title": named, "unit": unit, "note": note})
            out[-1]["entries"] = entries
    return out


def _ratios(found: dict, first: str, name: str, weight: float) -> dict:
    ratios = [weight * a / b for a, b in zip(found[first], found[name], strict=True)]
    low, _, high = (
        statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3
    )
    return {"ratio": statistics.median(ratios), "ratio_low": low, "ratio_high": high}


def main(folder: str, seconds: str, rounds: str, file: str) -> None:
    """Measures all environments and writes the file."""
    spec = importlib.util.spec_from_file_location("gym_bench", Path(folder) / "run.py")
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    rows = [*bench.ROWS, *bench.BATCHES]
    found = measure(rows, bench.rate, float(seconds), int(rounds))
    missing = [row[1].replace("`", "") for row in rows if row[0] not in found]
    document = {"contests": contests(rows, found), "missing": missing}
    Path(file).write_text(json.dumps(document))


if __name__ == "__main__":
    main(*sys.argv[1:])
