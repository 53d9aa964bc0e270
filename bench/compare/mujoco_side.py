"""MuJoCo as its users run it: from Python, `mj_step` in C for a whole step, `mj_multiRay` for a scan.

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
from .side import serve, turning

_LARGEST = (480, 360)


class MuJoCo:
    """Both scenes, ready to be stepped."""

    def __init__(self, folder: Path, sleeping: bool):
        self.car = scene.Car.read(folder / "robot.json")
        picture = str(folder / "floor.png")
        self.sleeping = sleeping
        made = {}
        for name, boxes in (("rest", scene.at_rest()), ("heap", scene.heap())):
            m = mujoco.MjModel.from_xml_string(model(self.car, boxes, sleeping, picture, _LARGEST))
            made[name] = (m, mujoco.MjData(m))
        (self.m, self.d), self.falling = made["rest"], made["heap"]
        self.control = np.array([*self.car.steering_angles(), *self.car.wheel_speeds()])
        beams = self.car.beams
        angles = -math.pi + 2 * math.pi * np.arange(beams) / beams
        self.beams = np.stack([np.cos(angles), np.sin(angles), np.zeros(beams)], axis=1)
        self.ids = np.zeros(beams, dtype=np.int32)
        self.ranges = np.zeros(beams)
        self.body = mujoco.mj_name2id(self.m, mujoco.mjtObj.mjOBJ_BODY, "car")
        self.mount = np.array(self.car.lidar_at)
        self.renderers = {}
        self.frame = 0
        self.pictures = self.car.places(16)
        # Wherever the boxes come to rest, they do so before anything is measured.
        self.physics(40)

    def _advance(self) -> None:
        self.d.ctrl[:] = self.control
        mujoco.mj_step(self.m, self.d, scene.SUBSTEPS)

    def _scan(self) -> np.ndarray:
        turn = self.d.xmat[self.body].reshape(3, 3)
        at = self.d.xpos[self.body] + turn @ self.mount
        rays = (self.beams @ turn.T).ravel()
        mujoco.mj_multiRay(
            self.m, self.d, at, rays, None, True, self.body, self.ids, self.ranges, None,
            self.car.beams, self.car.range_max,
        )
        return self.ranges

    def physics(self, count: int) -> None:
        """Steps without a scan."""
        for _ in range(count):
            self._advance()

    def lidar(self, count: int) -> None:
        """Scans without a step."""
        for _ in range(count):
            self._scan()

    def step(self, count: int) -> None:
        """A step, then a scan."""
        for _ in range(count):
            self._advance()
            self._scan()

    def heap(self, count: int) -> None:
        """Falls of the heap, each from a reset on."""
        m, d = self.falling
        for _ in range(count):
            mujoco.mj_resetData(m, d)
            for _ in range(scene.FALL_STEPS):
                d.ctrl[:] = self.control
                mujoco.mj_step(m, d, scene.SUBSTEPS)

    def reset(self, count: int) -> None:
        """Back to the start, so that poses can be read."""
        for _ in range(count):
            mujoco.mj_resetData(self.m, self.d)
            mujoco.mj_kinematics(self.m, self.d)

    def camera(self, count: int, width: int, height: int) -> None:
        """Pictures from places around the circle."""
        for _ in range(count):
            self._picture(width, height)

    def _picture(self, width: int, height: int) -> np.ndarray:
        renderer = self.renderers.get((width, height))
        if renderer is None:
            renderer = mujoco.Renderer(self.m, height, width)
            renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = False
            renderer.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
            self.renderers[(width, height)] = renderer
        x, y, yaw = self.pictures[self.frame % len(self.pictures)]
        self.frame += 1
        self.d.qpos[:7] = (x, y, 0, math.cos(yaw / 2), 0, 0, math.sin(yaw / 2))
        mujoco.mj_kinematics(self.m, self.d)
        mujoco.mj_camlight(self.m, self.d)
        renderer.update_scene(self.d, camera=f"c{width}x{height}")
        return renderer.render()

    def picture(self, file: str, width: int, height: int) -> dict:
        """Keeps the picture from the first place, to be looked at."""
        from matplotlib import image

        self.frame = 0
        image.imsave(file, self._picture(width, height))
        return {"file": file}

    def scan(self) -> dict:
        """The scan at the start, to be compared with others'."""
        self.reset(1)
        return {"ranges": [float(r) if r >= 0 else None for r in self._scan()]}

    def facts(self) -> dict:
        """What a step is made of, and what the car does."""
        self.reset(1)
        self.physics(40)
        poses, contacts = [], 0
        for _ in range(100):
            self._advance()
            turn = self.d.xmat[self.body]
            poses.append((*self.d.xpos[self.body][:2], math.atan2(turn[3], turn[0])))
            contacts += self.d.ncon
        m, d = self.falling
        self.heap(1)
        return {
            "version": mujoco.__version__,
            "timestep_ms": 1e3 * self.m.opt.timestep,
            "solver": f"Newton, at most {self.m.opt.iterations} iterations, here {int(self.d.solver_niter[0])}",
            "contacts": round(contacts / 100, 1),
            "bodies awake": int(self.d.ntree_awake) if self.sleeping else len(scene.at_rest()) + 1,
            "contacts in the heap": int(d.ncon),
            "highest box at the end, m": round(float(d.xpos[:, 2].max()), 3),
            **turning(poses, scene.STEP_S),
        }


if __name__ == "__main__":
    serve(MuJoCo(Path(sys.argv[1]), "sleeping" in sys.argv[2:]))
