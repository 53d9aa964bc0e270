"""What an agent sees: camera, lidar, or a few numbers about the road."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from chicane.arrays import Observation
from chicane.gym.reward import Thing
from chicane.gym.track import Spot, Track
from chicane.wire.sim import Vehicle, VehiclePose

Kind = Literal["state", "lidar", "camera"]
KINDS: tuple[Kind, ...] = ("state", "lidar", "camera")
AHEAD = np.array([0.2, 0.4, 0.7, 1.0, 1.5])
"""Metres ahead at which the state tells where the road leads."""
NEAREST = 3
"""Objects that the state tells of."""
NOWHERE = 10.0
"""Where an object is that is not there."""

Array = NDArray[Any]


class Eyes:
    """Makes observations of one shape."""

    def __init__(
        self,
        kinds: Sequence[Kind],
        vehicle: Vehicle,
        beams: int,
        picture: tuple[int, ...],
        objects: bool,
    ) -> None:
        """`picture` is the shape of a camera frame; `objects`: whether the state tells of those."""
        wrong = [kind for kind in kinds if kind not in KINDS]
        if wrong or not kinds:
            raise ValueError(f"observation must be of {', '.join(KINDS)}, not {wrong or 'nothing'}")
        all_beams = vehicle["lidar"]["beams"]
        if not 1 <= beams <= all_beams or all_beams % beams:
            raise ValueError(f"beams must divide {all_beams}, the beams of the lidar")
        self.kinds = tuple(kinds)
        self._every = all_beams // beams
        self._reach = float(vehicle["lidar"]["range_max"])
        self._objects = objects
        self._bounds = self._state_bounds()
        by_kind: dict[str, spaces.Space[Any]] = {
            "state": spaces.Box(-self._bounds, self._bounds, dtype=np.float32),
            "lidar": spaces.Box(0.0, self._reach, (beams,), np.float32),
            "camera": spaces.Box(0, 255, picture, np.uint8),
        }
        chosen: dict[str, spaces.Space[Any]] = {kind: by_kind[kind] for kind in self.kinds}
        self.space: spaces.Space[Any]
        self.space = chosen[self.kinds[0]] if len(chosen) == 1 else spaces.Dict(chosen)

    def see(
        self, seen: Observation, car: VehiclePose, spot: Spot, track: Track, objects: list[Thing]
    ) -> Any:
        """An observation."""
        made: dict[str, Array] = {}
        for kind in self.kinds:
            if kind == "state":
                made[kind] = self._state(car, spot, track, objects)
            elif kind == "lidar":
                ranges = np.asarray(seen["lidar"])[:: self._every]
                # Nothing was hit: infinity. Noise may reach beyond the limits.
                made[kind] = np.clip(ranges, 0.0, self._reach, dtype=np.float32)
            else:
                made[kind] = np.array(seen["camera"])
        return made[self.kinds[0]] if len(made) == 1 else made

    def _state_bounds(self) -> Array:
        bounds = [10.0, 1.0, 10.0, math.pi, *[math.pi] * len(AHEAD)]
        return np.array(bounds + [NOWHERE] * (2 * NEAREST if self._objects else 0), np.float32)

    def _state(self, car: VehiclePose, spot: Spot, track: Track, objects: list[Thing]) -> Array:
        """Speed, steering, offset, angle to the road, how it bends ahead; then objects ahead."""
        angle = math.remainder(car["yaw"] - spot.heading, math.tau)
        bends = track.headings(spot.along, AHEAD) - spot.heading
        bends = (bends + math.pi) % math.tau - math.pi
        numbers = [car["speed"], car["steering"], spot.offset, angle, *bends]
        if self._objects:
            numbers += ahead_of(car, objects)
        return np.clip(np.array(numbers, np.float32), -self._bounds, self._bounds)


def ahead_of(car: VehiclePose, objects: list[Thing]) -> list[float]:
    """Where the nearest objects are, as the car sees them: x ahead, y to the left."""
    cos, sin = math.cos(car["yaw"]), math.sin(car["yaw"])
    found = []
    for thing in objects:
        dx, dy = thing["x"] - car["x"], thing["y"] - car["y"]
        x, y = dx * cos + dy * sin, dy * cos - dx * sin
        if x > -0.3 and thing["type"] != "wall":
            found.append((math.hypot(x, y), x, y))
    found.sort()
    out = [number for _, x, y in found[:NEAREST] for number in (x, y)]
    return out + [NOWHERE, 0.0] * (NEAREST - len(found[:NEAREST]))
