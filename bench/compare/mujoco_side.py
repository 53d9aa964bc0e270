"""MuJoCo as users run it: one call of `mj_step` per step, `mj_multiRay` for a scan.

`python -m compare.mujoco_side <folder of the scene> [sleeping]`
"""

import math
import os
import sys
from pathlib import Path

os.environ.setdefault("MUJOCO_GL", "osmesa")

import mujoco
import numpy as np

from . import scene
from .mjcf import model
from .side import Library, serve, turning

_LARGEST = (480, 360)


class Yard:
    """One scene, with boxes at rest or falling."""

    def __init__(self, folder: Path, name: str, sleeping: bool):
        self.car = scene.Car.read(folder / "robot.json")
        boxes = scene.at_rest() if name == "rest" else scene.heap()
        text = model(self.car, boxes, sleeping, str(folder / "floor.png"), _LARGEST)
        self.m = mujoco.MjModel.from_xml_string(text)
        self.d = mujoco.MjData(self.m)
        self.control = np.array([*self.car.steering_angles(), *self.car.wheel_speeds()])
        beams = self.car.beams
        angles = -math.pi + 2 * math.pi * np.arange(beams) / beams
        self.beams = np.stack([np.cos(angles), np.sin(angles), np.zeros(beams)], axis=1)
        self.ids = np.zeros(beams, dtype=np.int32)
        self.ranges = np.zeros(beams)
        self.body = mujoco.mj_name2id(self.m, mujoco.mjtObj.mjOBJ_BODY, "car")
        self.mount = np.array(self.car.lidar_at)

    def advance(self) -> None:
        """Makes one step: sets commands, then simulates all sub-steps in one call."""
        self.d.ctrl[:] = self.control
        mujoco.mj_step(self.m, self.d, scene.SUBSTEPS)

    def scan(self) -> np.ndarray:
        """The ranges in metres. A beam that hits nothing has the range -1."""
        turn = self.d.xmat[self.body].reshape(3, 3)
        at = self.d.xpos[self.body] + turn @ self.mount
        rays = (self.beams @ turn.T).ravel()
        beams, far = self.car.beams, self.car.range_max
        mujoco.mj_multiRay(
            self.m, self.d, at, rays, None, True, self.body, self.ids, self.ranges, None, beams, far
        )
        return self.ranges

    def reset(self) -> None:
        """Resets the scene, and computes the poses of all bodies, because a scan needs them."""
        mujoco.mj_resetData(self.m, self.d)
        mujoco.mj_kinematics(self.m, self.d)

    def pose(self) -> tuple:
        """x, y and heading of the car's centre."""
        turn = self.d.xmat[self.body]
        return (*self.d.xpos[self.body][:2], math.atan2(turn[3], turn[0]))


class MuJoCo(Library):
    """MuJoCo as a contender, with the scenes `rest` and `heap`."""

    def __init__(self, folder: Path, sleeping: bool):
        self.sleeping = sleeping
        self.rest, self.falling = (Yard(folder, name, sleeping) for name in ("rest", "heap"))
        self.renderers = {}
        self.pictures = self.rest.car.places(16)
        # The boxes come to rest before the first measurement.
        self.physics(40)

    def _picture(self, width: int, height: int) -> np.ndarray:
        m, d = self.rest.m, self.rest.d
        renderer = self.renderers.get((width, height))
        if renderer is None:
            renderer = mujoco.Renderer(m, height, width)
            renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = False
            renderer.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
            self.renderers[(width, height)] = renderer
        x, y, yaw = self.pictures[self.frame % len(self.pictures)]
        self.frame += 1
        d.qpos[:7] = (x, y, 0, math.cos(yaw / 2), 0, 0, math.sin(yaw / 2))
        mujoco.mj_kinematics(m, d)
        mujoco.mj_camlight(m, d)
        renderer.update_scene(d, camera=f"c{width}x{height}")
        return renderer.render()

    def scan(self) -> dict:
        """The scan at the start, to compare it with the scans of other contenders."""
        self.rest.reset()
        return {"ranges": [float(r) if r >= 0 else None for r in self.rest.scan()]}

    def facts(self) -> dict:
        """Settings of the engine, and the behaviour of car and heap."""
        yard, fallen = self.rest, self.falling
        yard.reset()
        self.physics(40)
        poses, contacts = [], 0
        for _ in range(100):
            yard.advance()
            poses.append(yard.pose())
            contacts += yard.d.ncon
        awake = int(yard.d.ntree_awake) if self.sleeping else len(scene.at_rest()) + 1
        self.heap(1)
        return {
            "version": mujoco.__version__,
            "timestep_ms": 1e3 * yard.m.opt.timestep,
            "solver": f"Newton, at most {yard.m.opt.iterations} iterations, few are needed",
            "contacts": round(contacts / 100, 1),
            "bodies awake": awake,
            "contacts in the heap": int(fallen.d.ncon),
            "highest box at the end, m": round(float(fallen.d.xpos[:, 2].max()), 3),
            **turning(poses, scene.STEP_S),
        }


if __name__ == "__main__":
    serve(MuJoCo(Path(sys.argv[1]), "sleeping" in sys.argv[2:]))
