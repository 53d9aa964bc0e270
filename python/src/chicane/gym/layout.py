"""Places small objects at random on the road, with enough space beside each for a car to pass."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from chicane.gym.track import Track

SMALL_M = 0.4
"""Objects with a longer diagonal than this are not moved, m."""
PASSAGE_M = 0.4
"""Width of road that stays free beside an object, m. A car with its wheels is 0.2 m wide."""
CLEAR_M = 1.5
"""Length of road without objects before and after the start, m."""


def scatter(
    track: Track, catalogue: dict[str, Any], start: float, random: np.random.Generator
) -> list[tuple[str, float, float, float]]:
    """Returns name, x, y and yaw of the small objects, one for each of equally long road sections.

    `start` is the start of the car in metres along the road. Raises `ValueError` if the world has
    no small objects or its road is too narrow.
    """
    small = [
        (name, math.hypot(entry["size"]["x"], entry["size"]["y"]) / 2)
        for name, entry in catalogue.items()
        if entry["movable"] and entry["type"] == "object"
    ]
    small = [(name, radius) for name, radius in small if 2 * radius <= SMALL_M]
    if not small:
        raise ValueError("this world has no small movable objects: choose another, such as slalom")
    stretch = (track.length - 2 * CLEAR_M) / len(small)
    places = []
    for turn, number in enumerate(random.permutation(len(small))):
        name, radius = small[number]
        along = start + CLEAR_M + (turn + random.uniform(0.2, 0.8)) * stretch
        left, right = track.widths(along)
        # The offset range of the object's centre: it leaves a passage on its right and reaches to
        # the left border. The branch below swaps the sides.
        lowest, highest = PASSAGE_M + radius - right, left - radius
        if not lowest <= highest < math.inf:
            raise ValueError(
                f"the road is too narrow to pass {name!r}: choose another world, such as slalom"
            )
        offset = random.uniform(max(lowest, 0.0), highest)
        if random.random() < 0.5:
            lowest, highest = radius - right, left - PASSAGE_M - radius
            offset = random.uniform(lowest, min(highest, 0.0))
        x, y, _ = track.at(along, offset)
        places.append((name, x, y, float(random.uniform(-math.pi, math.pi))))
    return places
