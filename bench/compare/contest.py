"""Contests: several contenders do the same work in turns.

Contenders take turns, so that other load on the machine affects all of them equally.
"""

import contextlib
import json
import os
import statistics
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field

# A contender that has not answered a task after this time, s, is killed.
_ANSWER_TIMEOUT_S = 300


class BenchError(Exception):
    """The benchmark cannot continue, for example because a contender crashed."""


@dataclass
class Contender:
    """A participant of contests: its title, its command, and whether it is Chicane (`ours`)."""

    key: str
    title: str
    command: list
    env: dict = field(default_factory=dict)
    ours: bool = False


def first_json(lines) -> str | None:
    """The first line that is JSON, or None. Other lines are output of libraries."""
    return next((line for line in lines if line.startswith("{")), None)


def last_line(errors) -> str:
    """The last line that a process wrote to standard error."""
    errors.seek(0)
    lines = errors.read().strip().splitlines()
    return lines[-1] if lines else "it printed no error"


class Process:
    """A running contender."""

    def __init__(self, contender: Contender):
        self.contender = contender
        # The method `close` closes this file, so no `with` is used.
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            contender.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env={**os.environ, **contender.env},
        )
        self.greeting = self._answer()

    def ask(self, **order) -> dict:
        """Sends a task and waits for the answer. Raises `BenchError` if the process has ended."""
        try:
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass  # The process has ended. `_answer` reads its error.
        return self._answer()

    def _answer(self) -> dict:
        # The timer kills a process that does not answer, so that the read below ends.
        watch = threading.Timer(_ANSWER_TIMEOUT_S, self.process.kill)
        watch.start()
        try:
            line = first_json(self.process.stdout)
        finally:
            watch.cancel()
        if line:
            return json.loads(line)
        self.process.wait()
        reason = last_line(self.errors)
        self.close()
        status = self.process.returncode
        raise BenchError(f"{self.contender.title} ended with status {status}: {reason}")

    def close(self) -> None:
        """Ends the process. A second call has no effect."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()


@dataclass
class Contest:
    """One comparison.

    `each` is the amount that one unit of work counts, such as 0.05 for a step of 0.05 simulated
    seconds, or 1 for a scan. The figure is the amount that a contender completes per real second,
    so a higher figure is better. `lower` means that a lower figure is better. The figure is then
    the microseconds per unit of work. Ratios are relative to the first contender. `rounds` is a
    factor for the number of rounds.
    """

    key: str
    title: str
    unit: str
    contenders: list
    order: dict
    each: float = 1.0
    lower: bool = False
    rounds: float = 1.0
    note: str = ""
    titles: dict = field(default_factory=dict)

    def figure(self, seconds: float, count: int) -> float:
        """The figure for `count` units of work in `seconds`."""
        return 1e6 * seconds / count if self.lower else self.each * count / seconds

    def task(self, key: str) -> dict:
        """The task of a contender. A contender without a task of its own gets the task `""`."""
        return self.order.get(key, self.order[""])


def run_contest(contest: Contest, running: dict, rounds: int, round_s: float, progress) -> dict:
    """Runs a contest. In each round every contender works for about `round_s` seconds.

    The order of contenders rotates from round to round.
    """
    progress(contest.title)
    there = [key for key in contest.contenders if key in running]
    counts = {}
    for key in there:
        progress(f"{contest.title}: {running[key].contender.title}, warming up", passing=True)
        if contest.key == "heap" and key == "client":
            running[key].ask(task="prepare", scene="heap")
        counts[key] = _calibrate(running[key], contest.task(key), round_s)
    figures = {key: [] for key in there}
    rounds = max(3, round(rounds * contest.rounds))
    for i in range(rounds):
        progress(f"{contest.title}: round {i + 1} of {rounds}", passing=True)
        for j in range(len(there)):
            key = there[(i + j) % len(there)]
            seconds = running[key].ask(**contest.task(key), count=counts[key])["seconds"]
            if seconds <= 0:
                title = running[key].contender.title
                raise BenchError(f"{title} reported no time for {contest.title!r}")
            figures[key].append(contest.figure(seconds, counts[key]))
    if contest.key == "heap" and "client" in there:
        running["client"].ask(task="prepare", scene="rest")
    entries = [
        {
            "key": key,
            "title": contest.titles.get(key, running[key].contender.title),
            "ours": running[key].contender.ours,
        }
        | _summary(figures[key], figures[there[0]], contest.lower)
        for key in there
    ]
    return _result(contest, entries)


def _calibrate(process: Process, order: dict, round_s: float) -> int:
    """The number of units of work that take about `round_s` seconds.

    The first call is a warm-up, because it creates resources that later calls reuse.
    """
    count = 1
    if process.ask(**order, count=count)["seconds"] > 2 * round_s:
        return count
    while True:
        seconds = max(process.ask(**order, count=count)["seconds"], 1e-6)
        if seconds >= round_s / 4 or count >= 1_000_000:
            return max(1, round(count * round_s / seconds))
        count = max(count + 1, round(count * min(10, round_s / 2 / seconds)))


def _summary(own: list, reference: list, lower: bool) -> dict:
    """Median and range of the figures, and median and quartiles of the ratios per round.

    `reference` are the figures of the first contender. A ratio above 1 means that the first
    contender is better.
    """
    ratios = [(o / r if lower else r / o) for o, r in zip(own, reference, strict=True)]
    return {
        "figure": statistics.median(own),
        "low": min(own),
        "high": max(own),
        "ratio": statistics.median(ratios),
        "ratio_low": _quartile(ratios, 1),
        "ratio_high": _quartile(ratios, 3),
    }


def _quartile(values: list, which: int) -> float:
    return statistics.quantiles(values, n=4, method="inclusive")[which - 1]


def _result(contest: Contest, entries: list) -> dict:
    named = ("key", "title", "unit", "lower", "note")
    return {name: getattr(contest, name) for name in named} | {"entries": entries}


def first_steps(contenders: list, rounds: int, progress) -> list:
    """Measures the time from the start of a process to its first scan, and the memory after it."""
    progress("first step and memory")
    times, memory = ({c.key: [] for c in contenders} for _ in range(2))
    for i in range(rounds):
        progress(f"first step: round {i + 1} of {rounds}", passing=True)
        for j in range(len(contenders)):
            c = contenders[(i + j) % len(contenders)]
            begun = time.perf_counter()
            process = Process(c)
            times[c.key].append(1e3 * (time.perf_counter() - begun))
            memory[c.key].append(process.greeting["memory_mb"])
            process.close()
    first = contenders[0].key

    def entries(of: dict) -> list:
        return [
            {"key": c.key, "title": c.title, "ours": c.ours} | _summary(of[c.key], of[first], True)
            for c in contenders
        ]

    start = "from a shell to the first step with its scan, Python and imports included"
    room = "resident memory of all processes after the first step, Python included"
    return [
        {
            "key": "start",
            "title": "first step",
            "unit": "ms",
            "lower": True,
            "note": start,
            "entries": entries(times),
        },
        {
            "key": "memory",
            "title": "memory",
            "unit": "MB",
            "lower": True,
            "note": room,
            "entries": entries(memory),
        },
    ]
