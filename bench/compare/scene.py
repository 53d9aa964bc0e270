"""The scene of all contenders as numbers: a fenced yard, fifty boxes, a car that drives circles.

`sdf.py` and `mjcf.py` convert the scene to the formats of Chicane and MuJoCo, and `urdf.py`
converts the car for PyBullet. The modules `mujoco_side.py` and `pybullet_side.py` set the
properties that those formats cannot express.
"""

import json
import math
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

HALF_YARD_M = 4.0
FENCE_HEIGHT_M = 0.25
FENCE_THICKNESS_M = 0.03
BOX_SIDE_M = 0.2
BOX_MASS_KG = 0.5
FRICTION = 0.6
BOX_COLOUR = (0.80, 0.45, 0.20)
FENCE_COLOUR = (0.30, 0.45, 0.60)

# Simulated time of one step of an agent. In the contest `step`, a scan follows each step.
STEP_S = 0.05
SUBSTEP_S = 0.0025
SUBSTEPS = round(STEP_S / SUBSTEP_S)
# Steps from a reset until the heap has fallen.
FALL_STEPS = 30

SPEED_MPS = 1.0
STEERING_RAD = 0.3


@dataclass(frozen=True)
class Box:
    """Centre (metres) and heading (radians) of a box."""

    x: float
    y: float
    z: float
    yaw: float


@dataclass(frozen=True)
class Car:
    """The parameters of Chicane's car that other simulators need. Metres, kilograms, radians."""

    wheelbase: float
    track: float
    wheel_radius: float
    wheel_width: float
    wheel_mass: float
    mass: float
    centre_of_mass: tuple
    body_size: tuple
    body_centre: tuple
    friction: float
    camera_at: tuple
    camera_fov: float
    lidar_at: tuple
    beams: int
    range_min: float
    range_max: float

    @classmethod
    def read(cls, file: Path) -> "Car":
        """Reads the car from a vehicle profile."""
        p = json.loads(file.read_text())
        return cls(
            wheelbase=p["wheelbase_m"],
            track=p["track_m"],
            wheel_radius=p["wheel_radius_m"],
            wheel_width=p["wheel_width_m"],
            wheel_mass=p["wheel_mass_kg"],
            mass=p["mass_kg"],
            centre_of_mass=tuple(p["centre_of_mass_m"]),
            body_size=tuple(p["body"]["size_m"]),
            body_centre=tuple(p["body"]["centre_m"]),
            friction=p["tyre"]["friction"],
            camera_at=tuple(p["camera"]["position_m"]),
            camera_fov=p["camera"]["horizontal_fov_rad"],
            lidar_at=tuple(p["lidar"]["position_m"]),
            beams=p["lidar"]["beams"],
            range_min=p["lidar"]["range_min_m"],
            range_max=p["lidar"]["range_max_m"],
        )

    def chassis_mass(self) -> float:
        """Mass without the wheels."""
        return self.mass - 4 * self.wheel_mass

    def chassis_inertia(self) -> tuple:
        """Moments of inertia about x, y and z, as if the chassis were a solid box, kg m²."""
        x, y, z = (s * s for s in self.body_size)
        m = self.chassis_mass() / 12
        return (m * (y + z), m * (x + z), m * (x + y))

    def radius(self) -> float:
        """Radius of the circle that the centre of the rear axle drives."""
        return self.wheelbase / math.tan(STEERING_RAD)

    def steering_angles(self) -> tuple:
        """Steering angles of the left and the right front wheel on that circle."""
        return tuple(
            math.atan(self.wheelbase / (self.radius() - side * self.track / 2)) for side in (1, -1)
        )

    def wheel_speeds(self) -> tuple:
        """Angular speeds of the left and the right rear wheel, rad/s."""
        r = self.radius()
        inner, outer = (1 - self.track / 2 / r, 1 + self.track / 2 / r)
        return tuple(SPEED_MPS * f / self.wheel_radius for f in (inner, outer))

    def vertical_fov(self, width: int, height: int) -> float:
        """Vertical angle of view. The horizontal angle of view is that of the car's camera."""
        return 2 * math.atan(math.tan(self.camera_fov / 2) * height / width)

    def places(self, count: int) -> list:
        """Poses (x, y, yaw) at equal distances on the circle that the car drives."""
        r = self.radius()
        turns = [2 * math.pi * i / count for i in range(count)]
        return [(r * math.sin(a), r - r * math.cos(a), a) for a in turns]


def at_rest() -> list:
    """Fifty boxes on the ground, in three rings around the circle that the car drives."""
    boxes = []
    for radius, count in ((1.6, 12), (2.3, 17), (3.0, 21)):
        for i in range(count):
            a = 2 * math.pi * (i + 0.5) / count
            x, y = radius * math.cos(a), 0.6 + radius * math.sin(a)
            boxes.append(Box(x, y, BOX_SIDE_M / 2, a))
    return boxes


def heap() -> list:
    """Fifty boxes in the air, in layers that are offset and turned, so that they fall in a heap."""
    boxes = []
    for i in range(50):
        layer, place = divmod(i, 16)
        column, row = divmod(place, 4)
        x = 2.3 + 0.23 * (column - 1.5) + 0.06 * layer
        y = 2.3 + 0.23 * (row - 1.5) - 0.05 * layer
        boxes.append(Box(x, y, 0.25 + 0.3 * layer, 0.3 * layer))
    return boxes


def walls() -> list:
    """Centre and full size of each side of the fence."""
    half, t, h = HALF_YARD_M, FENCE_THICKNESS_M, FENCE_HEIGHT_M
    long, at = 2 * half + t, h / 2
    return [
        ((0, -half, at), (long, t, h)),
        ((half, 0, at), (t, long, h)),
        ((0, half, at), (long, t, h)),
        ((-half, 0, at), (t, long, h)),
    ]


def floor_picture(side: int = 512, tiles: int = 16) -> bytes:
    """The floor as a PNG: tiles in two shades of grey and a red line along x."""
    rows = bytearray()
    for v in range(side):
        rows.append(0)
        for u in range(side):
            grey = 170 if (u * tiles // side + v * tiles // side) % 2 else 110
            red = abs(v - side // 2) < side // 128
            rows += bytes((200, 40, 40) if red else (grey, grey, grey))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    parts = (
        chunk(b"IHDR", head),
        chunk(b"IDAT", zlib.compress(bytes(rows), 6)),
        chunk(b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)
