"""Compares steps per second of Chicane's and other driving environments, on one machine.

python bench/gym/run.py [seconds [rounds [name]...]]      with the packages of requirements.txt

The environments take turns in every round, so that other load on the machine affects all equally.
The figure is the median of the rounds. Actions are random, and resets are included as in training.
A second figure is for two environments at once. Two environments of another package run in two
processes, as Gymnasium runs them. Two environments of Chicane are one vector environment with two
threads, or with two simulators over HTTP.
"""

import json
import statistics
import subprocess
import sys
import threading
from pathlib import Path

START_TIMEOUT_S = 240.0
WORKER = str(Path(__file__).parent / "worker.py")
# Name, title in the table, content of a step, simulated seconds per step.
ROWS = [
    (
        "chicane lidar",
        "Chicane `Lap-v0`, lidar",
        "20 ticks of 5 ms with tyres, IMU; 720 beams with noise",
        0.1,
    ),
    (
        "chicane lidar http",
        "Chicane `Lap-v0` over HTTP, lidar",
        "the same, and odometry",
        0.1,
    ),
    (
        "chicane camera",
        "Chicane `Lap-v0`, camera 160×120",
        "20 ticks of 5 ms, and a picture with lens and noise",
        0.1,
    ),
    (
        "chicane camera http",
        "Chicane `Lap-v0` over HTTP, camera 160×120",
        "the same, and odometry",
        0.1,
    ),
    (
        "metadrive",
        "MetaDrive 0.3.0.1, lidar",
        "5 steps of 20 ms of Bullet; 240 beams without noise; no traffic",
        0.1,
    ),
    (
        "metadrive camera",
        "MetaDrive 0.3.0.1, camera 160×120",
        "the same, and a picture by OpenGL",
        0.1,
    ),
    (
        "carracing",
        "Gymnasium `CarRacing-v3`",
        "one step of 20 ms of Box2D in the plane; a 96×96 picture from above",
        0.02,
    ),
    (
        "highway",
        "highway-env `racetrack-v1`",
        "3 steps of a bicycle formula in the plane; a 12×12 grid",
        0.2,
    ),
    (
        "racecar",
        "PyBullet racecar",
        "50 steps of 10 ms of Bullet; where a ball is, two numbers",
        0.5,
    ),
    (
        "racecar camera",
        "PyBullet racecar, camera 100×10",
        "10 steps of 10 ms of Bullet; a picture on the CPU",
        0.1,
    ),
]

# Batches of the native environments, for `bench/compare` only. They use all processors.
BATCHES = [
    (
        "chicane lidar 64",
        "Chicane `Lap-v0`, 64 at once, lidar",
        "the same for each, on all processors",
        0.1,
    ),
    (
        "chicane camera 64",
        "Chicane `Lap-v0`, 64 at once, camera 160×120",
        "the same for each, on all processors",
        0.1,
    ),
]


def rate(name: str, seconds: float, count: int) -> tuple[float, float] | None:
    """Steps of `count` environments per second of real time and per second of processor time.

    Returns None if an environment does not start or fails.
    """
    ours = name.startswith("chicane")
    command = [sys.executable, WORKER, f"{name} 2" if ours and count == 2 else name, str(seconds)]
    workers = [
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for _ in range(1 if ours else count)
    ]
    # The timer kills the workers if one of them does not start or end in time. The environment then
    # gets no figure.
    watch = threading.Timer(
        START_TIMEOUT_S + seconds, lambda: [worker.kill() for worker in workers]
    )
    watch.start()
    try:
        if not all(next_line(worker, "ready") for worker in workers):
            return None
        for worker in workers:
            worker.stdin.write("go\n")
            worker.stdin.flush()
        answers = [next_line(worker, "{") for worker in workers]
        if not all(answers):
            return None
        read = [json.loads(answer) for answer in answers]
        return sum(one["rate"] for one in read), statistics.mean(one["by_work"] for one in read)
    finally:
        for worker in workers:
            worker.communicate()
        watch.cancel()


def next_line(worker: subprocess.Popen, start: str) -> str:
    """The next line that begins with `start`, or an empty string if the worker ends before.

    Other lines are output of the packages.
    """
    for line in worker.stdout:
        if line.startswith(start):
            return line
    return ""


def main(seconds: float = 3.0, rounds: int = 3, *names: str) -> None:
    rows = [row for row in ROWS if not names or row[0] in names]
    rates: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for _ in range(rounds):
        for name, *_ in rows:
            for count in (1, 2):
                if not rates.get((name, 1), [None]) or not rates.get((name, count), [None]):
                    continue  # the environment did not start in an earlier round
                found = rate(name, seconds, count)
                rates.setdefault((name, count), []).extend([found] if found else [])
    middle = {
        key: tuple(map(statistics.median, zip(*values, strict=True)))
        for key, values in rates.items()
        if values
    }
    columns = ["environment", "a step", "steps a second, one / two", "a second of CPU"]
    columns += ["simulated seconds of it", "ours, by CPU"]
    print(f"| {' | '.join(columns)} |")
    print("|---|---|---|---|---|---|")
    for name, title, what, lasts in rows:
        if (name, 1) not in middle or (name, 2) not in middle:
            print(f"| {title} | {what} | does not start here | | | |")
            continue
        (one, work), (two, _) = middle[name, 1], middle[name, 2]
        seen = "camera" if "camera" in name or name == "carracing" else "lidar"
        ours = middle.get((f"chicane {seen}", 1))
        factor = ""
        if ours and not name.startswith("chicane"):
            times = ours[1] / work
            factor = f"{times:.0f} × ({seen})" if times >= 10 else f"{times:.1f} × ({seen})"
        figures = f"{one:,.0f} / {two:,.0f} | {work:,.0f} | {work * lasts:,.1f}"
        print(f"| {title} | {what} | {figures} | {factor} |")


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]), *map(int, sys.argv[2:3]), *sys.argv[3:])
