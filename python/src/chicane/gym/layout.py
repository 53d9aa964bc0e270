"""Scatters small objects over the road, so that a car can always pass."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from chicane.gym.track import Track

SMALL_M = 0.4
"""Objects with a longer diagonal stay where they are."""
PASSAGE_M = 0.4
"""Road that is left free beside an object: a car is 0.2 m wide with its wheels."""
CLEAR_M = 1.5
"""Road without objects, behind the start and ahead of it."""


def scatter(
    track: Track, catalogue: dict[str, Any], start: float, random: np.random.Generator
) -> list[tuple[str, float, float, float]]:
    """Where the small objects go: name, x, y, yaw. One to each stretch of the road."""
    small = [
        (name, math.hypot(entry["size"]["x"], entry["size"]["y"]) / 2)
        for name, entry in catalogue.items()
        if entry["movable"] and entry["type"] == "object"
    ]
    small = [(name, radius) for name, radius in small if 2 * radius <= SMALL_M]
    if not small:
        raise ValueError("this world has no small objects that could be moved: choose slalom")
    stretch = (track.length - 2 * CLEAR_M) / len(small)
    places = []
    for turn, number in enumerate(random.permutation(len(small))):
        name, radius = small[number]
        along = start + CLEAR_M + (turn + random.uniform(0.2, 0.8)) * stretch
        left, right = track.widths(along)
        # From a passage on the right of it to the left border, or the other way round.
        lowest, highest = PASSAGE_M + radius - right, left - radius
        if not lowest <= highest < math.inf:
            raise ValueError(
                f"the road is too narrow to pass {name}: choose a wider one, such as slalom"
            )
        offset = random.uniform(max(lowest, 0.0), highest)
        if random.random() < 0.5:
            lowest, highest = radius - right, left - PASSAGE_M - radius
            offset = random.uniform(lowest, min(highest, 0.0))
        x, y, _ = track.at(along, offset)
        places.append((name, x, y, float(random.uniform(-math.pi, math.pi))))
    return places
