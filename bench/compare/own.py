"""Figures of Chicane without a counterpart in other simulators, from the Rust benchmarks."""

import json
import subprocess
from pathlib import Path

# Name and parts of each benchmark.
_RUNS = (
    ("http", ("start", "worlds", "memory", "events")),
    ("judge", ("sessions",)),
)
# Figures of the table: name in the benchmark, title in the table, whether lower is better.
_SHOWN = (
    ("start until ready, median of 5", "start of the program until ready", True),
    ("reset, 100 times, p50", "reset over HTTP, median", True),
    ("respawn, 20 times, p50", "respawn, median", True),
    ("switch of worlds, 20 times, p50", "switch of worlds, median", True),
    ("memory, idle", "memory, idle (technical track)", True),
    (
        "memory, busy: camera, as fast as it can, 100 subscribers",
        "memory, busy (camera, 100 subscribers, as fast as it can)",
        True,
    ),
    ("{n} subscribers: streams that broke or brought nothing", "{n} event streams: lost", True),
    (
        "{n} subscribers: frames a second for each reader",
        "{n} event streams: frames a second for each",
        False,
    ),
    ("{n} subscribers: age of a frame, p99", "{n} event streams: age of a frame, p99", True),
    ("{n} subscribers: real-time factor", "{n} event streams: real-time factor meanwhile", False),
    ("judging runs at, real-time factor", "judging the technical track, real-time factor", False),
    ("sessions an hour, a second each", "judged sessions an hour, a simulated second each", False),
)


def run(programs: Path, chicane: str, folder: Path, quick: bool, progress) -> tuple:
    """Runs the benchmarks. Returns the figures of the table and the failed benchmarks."""
    found, missing = {}, []
    for name, parts in _RUNS:
        progress(f"Chicane alone: {name} ({', '.join(parts)})")
        file = folder / f"{name}.json"
        file.unlink(missing_ok=True)
        words = [str(programs / name), "--json", str(file), *(["--quick"] if quick else [])]
        words += [word for part in parts for word in ("--only", part)]
        with (folder / f"{name}.log").open("w") as log:
            done = subprocess.run([*words, chicane], stdout=log, stderr=log, check=False)
        if done.returncode != 0 or not file.exists():
            last = (folder / f"{name}.log").read_text().strip().splitlines()[-1:]
            missing.append(f"{name}: {last[0] if last else 'its log is empty'}")
            continue
        found |= {row["name"]: row for row in json.loads(file.read_text())["figures"]}
    return shown(found), missing


def shown(found: dict) -> list:
    """The rows of the table."""
    rows = []
    for name, title, lower in _SHOWN:
        for n in ("1000", "5000") if "{n}" in name else ("",):
            row = found.get(name.replace("{n}", n))
            if row:
                title_n = title.replace("{n}", f"{int(n):,}" if n else "")
                rows.append(
                    {
                        "key": row["name"],
                        "title": title_n,
                        "figure": row["figure"],
                        "unit": row["unit"],
                        "lower": lower,
                    }
                )
    return rows
