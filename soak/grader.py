"""The grader: grades a small class again and again beside the simulator. It kills most gradings."""

import hashlib
import json
import pathlib
import random
import re
import shutil
import subprocess
import threading
import time
from typing import Any

from .history import History

HERE = pathlib.Path(__file__).parent
#: Students and their programs. `rules/grading.py` has the expected grades.
PROGRAMS = {
    "good": HERE.parent / "examples" / "lap_by_route.py",
    "crash": HERE / "students" / "fails.py",
    "hang": HERE / "students" / "deaf.py",
    "cheat": HERE / "students" / "cheats.py",
}
#: Students of a short soak test.
SHORT = ("good", "cheat")
#: Timeout of a command in seconds, for a busy machine.
TIMEOUT_S = 300.0
#: Timeout in seconds for the end of all processes of a killed grading.
GONE_S = 60.0

_UNIT = re.compile("[0-9a-f]{64}")


def make_class(folder: pathlib.Path, short: bool) -> list[str]:
    """Writes the submissions and returns the names of the students."""
    students = [name for name in PROGRAMS if not short or name in SHORT]
    for name in students:
        (folder / name).mkdir(parents=True)
        (folder / name / "main.py").write_bytes(PROGRAMS[name].read_bytes())
    return students


def summary(grades: dict[str, Any]) -> dict[str, Any]:
    """The part of `grades.json` that the rules need, by student."""
    found = {}
    for student in grades["students"]:
        runs = [run for world in student["worlds"] for run in world["seeds"]]
        found[student["key"]] = {
            "grade": student["grade"],
            "verdicts": [run["verdict"] for run in runs],
            "refused": [run["refused"] for run in runs],
        }
    return found


def finished(results: pathlib.Path) -> dict[str, str]:
    """The hash of each complete unit, and the SHA-256 of the file with its result.

    The folder of a unit gets its final name only when all its files are written, so that a unit
    that is being stored does not count.
    """
    files = (results / "cache").glob("*/result.json")
    return {file.parent.name: _sha256(file) for file in files if _UNIT.fullmatch(file.parent.name)}


def processes(results: pathlib.Path) -> list[int]:
    """The processes whose command line contains the folder of the results."""
    mark, found = str(results).encode(), []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue  # The process has ended.
    return found


def _sha256(file: pathlib.Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


class Grader:
    """Grades a class. The first round is not interrupted.

    Each later round is killed once, unless it ends before the kill.
    """

    def __init__(
        self, seed: int, program: str, folder: pathlib.Path, history: History, short: bool
    ) -> None:
        self._chance = random.Random(f"grader {seed}")
        self._program, self._folder, self._history = program, folder, history
        self._short = short

    def run(self, over: threading.Event) -> None:
        """Grades until `over` is set, but at least twice."""
        students = make_class(self._folder / "class", self._short)
        seeds = "1" if self._short else "1-2"
        self._units = len(students) * (1 if self._short else 2)
        self._arguments = ["grade", str(self._folder / "class"), "--world", "oval"]
        self._arguments += ["--seeds", seeds, "--time-limit", "40", "--jobs", "1"]
        self._arguments += ["--points", "30:100,60:50", "--refused-penalty", "50"]
        self._arguments += ["--data-dir", str(self._folder / "data")]
        number = 0
        while number < 2 or not over.is_set():
            self._round(number, kill=number > 0)
            number += 1
            over.wait(self._chance.expovariate(1 / 10))

    def _round(self, number: int, kill: bool) -> None:
        results = self._folder / f"round{number}"
        t0 = self._history.now()
        seen: dict[str, Any] = {"kept": True, "left": 0, "before": 0}
        killed = self._kill(results, seen) if kill else False
        done = self._command(*self._arguments, "-o", str(results))
        grades = results / "grades.json"
        if killed:
            before, now = seen.pop("results"), finished(results)
            seen["kept"] = all(now.get(unit) == result for unit, result in before.items())
        line = {"round": number, "killed": killed, "units": self._units, **seen}
        line |= {"exit_code": done["exit_code"], "output": done["output"][-400:]}
        if grades.exists():
            document = json.loads(grades.read_bytes())
            line |= {"sha256": _sha256(grades), "not_judged": document["not_judged"]}
            line |= {"students": summary(document)}
        verified = self._command("verify", "--jobs", "1", str(results / "runs"))
        lines = verified["output"].splitlines()
        line["verified"] = sum(text.startswith("verified  ") for text in lines)
        line |= {"verify_exit_code": verified["exit_code"]}
        if verified["exit_code"] != 0:
            line["verify_output"] = verified["output"][-400:]
        line["left"] = max(line["left"], self._wait_until_gone(results))
        self._history.add("grading", who="grader", t0=t0, t1=self._history.now(), **line)
        shutil.rmtree(results, ignore_errors=True)

    def _kill(self, results: pathlib.Path, seen: dict[str, Any]) -> bool:
        """Kills a grading after a random number of units. Returns False if it ended before."""
        wanted = self._chance.randrange(self._units)
        process = subprocess.Popen(
            [self._program, *self._arguments, "-o", str(results)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + TIMEOUT_S
        while process.poll() is None and time.monotonic() < end:
            # The plan is written before the first unit runs.
            if (results / "plan.json").exists() and len(finished(results)) >= wanted:
                break
            time.sleep(0.02)
        killed = process.poll() is None
        process.kill()
        process.wait()
        t0 = self._history.now()
        seen["left"] = self._wait_until_gone(results)
        seen["gone_s"] = self._history.now() - t0
        seen["results"] = finished(results)
        seen["before"] = len(seen["results"])
        return killed

    def _wait_until_gone(self, results: pathlib.Path) -> int:
        """Waits up to `GONE_S` until no process of a grading is left. Returns how many are left."""
        end = time.monotonic() + GONE_S
        while (left := processes(results)) and time.monotonic() < end:
            time.sleep(0.05)
        return len(left)

    def _command(self, *arguments: str) -> dict[str, Any]:
        try:
            done = subprocess.run(
                [self._program, *arguments], capture_output=True, text=True, timeout=TIMEOUT_S
            )
        except subprocess.TimeoutExpired:
            return {"exit_code": None, "output": f"no end within {TIMEOUT_S:g} s"}
        return {"exit_code": done.returncode, "output": done.stdout + done.stderr}
