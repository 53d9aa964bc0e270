"""The plan of a client: gesture after gesture, by the seed alone.

It never depends on answers or clocks, so that the same seed plays the same requests.
"""

import random
from collections.abc import Iterator
from dataclasses import replace

from .gestures import GESTURES, Request


def plan(seed: str, pause: float) -> Iterator[Request]:
    """The requests of one client, without an end.

    `pause` is how long it thinks between two, on average.
    """
    chance = random.Random(f"plan {seed}")
    weights, gestures = [w for w, _ in GESTURES], [g for _, g in GESTURES]
    while True:
        gesture = chance.choices(gestures, weights)[0](chance)
        for index, request in enumerate(gesture):
            # Within a gesture one is quick, so that others have less time to step in.
            think = chance.expovariate(1 / pause) if index == 0 else 0.0
            yield replace(request, think=round(think, 4))
