"""Places small objects at random on the road, with enough space beside each for a car to pass."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from chicane.gym.angles import micro
from chicane.gym.track import Track

SMALL_M = 0.4
"""Longest diagonal of an object that is placed on the road, m."""
PASSAGE_M = 0.4
"""Width of road that stays free beside an object, m. A car with its wheels is 0.2 m wide."""
CLEAR_M = 1.5
"""Length of road without objects before and after the start, m."""


def scatter(
    track: Track, catalogue: dict[str, Any], start: float, random: np.random.Generator
) -> list[tuple[str, float, float, float]]:
    """Places each small object in a road section of its own. All sections have the same length.

    Returns name, x, y and yaw of each object. `start` is the start of the car in metres along the
    road. Raises `ValueError` if the world has no small objects or its road is too narrow.
    """
    small = [
        (name, math.sqrt(entry["size"]["x"] ** 2 + entry["size"]["y"] ** 2) / 2)
        for name, entry in catalogue.items()
        if entry["movable"] and entry["type"] == "object"
    ]
    small = [(name, radius) for name, radius in small if 2 * radius <= SMALL_M]
    if not small:
        raise ValueError("this world has no small movable objects: choose another, such as slalom")
    order = list(range(len(small)))
    for last in range(len(order) - 1, 0, -1):
        other = int(random.random() * (last + 1))
        order[last], order[other] = order[other], order[last]
    stretch = (track.length - 2 * CLEAR_M) / len(small)
    places = []
    for turn, number in enumerate(order):
        name, radius = small[number]
        along = start + CLEAR_M + (turn + between(random, 0.2, 0.8)) * stretch
        left, right = track.widths(along)
        # Limits of the object's offset. At `lowest`, the passage to the right of the object is
        # `PASSAGE_M` wide. At `highest`, the object touches the left border of the road. In half of
        # the cases, the branch below swaps left and right.
        lowest, highest = PASSAGE_M + radius - right, left - radius
        if not lowest <= highest < math.inf:
            raise ValueError(
                f"the road is too narrow to pass {name!r}: choose another world, such as slalom"
            )
        offset = between(random, max(lowest, 0.0), highest)
        if random.random() < 0.5:
            lowest, highest = radius - right, left - PASSAGE_M - radius
            offset = between(random, lowest, min(highest, 0.0))
        x, y, _ = track.at(along, offset)
        yaw = between(random, -math.pi, math.pi)
        places.append((name, micro(x), micro(y), micro(yaw)))
    return places


def between(random: np.random.Generator, low: float, high: float) -> float:
    """The next random number from `low` to `high`.

    All random numbers of an environment come from `random.random`, because the native environments
    have only this function of NumPy's generator.
    """
    return low + (high - low) * float(random.random())
