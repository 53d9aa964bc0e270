"""Geometry of the road: its width, its direction, and the position of a car on the road."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chicane.gym.angles import atan2

if TYPE_CHECKING:
    from chicane.wire.sim import Route

NEAR_M = 0.6
"""The search for a car covers about this many metres of road before and after its last position.

The argument `near_m` of `Track` replaces this distance.

The search is local because roads may cross. On the whole road, the nearest point could be on
another section of the road.
"""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TrackPosition:
    """A position relative to the road."""

    along: float
    """Metres along the centre line, from the first waypoint."""
    offset: float
    """Metres from the centre line, + is left."""
    heading: float
    """Direction of the road, rad."""
    behind: int
    """Index of the waypoint behind the position."""
    width_left: float
    """Metres from the centre line to the left border."""
    width_right: float
    """Metres from the centre line to the right border."""

    @property
    def off_track(self) -> bool:
        """Whether the position is outside the road."""
        return self.offset > self.width_left or -self.offset > self.width_right


class Track:
    """A closed road."""

    def __init__(self, route: Route, near_m: float = NEAR_M) -> None:
        """`near_m` is the largest distance, in metres, that a car drives between two calls of
        `locate`. Raises `ValueError` for a route with fewer than three waypoints.
        """
        points = np.asarray(route["waypoints"], np.float64)
        if len(points) > 1 and np.allclose(points[0], points[-1]):
            points = points[:-1]
        if len(points) < 3:
            raise ValueError(f"a road needs three waypoints or more, not {len(points)}")
        self.points = points
        self.waypoints: list[tuple[float, float]] = [(float(x), float(y)) for x, y in points]
        self._way = np.roll(points, -1, axis=0) - points
        self._length2 = np.maximum((self._way**2).sum(axis=1), 1e-12)
        self._lengths = np.sqrt(self._length2)
        self._starts = np.concatenate([[0.0], np.cumsum(self._lengths)[:-1]])
        repeated = self._length2 <= 1e-12
        directions = self._directions(repeated)
        ways = np.where(repeated[:, None], directions, self._way)
        self._headings = np.array([atan2(y, x) for x, y in ways.tolist()])
        self.length = float(self._starts[-1] + self._lengths[-1])
        self._reach = max(2, round(near_m / (self.length / len(points))))
        # The rows are lists of Python floats, because `locate` handles only a few rows at a time,
        # for which NumPy would be slower. The place of a repeated waypoint is set to infinity, so
        # that `locate` finds the row after that waypoint.
        starts = np.where(repeated[:, None], math.inf, points)
        self._rows = np.column_stack([starts, self._way, 1 / self._length2]).tolist()
        left = np.stack([-directions[:, 1], directions[:, 0]], axis=1)
        self._left = self._right = np.full(len(points), math.inf)
        if route.get("inner") and route.get("outer"):
            sides = [self._side(route.get(name), left) for name in ("inner", "outer")]
            self._left, self._right = np.maximum(*sides), -np.minimum(*sides)

    def _directions(self, repeated: NDArray[np.bool_]) -> Floats:
        """Direction of the road at each waypoint, as a unit vector.

        A route may repeat a waypoint. The direction there is that of the next different waypoint.
        """
        directions: Floats = self._way / self._lengths[:, None]
        for row in [*range(len(directions) - 1, -1, -1)] * 2:
            if repeated[row]:
                directions[row] = directions[(row + 1) % len(directions)]
        return directions

    def _side(self, border: Any, left: Floats) -> Floats:
        """Distance from each waypoint to a border, + is left."""
        rows = np.asarray(border, np.float64)[: len(self.points)]
        side: Floats = ((rows - self.points) * left).sum(axis=1)
        return side

    def locate(self, x: float, y: float, near: int | None = None) -> TrackPosition:
        """Returns the position on the road that is nearest to a point.

        `near` is the field `behind` of the last position. The search is limited to the road around
        that waypoint. Without `near` the whole road is searched.
        """
        count = len(self.points)
        rows = range(count)
        if near is not None and 2 * self._reach < count:
            rows = range(near - self._reach, near + self._reach + 1)
        best = math.inf
        for row in rows:
            from_x, from_y, way_x, way_y, inverse = self._rows[row % count]
            off_x, off_y = x - from_x, y - from_y
            part = (off_x * way_x + off_y * way_y) * inverse
            part = 0.0 if part < 0.0 else min(part, 1.0)
            gap_x, gap_y = off_x - part * way_x, off_y - part * way_y
            gap = gap_x * gap_x + gap_y * gap_y
            if gap < best:
                best, found, fraction = gap, row % count, part
                across = way_x * gap_y - way_y * gap_x
        row = found
        distance = math.sqrt(best)
        return TrackPosition(
            along=float(self._starts[row] + fraction * self._lengths[row]),
            offset=math.copysign(distance, across),
            heading=float(self._headings[row]),
            behind=row,
            width_left=float(self._left[row]),
            width_right=float(self._right[row]),
        )

    def at(self, along: float, offset: float = 0.0) -> tuple[float, float, float]:
        """Returns x, y and heading of the road, `along` metres from the first waypoint and `offset`
        metres to the left of the centre line.
        """
        row, rest = self._row(along)
        length = self._lengths[row]
        x, y = self.points[row] + self._way[row] * (rest / length)
        way_x, way_y = self._way[row] / length
        return float(x - offset * way_y), float(y + offset * way_x), float(self._headings[row])

    def widths(self, along: float) -> tuple[float, float]:
        """Returns the metres of road to the left and to the right of the centre line."""
        row, _ = self._row(along)
        return float(self._left[row]), float(self._right[row])

    def headings(self, along: float, distances: Floats) -> Floats:
        """Returns the direction of the road, in rad, at each of the distances after `along`."""
        rows = np.searchsorted(self._starts, (along + distances) % self.length, "right") - 1
        ahead: Floats = self._headings[rows]
        return ahead

    def advance(self, before: float, now: float) -> float:
        """Returns the metres along the road between two positions, in the shorter direction."""
        return math.remainder(now - before, self.length)

    def _row(self, along: float) -> tuple[int, float]:
        along %= self.length
        row = int(np.searchsorted(self._starts, along, "right")) - 1
        return row, along - float(self._starts[row])
