"""One contender: a process that does what it is told and says how long it took.

A line of JSON comes in, one goes out. `{"task": "step", "count": 100}` → `{"seconds": 0.12}`; what
takes no time of its own (`facts`, `scan`, `picture`) answers with what was asked for. The end of
its input is its end. Between two tasks it waits, so that contenders can take turns. The Rust core
speaks the same (`bench/src/bin/contender`).
"""

import json
import math
import sys
import time
from itertools import pairwise

from .scene import FALL_STEPS

TIMED = ("physics", "lidar", "step", "heap", "reset", "camera")


def serve(side) -> None:
    """Answers until there is nothing more to answer."""
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        task = getattr(side, order.pop("task"))
        if task.__name__ in TIMED:
            begun = time.perf_counter()
            task(**order)
            answer = {"seconds": time.perf_counter() - begun}
        else:
            answer = task(**order)
        print(json.dumps(answer), flush=True)
    close = getattr(side, "close", None)
    if close:
        close()


class Library:
    """A simulator in this process. Who comes from it has the yards `rest` and `falling`, places for
    `pictures`, and a way to take one.
    """

    frame = 0

    def physics(self, count: int) -> None:
        """Steps without a scan."""
        for _ in range(count):
            self.rest.advance()

    def lidar(self, count: int) -> None:
        """Scans without a step."""
        for _ in range(count):
            self.rest.scan()

    def step(self, count: int) -> None:
        """A step, then a scan."""
        for _ in range(count):
            self.rest.advance()
            self.rest.scan()

    def heap(self, count: int) -> None:
        """Falls of the heap, each from a reset on."""
        for _ in range(count):
            self.falling.reset()
            for _ in range(FALL_STEPS):
                self.falling.advance()

    def reset(self, count: int) -> None:
        """Back to the start."""
        for _ in range(count):
            self.rest.reset()

    def camera(self, count: int, width: int, height: int) -> None:
        """Pictures from places around the circle."""
        for _ in range(count):
            self._picture(width, height)

    def picture(self, file: str, width: int, height: int) -> dict:
        """Keeps the picture from the first place, to be looked at."""
        from matplotlib import image

        self.frame = 0
        image.imsave(file, self._picture(width, height))
        return {"file": file}


def turning(poses: list, step_s: float) -> dict:
    """Speed and radius of a car, from where it was after each step (x, y, heading)."""
    way = turn = 0.0
    for (x, y, a), (u, v, b) in pairwise(poses):
        way += math.hypot(u - x, v - y)
        turn += (b - a + math.pi) % (2 * math.pi) - math.pi
    seconds = step_s * (len(poses) - 1)
    return {
        "speed_mps": round(way / seconds, 3),
        "radius_m": round(way / abs(turn), 3) if turn else None,
    }
