"""A minimal program for each simulator: load the scene, make a step, take a scan, print memory.

`python -m compare.first_step module|native|mujoco|pybullet|chicane <folder of the scene>`
"""

import json
import struct
import sys
from pathlib import Path


def _resident_mb(pid: object = "self") -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise SystemExit(f"/proc/{pid}/status has no VmRSS")


def _say(memory_mb: float) -> None:
    print(json.dumps({"memory_mb": round(memory_mb, 1)}), flush=True)


def _mujoco(folder: Path) -> None:
    from .mujoco_side import Yard

    yard = Yard(folder, "rest", True)
    yard.advance()
    yard.scan()
    _say(_resident_mb())


def _pybullet(folder: Path) -> None:
    from . import scene
    from .pybullet_side import Yard

    yard = Yard(folder, scene.at_rest(), True, scene.SUBSTEP_S)
    yard.advance()
    yard.scan()
    _say(_resident_mb())


def _buffer(kind: str, rows: int, columns: int) -> memoryview:
    """An array of zeros; `kind` is `f` (32 bits) or `d` (64 bits)."""
    memory = memoryview(bytearray(rows * columns * struct.calcsize(kind)))
    return memory.cast(kind, (rows, columns))


def _module(folder: Path) -> None:
    from chicane import native

    from . import scene

    batch = native.Batch(
        1,
        1,
        worlds=[str(folder / "rest")],
        robot=str(folder / "robot.json"),
        observation=["lidar"],
        step_s=scene.STEP_S,
        random_start=False,
    )
    batch.seed(0, bytes(range(32)))
    # The module accepts any buffer. NumPy is not used, because its import would take longer than
    # everything else here.
    scan = _buffer("f", 1, batch.about()["beams"])
    numbers = _buffer("d", len(native.NUMBERS), 1)
    batch.reset(None, None, scan, None, numbers)
    action = _buffer("f", 1, 2)
    action[0, 0], action[0, 1] = scene.SPEED_MPS, scene.STEERING_RAD
    batch.step(action, None, scan, None, numbers)
    _say(_resident_mb())


def _native(folder: Path) -> None:
    from .native_side import Native

    Native(folder).step(1)
    _say(_resident_mb())


def _chicane(folder: Path) -> None:
    from .chicane_side import Chicane

    side = Chicane(folder, ("rest",))
    side.step(1)
    _say(_resident_mb() + _resident_mb(side.program.process.pid))
    side.close()


if __name__ == "__main__":
    sides = {
        "module": _module,
        "native": _native,
        "mujoco": _mujoco,
        "pybullet": _pybullet,
        "chicane": _chicane,
    }
    sides[sys.argv[1]](Path(sys.argv[2]))
