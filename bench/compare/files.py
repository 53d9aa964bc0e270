"""Writes the files of the scene: car and floor for all contenders, and Chicane's worlds."""

import json
import struct
from pathlib import Path

from . import scene, sdf

# Rate of Chicane's lidar: one scan per step, so that every step ends with a scan.
_SCANS_HZ = round(1 / scene.STEP_S)
_WAYPOINTS = 64
_FIRST_M = 0.01


def write(folder: Path, profile: Path) -> None:
    """Writes the car, the floor, and the worlds `rest` and `heap` that Chicane imports.

    The route of both worlds is the circle that the car drives. Only the native environments need a
    route.
    """
    robot = json.loads(profile.read_text())
    robot["lidar"]["rate_hz"] = _SCANS_HZ
    picture = scene.floor_picture()
    circle = scene.Car.read(profile).places(_WAYPOINTS)
    # The car starts in the direction of the first segment of the route. The second point of the
    # route lies on the x axis, so that all contenders start in the same direction.
    (x, y, _), *others = circle
    route = npy([(x, y), (x + _FIRST_M, y), *((x, y) for x, y, _ in others), (x, y)])
    _put(folder / "robot.json", json.dumps(robot, indent=1).encode())
    _put(folder / "floor.png", picture)
    for name, boxes in (("rest", scene.at_rest()), ("heap", scene.heap())):
        _put(folder / name / sdf.floor_file(name), picture)
        _put(folder / name / "worlds" / f"{name}.world", sdf.world(name, boxes).encode())
        _put(folder / name / "routes" / f"{name}.npy", route)


def npy(rows: list) -> bytes:
    """Encodes rows of numbers as a NumPy file, without NumPy."""
    shape = f"({len(rows)}, {len(rows[0])})"
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    # The data must begin at a multiple of 64 bytes. Before the data are 10 bytes (magic string,
    # version and header length), the header, and a line end.
    head = head.ljust(-(-(len(head) + 11) // 64) * 64 - 11) + "\n"
    values = [value for row in rows for value in row]
    parts = b"\x93NUMPY\x01\x00", struct.pack("<H", len(head)), head.encode()
    return b"".join((*parts, struct.pack(f"<{len(values)}d", *values)))


def _put(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
