"""The list of contenders and of contests."""

import os
from pathlib import Path

from .contest import BenchError, Contender, Contest, first_steps, run_contest
from .contest import Process as Side
from .scene import FALL_STEPS, STEP_S

_CORES = os.cpu_count() or 1
# Largest median difference between the ranges of two scans of the same scene. The scans differ
# slightly, because Chicane's lidar has noise of 1 cm.
_SCANS_DIFFER_M = 0.03
_SPEED_MPS, _RADIUS_M, _HIGHEST_M = (0.85, 1.15), (0.5, 0.7), (0.65, 0.75)


def contenders(python: str, core: str, scene: Path, program: str) -> list:
    """All contenders. `core` is the path of the Rust contender, `program` of the simulator."""

    def side(name: str, *words: str) -> list:
        return [python, "-m", f"compare.{name}_side", str(scene), *words]

    alone, ours = {"LP_NUM_THREADS": "0"}, {"CHICANE": program}
    return [
        Contender("core", "Chicane, core (Rust)", [core, str(scene), "1"], ours=True),
        Contender(
            "cores", f"Chicane, core, {_CORES} threads", [core, str(scene), str(_CORES)], ours=True
        ),
        Contender("native", "Chicane, native environment", side("native"), ours=True),
        Contender("client", "Chicane, program and Python client", side("chicane"), ours, ours=True),
        Contender("mujoco", "MuJoCo", side("mujoco"), alone),
        Contender("mujoco-sleep", "MuJoCo, sleeping", side("mujoco", "sleeping")),
        Contender("pybullet", "PyBullet", side("pybullet")),
        Contender("pybullet-sleep", "PyBullet, sleeping", side("pybullet", "sleeping")),
        Contender(
            "pybullet-240",
            "PyBullet, sleeping, 1/240 s",
            side("pybullet", "sleeping", "own-timestep"),
        ),
    ]


def first_step_contenders(python: str, scene: Path, program: str) -> list:
    """The contenders of the contests `start` and `memory`."""

    def first(name: str) -> list:
        return [python, "-m", "compare.first_step", name, str(scene)]

    return [
        Contender("module", "Chicane, native module", first("module"), ours=True),
        Contender("native", "Chicane, native environment (Gymnasium)", first("native"), ours=True),
        Contender(
            "client",
            "Chicane, program and Python client",
            first("chicane"),
            {"CHICANE": program},
            True,
        ),
        Contender("mujoco", "MuJoCo", first("mujoco")),
        Contender("pybullet", "PyBullet", first("pybullet")),
    ]


_ENGINES = ["mujoco-sleep", "mujoco", "pybullet-240", "pybullet-sleep", "pybullet"]


def contests() -> list:
    """All contests, in order. The camera comes last, because MuJoCo's camera task moves the car."""
    steps, frames = "× real time", "frames/s"

    def task(name: str, **more) -> dict:
        return {"": {"task": name, **more}}

    def camera(width: int, height: int) -> Contest:
        size = {"width": width, "height": height}
        return Contest(
            f"camera-{width}",
            f"camera {width}×{height}, one thread",
            frames,
            ["core", "mujoco", "pybullet"],
            task("camera", **size),
            note="pinhole, no shadows, no antialiasing, the car itself not drawn",
        )

    big = {"width": 480, "height": 360}
    return [
        Contest(
            "step",
            "a step: 50 ms and a scan of 720 beams",
            steps,
            ["native", "client", "core", *_ENGINES],
            task("step"),
            STEP_S,
            note="the time for which an agent in Python waits; 50 boxes at rest, the car drives",
        ),
        Contest(
            "physics",
            "physics, 50 boxes at rest",
            steps,
            ["core", "client", *_ENGINES],
            task("physics"),
            STEP_S,
            note="the car drives circles and touches no box",
        ),
        Contest(
            "heap",
            "physics, 50 boxes fall in a heap",
            steps,
            ["core", "client", *_ENGINES],
            task("heap"),
            STEP_S * FALL_STEPS,
            rounds=0.5,
            note="1.5 s after a reset, all boxes in motion and in contact",
        ),
        Contest(
            "lidar",
            "lidar, 720 beams",
            "scans/s",
            ["core", "mujoco", "pybullet"],
            task("lidar"),
            note="Chicane's with noise; among 50 boxes and a fence",
        ),
        Contest(
            "reset",
            "reset",
            "µs",
            ["core", "native", "client", "mujoco", "pybullet"],
            task("reset"),
            lower=True,
            note="nothing has moved since the last reset; native environments: 64 at once",
            titles={"native": "Chicane, native environment, each of 64"},
        ),
        camera(160, 120),
        camera(480, 360),
        Contest(
            "camera-all",
            f"camera 480×360, {_CORES} threads",
            frames,
            ["cores", "mujoco-sleep", "pybullet"],
            task("camera", **big),
            note="TinyRenderer has one thread",
            titles={"mujoco-sleep": f"MuJoCo, {_CORES} threads"},
        ),
        Contest(
            "camera-lens",
            "camera 480×360 as the robot has it",
            frames,
            ["cores", "client"],
            {"": {"task": "on_board", **big}, "client": {"task": "camera", **big}},
            note="Chicane only, with lens and noise; the client also simulates 67 ms per frame",
        ),
    ]


def run(taking_part: list, begin: list, quick: bool, only: set, pictures: Path, progress) -> dict:
    """Runs the contests that `only` names, or all if it is empty.

    Returns their results and the facts about each contender.
    """
    rounds, round_s = (3, 0.15) if quick else (9, 0.5)
    wanted = [c for c in contests() if not only or c.key in only]
    needed = {key for c in wanted for key in c.contenders}
    running, results = {}, []
    try:
        for c in taking_part:
            if c.key in needed:
                progress(f"starting {c.title}")
                running[c.key] = Side(c)
        scans = {key: side.ask(task="scan")["ranges"] for key, side in running.items()}
        progress("checking that all contenders simulate the same scene")
        facts = {key: side.ask(task="facts") for key, side in running.items()}
        same_work(scans, facts)
        for contest in wanted:
            results.append(run_contest(contest, running, rounds, round_s, progress))
        pictures.mkdir(parents=True, exist_ok=True)
        for key in {"core", "mujoco", "pybullet"} & set(running):
            running[key].ask(
                task="picture", file=str(pictures / f"{key}.png"), width=480, height=360
            )
    finally:
        for side in running.values():
            side.close()
    if not only or "start" in only:
        results += first_steps(begin, 3 if quick else 9, progress)
    return {"contests": results, "facts": facts}


def same_work(scans: dict, facts_by_key: dict) -> None:
    """Raises `BenchError` unless scans, driven circles and fallen heaps are equivalent."""
    for key, ranges in scans.items():
        for other, theirs in scans.items():
            off = [
                abs(a - b)
                for a, b in zip(ranges, theirs, strict=True)
                if a is not None and b is not None
            ]
            off.sort()
            if len(off) < 0.9 * len(ranges) or off[len(off) // 2] > _SCANS_DIFFER_M:
                raise BenchError(f"the scans of {key} and {other} do not show the same scene")
    limits = {
        "speed_mps": _SPEED_MPS,
        "radius_m": _RADIUS_M,
        "highest box at the end, m": _HIGHEST_M,
    }
    for key, facts in facts_by_key.items():
        for name, (low, high) in limits.items():
            if name in facts and not low <= (facts[name] or 0) <= high:
                raise BenchError(
                    f"{key} behaves differently: {name} is {facts[name]}, not {low} to {high}"
                )
