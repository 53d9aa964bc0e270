"""The native environments as contenders: batches of several sizes on one and two threads.

`python -m compare.batches <seconds> <rounds> <out.json>`, in a venv that has Gymnasium. The result
file has the format of `joined.py`. Each measurement is a process of its own, `python -m
compare.batches worker <cars> <threads> <seconds>`, so that no measurement reuses memory that an
earlier one has left allocated.
"""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

SIZES = (1, 8, 64, 512)
THREADS = (1, 2)
# Resets should be part of the measurement, so an episode ends after this time even if the car stays
# on the road.
_TIME_LIMIT_S = 20.0
_RESETS = 200


def _resident_kb() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise SystemExit("/proc/self/status has no VmRSS")


def work(cars: int, threads: int, seconds: float) -> dict:
    """Returns steps per second, kilobytes per environment, and microseconds of a reset."""
    import numpy as np
    from chicane.gym import VectorCarEnv

    # The first environment loads the world, which all further environments share. The memory of the
    # world is therefore in `before`, and does not count as memory of an environment.
    first = VectorCarEnv(1, observation="lidar", threads=1)
    first.reset(seed=1)
    before = _resident_kb()
    env = VectorCarEnv(cars, observation="lidar", threads=threads, time_limit_s=_TIME_LIMIT_S)
    env.reset(seed=1)
    memory = (_resident_kb() - before) / cars
    random = np.random.default_rng(1)
    low, high = env.single_action_space.low, env.single_action_space.high
    actions = [random.uniform(low, high, (cars, 2)).astype(np.float32) for _ in range(16)]
    steps, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        env.step(actions[steps % len(actions)])
        steps += 1
    rate = steps * cars / (time.perf_counter() - started)
    return {"rate": rate, "memory_kb": memory, "reset_us": _reset_us(threads)}


def _reset_us(threads: int) -> float:
    """Median time of a reset to the start line: that of a batch of 64, divided by 64, in µs."""
    from chicane.gym import VectorCarEnv

    env = VectorCarEnv(64, random_start=False, threads=threads)
    env.reset(seed=1)
    times = []
    for _ in range(_RESETS):
        started = time.perf_counter()
        env.reset()
        times.append(time.perf_counter() - started)
    return statistics.median(times) / 64 * 1e6


def _measured(cars: int, threads: int, seconds: float) -> dict:
    words = [sys.executable, "-m", "compare.batches", "worker", str(cars), str(threads)]
    done = subprocess.run([*words, str(seconds)], stdout=subprocess.PIPE, check=True, text=True)
    found: dict = json.loads(done.stdout.splitlines()[-1])
    return found


def contests(found: dict) -> list:
    """The contests: speed, memory and reset. `found` has the measurements by size and threads."""

    def entries(name: str, sizes: tuple) -> list:
        return [
            {
                "key": f"native-{cars}-{threads}",
                "title": f"batch of {cars}, {threads} {'thread' if threads == 1 else 'threads'}",
                "ours": True,
                "figure": statistics.median(one[name] for one in found[cars, threads]),
            }
            for cars in sizes
            for threads in THREADS
        ]

    return [
        {
            "key": "native",
            "title": "native environments, lidar",
            "unit": "steps/s",
            "note": "Chicane only: `make_vec`, 0.1 s a step, 720 beams, random actions, resets",
            "entries": entries("rate", SIZES),
        },
        {
            "key": "native-memory",
            "title": "memory of a native environment",
            "unit": "kB",
            "lower": True,
            "note": "Chicane only: growth of the process, divided by the size of the batch",
            "entries": entries("memory_kb", SIZES[2:]),
        },
        {
            "key": "native-reset",
            "title": "reset of a native environment",
            "unit": "µs",
            "lower": True,
            "note": "Chicane only: to the start line, in a batch of 64, state observations",
            "entries": entries("reset_us", SIZES[2:3]),
        },
    ]


def main(seconds: str, rounds: str, file: str) -> None:
    """Measures all batches and writes the file."""
    found: dict = {(cars, threads): [] for cars in SIZES for threads in THREADS}
    for _ in range(int(rounds)):
        for (cars, threads), measured in found.items():
            measured.append(_measured(cars, threads, float(seconds)))
    Path(file).write_text(json.dumps({"contests": contests(found)}))


if __name__ == "__main__":
    if sys.argv[1] == "worker":
        print(json.dumps(work(int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))))
    else:
        main(*sys.argv[1:])
