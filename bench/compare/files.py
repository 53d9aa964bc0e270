"""Writes the scene to a folder, from which all contenders read it."""

import json
from pathlib import Path

from . import scene, sdf

# Rate of Chicane's lidar: one scan per step, so that every step ends with a scan.
_SCANS_HZ = round(1 / scene.STEP_S)


def write(folder: Path, profile: Path) -> None:
    """Writes the car, the floor, and the worlds `rest` and `heap` that Chicane imports."""
    robot = json.loads(profile.read_text())
    robot["lidar"]["rate_hz"] = _SCANS_HZ
    picture = scene.floor_picture()
    _put(folder / "robot.json", json.dumps(robot, indent=1).encode())
    _put(folder / "floor.png", picture)
    for name, boxes in (("rest", scene.at_rest()), ("heap", scene.heap())):
        _put(folder / name / sdf.floor_file(name), picture)
        _put(folder / name / "worlds" / f"{name}.world", sdf.world(name, boxes).encode())


def _put(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
