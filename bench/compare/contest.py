"""Contests: the same work by several contenders in turns.

So what else the machine does falls on all of them alike.
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

# How long a contender may take for one answer before it is given up.
_PATIENCE_S = 300


class Broken(Exception):
    """A contender is broken, not slow."""


@dataclass
class Contender:
    """Who takes part: a name for people, how to start it, whether it is ours."""

    key: str
    title: str
    command: list
    env: dict = field(default_factory=dict)
    ours: bool = False


def first_json(lines) -> str | None:
    """Libraries greet on standard output; what is no JSON is none of ours."""
    return next((line for line in lines if line.startswith("{")), None)


def last_line(errors) -> str:
    """What a process said last before it ended."""
    errors.seek(0)
    lines = errors.read().strip().splitlines()
    return lines[-1] if lines else "it said nothing"


class Process:
    """A contender that runs."""

    def __init__(self, contender: Contender):
        self.contender = contender
        # Closed with the process.
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
        """Sends an order and waits for its answer."""
        try:
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass  # It ended; what it said last is read below.
        return self._answer()

    def _answer(self) -> dict:
        # Who does not answer at all is ended, and has ended then.
        watch = threading.Timer(_PATIENCE_S, self.process.kill)
        watch.start()
        try:
            line = first_json(self.process.stdout)
        finally:
            watch.cancel()
        if line:
            return json.loads(line)
        self.process.wait()
        said = last_line(self.errors)
        self.close()
        status = self.process.returncode
        raise Broken(f"{self.contender.title} ended with status {status}: {said}")

    def close(self) -> None:
        """Ends it; again is no harm."""
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
    """What is done, by whom, and what comes of it.

    `each` is what one unit of work counts for: 0.05 simulated seconds, one scan. The figure is
    counts a second, or the time of one in microseconds if `lower`. Others are compared with the
    first contender.
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
        """From a time to what is shown."""
        return 1e6 * seconds / count if self.lower else self.each * count / seconds

    def task(self, key: str) -> dict:
        """The order for a contender: most have the same one."""
        return self.order.get(key, self.order[""])


def hold(contest: Contest, running: dict, rounds: int, round_s: float, tell) -> dict:
    """Has it out. In every round every contender works for about `round_s`, in a new order."""
    tell(contest.title)
    there = [key for key in contest.contenders if key in running]
    counts = {}
    for key in there:
        tell(f"{contest.title}: {running[key].contender.title}, warming up", passing=True)
        if contest.key == "heap" and key == "client":
            running[key].ask(task="prepare", scene="heap")
        counts[key] = _calibrate(running[key], contest.task(key), round_s)
    figures = {key: [] for key in there}
    rounds = max(3, round(rounds * contest.rounds))
    for i in range(rounds):
        tell(f"{contest.title}: round {i + 1} of {rounds}", passing=True)
        for j in range(len(there)):
            key = there[(i + j) % len(there)]
            seconds = running[key].ask(**contest.task(key), count=counts[key])["seconds"]
            if seconds <= 0:
                raise Broken(f"{running[key].contender.title} took no time for {contest.title}")
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
    """How much work takes about so long. The first time makes what is made once."""
    count = 1
    if process.ask(**order, count=count)["seconds"] > 2 * round_s:
        return count
    while True:
        seconds = max(process.ask(**order, count=count)["seconds"], 1e-6)
        if seconds >= round_s / 4 or count >= 1_000_000:
            return max(1, round(count * round_s / seconds))
        count = max(count + 1, round(count * min(10, round_s / 2 / seconds)))


def _summary(own: list, reference: list, lower: bool) -> dict:
    """Medians, and how many times better the reference is, round by round."""
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


def first_steps(contenders: list, rounds: int, tell) -> list:
    """From a shell to the first scan: the time until it is there, and the memory that it took."""
    tell("first step and memory")
    times, memory = ({c.key: [] for c in contenders} for _ in range(2))
    for i in range(rounds):
        tell(f"first step: round {i + 1} of {rounds}", passing=True)
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
    room = "resident memory of all its processes then, Python included"
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
