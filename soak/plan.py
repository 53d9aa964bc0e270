"""The plan of a client: random request sequences, one after the other.

A plan depends only on its seed, not on answers or clocks. The same seed gives the same requests.
"""

import random
from collections.abc import Iterator
from dataclasses import replace

from .sequences import SEQUENCES, Request


def plan(seed: str, pause: float) -> Iterator[Request]:
    """Yields the requests of one client without end.

    `pause` is the mean time between two sequences, in seconds.
    """
    chance = random.Random(f"plan {seed}")
    weights, sequences = [w for w, _ in SEQUENCES], [g for _, g in SEQUENCES]
    while True:
        sequence = chance.choices(sequences, weights)[0](chance)
        for index, request in enumerate(sequence):
            # There is no pause inside a sequence, so that other clients rarely send a request
            # between two requests of the sequence.
            think = chance.expovariate(1 / pause) if index == 0 else 0.0
            yield replace(request, think=round(think, 4))
