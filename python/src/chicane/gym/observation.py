"""Observations of an agent: camera picture, lidar ranges, or a vector that describes the road."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from chicane.arrays import Observation
from chicane.gym.angles import cos, sin
from chicane.gym.reward import Thing
from chicane.gym.track import Track, TrackPosition

if TYPE_CHECKING:
    from chicane.wire.sim import Vehicle, VehiclePose

ObservationKind = Literal["state", "lidar", "camera"]
KINDS: tuple[ObservationKind, ...] = ("state", "lidar", "camera")
AHEAD = np.array([0.2, 0.4, 0.7, 1.0, 1.5])
"""Distances ahead, in metres, at which the state vector contains the direction of the road."""
NEAREST = 3
"""Number of objects in the state vector."""
ABSENT_M = 10.0
"""Largest coordinate of an object in the state vector, in metres.

If there are fewer than `NEAREST` objects, each missing object is at x = `ABSENT_M`, y = 0.
"""

Array = NDArray[Any]


class ObservationBuilder:
    """Builds the observations of one environment. All observations are in `space`."""

    def __init__(
        self,
        kinds: Sequence[ObservationKind],
        vehicle: Vehicle,
        beams: int | None,
        picture: tuple[int, ...],
        objects: bool,
    ) -> None:
        """`beams`: number of lidar beams, all of them if None. `picture`: shape of a camera
        picture. `objects`: whether the state vector contains objects.

        Raises `ValueError` for an unknown kind or an invalid number of beams.
        """
        wrong = [kind for kind in kinds if kind not in KINDS]
        if wrong or not kinds:
            raise ValueError(
                f"observation must be one or more of {', '.join(KINDS)}, not {wrong or 'empty'}"
            )
        all_beams = vehicle["lidar"]["beams"]
        beams = all_beams if beams is None else beams
        if not 1 <= beams <= all_beams or all_beams % beams:
            raise ValueError(
                f"beams must divide {all_beams}, the number of the lidar's beams; {beams} does not"
            )
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

    def build(
        self,
        stepped: Observation,
        car: VehiclePose,
        position: TrackPosition,
        track: Track,
        objects: list[Thing],
    ) -> Any:
        """Builds the observation of one step."""
        made: dict[str, Array] = {}
        for kind in self.kinds:
            if kind == "state":
                made[kind] = self._state(car, position, track, objects)
            elif kind == "lidar":
                ranges = np.asarray(stepped["lidar"])[:: self._every]
                # A beam that hit nothing has an infinite range, and noise can exceed the limits.
                made[kind] = np.clip(ranges, 0.0, self._reach, dtype=np.float32)
            else:
                made[kind] = np.array(stepped["camera"])
        return made[self.kinds[0]] if len(made) == 1 else made

    def _state_bounds(self) -> Array:
        bounds = [10.0, 1.0, 10.0, math.pi, *[math.pi] * len(AHEAD)]
        return np.array(bounds + [ABSENT_M] * (2 * NEAREST if self._objects else 0), np.float32)

    def _state(
        self, car: VehiclePose, position: TrackPosition, track: Track, objects: list[Thing]
    ) -> Array:
        """The state vector: speed, steering, offset from the centre line, angle to the road, and
        the directions of the road ahead.

        The directions are those at the distances `AHEAD`, relative to the direction of the road at
        the car. The positions of the nearest objects follow if the vector contains objects.
        """
        angle = math.remainder(car["yaw"] - position.heading, math.tau)
        bends = track.headings(position.along, AHEAD) - position.heading
        bends = (bends + math.pi) % math.tau - math.pi
        numbers = [car["speed"], car["steering"], position.offset, angle, *bends]
        if self._objects:
            numbers += ahead_of(car, objects)
        return np.clip(np.array(numbers, np.float32), -self._bounds, self._bounds)


def ahead_of(car: VehiclePose, objects: list[Thing]) -> list[float]:
    """Positions of the nearest objects in the frame of the car: x ahead, y to the left, in metres.

    Walls, and objects more than 0.3 m behind the car, are left out.
    """
    cosine, sine = cos(car["yaw"]), sin(car["yaw"])
    found = []
    for thing in objects:
        dx, dy = thing["x"] - car["x"], thing["y"] - car["y"]
        x, y = dx * cosine + dy * sine, dy * cosine - dx * sine
        if x > -0.3 and thing["type"] != "wall":
            found.append((x * x + y * y, x, y))
    found.sort()
    out = [number for _, x, y in found[:NEAREST] for number in (x, y)]
    return out + [ABSENT_M, 0.0] * (NEAREST - len(found[:NEAREST]))
