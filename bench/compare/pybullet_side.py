"""PyBullet as users run it, with `DIRECT`, `stepSimulation`, `rayTestBatch` and TinyRenderer.

`python -m compare.pybullet_side <folder of the scene> [sleeping] [own-timestep]`
"""

import math
import sys
from pathlib import Path

import numpy as np
import pybullet

from . import scene
from .side import Library, serve, turning
from .urdf import car as car_model

# PyBullet multiplies the friction coefficients of two bodies. The product has to be
# `scene.FRICTION`.
_FRICTION = math.sqrt(scene.FRICTION)
_STEER, _DRIVE, _FREE = (0, 2), (4, 5), (1, 3)
# PyBullet's default time step.
_OWN_TIMESTEP_S = 1 / 240
_TORQUE_NM = 0.27
_LIGHT = (0.3, -0.2, 0.9)


class Yard:
    """One scene in its own physics client."""

    def __init__(self, folder: Path, boxes: list, sleeping: bool, substep_s: float):
        self.car = scene.Car.read(folder / "robot.json")
        self.substeps = round(scene.STEP_S / substep_s)
        self.p = p = pybullet
        self.to = to = {"physicsClientId": p.connect(p.DIRECT)}
        p.setGravity(0, 0, -9.81, **to)
        p.setTimeStep(substep_s, **to)
        self._build(folder, boxes, p.URDF_ENABLE_SLEEPING if sleeping else 0)
        self.speeds, self.angles = self.car.wheel_speeds(), self.car.steering_angles()
        for joint in _FREE:
            p.setJointMotorControl2(self.id, joint, p.VELOCITY_CONTROL, force=0, **to)
        beams, at = self.car.beams, np.array(self.car.lidar_at)
        angles = -math.pi + 2 * math.pi * np.arange(beams) / beams
        ways = np.stack([np.cos(angles), np.sin(angles), np.zeros(beams)], axis=1)
        # Rays are relative to the chassis, whose origin is its centre of mass.
        at = at - np.array(self.car.centre_of_mass)
        self.rays = (
            (at + self.car.range_min * ways).tolist(),
            (at + self.car.range_max * ways).tolist(),
        )
        self.start = p.saveState(**to)

    def _build(self, folder: Path, boxes: list, flags: int) -> None:
        p, to = self.p, self.to
        half = scene.HALF_YARD_M
        plane = p.createCollisionShape(p.GEOM_PLANE, **to)
        corners = [(-half, -half, 0), (half, -half, 0), (half, half, 0), (-half, half, 0)]
        look = p.createVisualShape(
            p.GEOM_MESH,
            vertices=corners,
            indices=[0, 1, 2, 0, 2, 3],
            normals=[(0, 0, 1)] * 4,
            uvs=[(0, 0), (1, 0), (1, 1), (0, 1)],
            **to,
        )
        ground = p.createMultiBody(0, plane, look, **to)
        picture = p.loadTexture(str(folder / "floor.png"), **to)
        p.changeVisualShape(ground, -1, textureUniqueId=picture, rgbaColor=(1, 1, 1, 1), **to)
        p.changeDynamics(ground, -1, lateralFriction=_FRICTION, **to)
        for at, size in scene.walls():
            shape = self._box(size, scene.FENCE_COLOUR)
            wall = p.createMultiBody(0, *shape, basePosition=at, **to)
            p.changeDynamics(wall, -1, lateralFriction=_FRICTION, **to)
        shape = self._box((scene.BOX_SIDE_M,) * 3, scene.BOX_COLOUR)
        self.boxes = []
        for b in boxes:
            turn = p.getQuaternionFromEuler((0, 0, b.yaw))
            body = p.createMultiBody(
                scene.BOX_MASS_KG,
                *shape,
                basePosition=(b.x, b.y, b.z),
                baseOrientation=turn,
                flags=flags,
                **to,
            )
            p.changeDynamics(body, -1, lateralFriction=_FRICTION, **to)
            self.boxes.append(body)
        file = folder / "car.urdf"
        file.write_text(car_model(self.car))
        self.id = p.loadURDF(str(file), flags=p.URDF_USE_INERTIA_FROM_FILE, **to)
        for link in range(p.getNumJoints(self.id, **to)):
            p.changeDynamics(self.id, link, lateralFriction=self.car.friction / _FRICTION, **to)

    def _box(self, size: tuple, colour: tuple) -> tuple:
        half = [s / 2 for s in size]
        shape = self.p.createCollisionShape(self.p.GEOM_BOX, halfExtents=half, **self.to)
        return shape, self.p.createVisualShape(
            self.p.GEOM_BOX, halfExtents=half, rgbaColor=(*colour, 1), **self.to
        )

    def advance(self) -> None:
        """Makes one step: sets commands, then simulates all sub-steps."""
        p, to = self.p, self.to
        p.setJointMotorControlArray(
            self.id, _STEER, p.POSITION_CONTROL, targetPositions=self.angles, forces=(2, 2), **to
        )
        p.setJointMotorControlArray(
            self.id,
            _DRIVE,
            p.VELOCITY_CONTROL,
            targetVelocities=self.speeds,
            forces=(_TORQUE_NM,) * 2,
            **to,
        )
        for _ in range(self.substeps):
            p.stepSimulation(**to)

    def scan(self) -> np.ndarray:
        """The ranges in metres. A beam that hits nothing has the maximum range."""
        hits = self.p.rayTestBatch(
            *self.rays, parentObjectUniqueId=self.id, parentLinkIndex=-1, **self.to
        )
        near, far = self.car.range_min, self.car.range_max
        return near + (far - near) * np.fromiter((h[2] for h in hits), float, len(hits))

    def pose(self) -> tuple:
        """x, y and heading of the car's centre."""
        at, turn = self.p.getBasePositionAndOrientation(self.id, **self.to)
        return at[0], at[1], self.p.getEulerFromQuaternion(turn)[2]

    def reset(self) -> None:
        """Resets the scene."""
        self.p.restoreState(self.start, **self.to)

    def contacts(self) -> int:
        """The number of contact points."""
        return len(self.p.getContactPoints(**self.to))


