"""Grades a whole class in four ways, and compares the grades to the byte.

usage: CHICANE=<program> whole_class.py <folder with submissions and roster.csv> [--kills 30]

The class is graded on this machine, on a Ray cluster of three nodes, on a cluster that loses a
worker, and on this machine by processes that are killed again and again.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

from nodes import ENVIRONMENT, PROGRAM, Nodes

OPTIONS = [
    *("--world", "oval", "--world", "technical", "--seeds", "1-3"),
    *("--points", "oval=25:100,40:70", "--points", "technical=35:100,60:70"),
    *("--refused-penalty", "100", "--late-penalty", "10", "--wall-limit", "40"),
    *("--assignment", "Race 1"),
]
LONGEST_S = 15.0
"""A process of the killed grading lives at most this long."""


class Class:
    """The submissions, and the folders with their results."""

    def __init__(self, folder: Path):
        self.folder = folder

    def results(self, name: str) -> Path:
        results = self.folder / name
        shutil.rmtree(results, ignore_errors=True)
        return results

    def command(self, results: Path, *more: str) -> list[str | Path]:
        class_ = [self.folder / "submissions", "--roster", self.folder / "roster.csv"]
        return [PROGRAM, "grade", *class_, *OPTIONS, "-o", results, *more]

    def start(self, results: Path, *more: str) -> subprocess.Popen:
        with (self.folder / f"{results.name}.log").open("ab") as log:
            return subprocess.Popen(
                self.command(results, *more),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=os.environ | ENVIRONMENT,
            )

    def grade(self, name: str, *more: str) -> Path:
        results, begun = self.results(name), time.monotonic()
        ended = self.start(results, *more).wait()
        self.say(name, results, time.monotonic() - begun)
        assert ended == 0, f"{name}: status {ended}, see {name}.log"
        return results

    @staticmethod
    def say(name: str, results: Path, seconds: float) -> None:
        units = len(finished(results))
        rate = units * 60 / seconds
        print(f"{name:<8} {units} runs in {seconds:.0f} s, {rate:.0f} a minute", flush=True)


def finished(results: Path) -> dict[str, str]:
    """The session of each finished unit, by the hash of the unit."""
    found = results.glob("cache/*/result.json")
    return {file.parent.name: json.loads(file.read_text())["record"]["session"] for file in found}


def grade_with_a_killed_worker(class_: Class) -> Path:
    """Grades the class on a cluster. A worker is killed as soon as 13 runs are done."""
    nodes, over = Nodes(2, ENVIRONMENT), threading.Event()
    results = class_.folder / "worker-killed"

    def kill_in_the_middle() -> None:
        while not over.wait(0.05):
            if len(finished(results)) >= 13:
                nodes.kill_worker()
                return

    killer = threading.Thread(target=kill_in_the_middle)
    killer.start()
    try:
        class_.grade(results.name, "--ray", nodes.address)
        assert len(nodes.nodes) == 2, "no worker was killed"
    finally:
        over.set()
        killer.join()
        nodes.close()
    return results


def grade_with_kills(class_: Class, kills: int) -> Path:
    """Kills the grading at random moments, then lets it end. Returns the folder of the results.

    A fixed seed makes the moments the same in each run.
    """
    results, moments, begun = class_.results("killed"), random.Random(17), time.monotonic()
    known: dict[str, str] = {}
    done = 0
    for _ in range(kills):
        process = class_.start(results, "-j", "2")
        try:
            process.wait(timeout=moments.uniform(0.1, LONGEST_S))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            done += 1
        process.wait()
        now = finished(results)
        assert all(now.get(unit) == session for unit, session in known.items()), "a unit ran twice"
        known = now
    ended = class_.start(results, "-j", "2").wait()
    assert ended == 0, f"status {ended}, see killed.log"
    now = finished(results)
    assert all(now[unit] == session for unit, session in known.items()), "a unit ran twice"
    class_.say("killed", results, time.monotonic() - begun)
    print(f"         killed {done} times; {len(known)} runs were done by killed processes")
    return results


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=30)
    arguments = parser.parse_args()
    class_ = Class(arguments.folder.resolve())
    local = class_.grade("local", "-j", "2")
    nodes = Nodes(2, ENVIRONMENT)
    try:
        others = [class_.grade("ray", "--ray", nodes.address)]
    finally:
        nodes.close()
    others.append(grade_with_a_killed_worker(class_))
    others.append(grade_with_kills(class_, arguments.kills))
    for results in others:
        for name in ("grades.json", "report.html"):
            same = (results / name).read_bytes() == (local / name).read_bytes()
            print(f"{results.name:<13} {name:<12} {'the same' if same else 'DIFFERENT'}")
            assert same


if __name__ == "__main__":
    main()