class PyBullet(Library):
    """PyBullet as a contender, with the scenes `rest` and `heap`."""

    def __init__(self, folder: Path, sleeping: bool, own_timestep: bool):
        self.substep_s = _OWN_TIMESTEP_S if own_timestep else scene.SUBSTEP_S
        self.rest = Yard(folder, scene.at_rest(), sleeping, self.substep_s)
        self.falling = Yard(folder, scene.heap(), sleeping, self.substep_s)
        # Pictures use a scene without the car, because PyBullet would draw the car's collision
        # shapes.
        self.still = Yard(folder, scene.at_rest(), sleeping, self.substep_s)
        self.still.p.removeBody(self.still.id, **self.still.to)
        self.pictures = self.rest.car.places(16)
        self.physics(80)

    def _picture(self, width: int, height: int) -> np.ndarray:
        p, car = self.still.p, self.still.car
        x, y, yaw = self.pictures[self.frame % len(self.pictures)]
        self.frame += 1
        c, s = math.cos(yaw), math.sin(yaw)
        ahead, _, up = car.camera_at
        eye = (x + c * ahead, y + s * ahead, up)
        view = p.computeViewMatrix(eye, (eye[0] + c, eye[1] + s, up), (0, 0, 1))
        fov = math.degrees(car.vertical_fov(width, height))
        lens = p.computeProjectionMatrixFOV(fov, width / height, 0.02, 20)
        picture = p.getCameraImage(
            width,
            height,
            view,
            lens,
            lightDirection=_LIGHT,
            shadow=0,
            renderer=p.ER_TINY_RENDERER,
            flags=p.ER_NO_SEGMENTATION_MASK,
            **self.still.to,
        )
        return np.asarray(picture[2], dtype=np.uint8).reshape(height, width, 4)[:, :, :3]

    def scan(self) -> dict:
        """The scan at the start, to compare it with the scans of other contenders."""
        self.rest.reset()
        far = self.rest.car.range_max
        return {"ranges": [float(r) if r < far else None for r in self.rest.scan()]}

    def facts(self) -> dict:
        """Settings of the engine, and the behaviour of car and heap."""
        yard = self.rest
        yard.reset()
        self.physics(40)
        poses, contacts = [], 0
        for _ in range(100):
            yard.advance()
            poses.append(yard.pose())
            contacts += yard.contacts()
        self.heap(1)
        p, to = yard.p, self.falling.to
        heights = [p.getBasePositionAndOrientation(b, **to)[0][2] for b in self.falling.boxes]
        parameters = p.getPhysicsEngineParameters(**yard.to)
        return {
            "version": str(pybullet.getAPIVersion()),
            "timestep_ms": 1e3 * parameters["fixedTimeStep"],
            "solver": f"sequential impulse, {parameters['numSolverIterations']} iterations",
            "contacts": round(contacts / 100, 1),
            "numpy": bool(pybullet.isNumpyEnabled()),
            "contacts in the heap": self.falling.contacts(),
            "highest box at the end, m": round(max(heights), 3),
            **turning(poses, scene.STEP_S),
        }


if __name__ == "__main__":
    options = sys.argv[2:]
    serve(PyBullet(Path(sys.argv[1]), "sleeping" in options, "own-timestep" in options))
