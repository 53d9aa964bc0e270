"""The protocol of a contender: a process that carries out tasks and reports their time.

Each task is a line of JSON on standard input. Each answer is a line on standard output:
`{"task": "step", "count": 100}` → `{"seconds": 0.12}`. Tasks that are not in `TIMED`, such as
`facts` and `scan`, answer with their result. The process ends when its input ends. Between tasks
the process waits, so that the contenders can take turns. The Rust contender
(`bench/src/bin/contender`) uses the same protocol.
"""

import json
import math
import sys
import time
from itertools import pairwise

from .scene import FALL_STEPS

TIMED = ("physics", "lidar", "step", "heap", "reset", "camera")


def serve(side) -> None:
    """Carries out tasks until the end of standard input."""
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
    """A simulator that is a library in this process.

    Subclasses define the scenes `rest` and `falling`, the camera poses `pictures`, and `_picture`.
    """

    frame = 0

    def physics(self, count: int) -> None:
        """Makes steps without a scan."""
        for _ in range(count):
            self.rest.advance()

    def lidar(self, count: int) -> None:
        """Takes scans without a step."""
        for _ in range(count):
            self.rest.scan()

    def step(self, count: int) -> None:
        """Makes steps, each with a scan."""
        for _ in range(count):
            self.rest.advance()
            self.rest.scan()

    def heap(self, count: int) -> None:
        """Lets the heap fall, each time after a reset."""
        for _ in range(count):
            self.falling.reset()
            for _ in range(FALL_STEPS):
                self.falling.advance()

    def reset(self, count: int) -> None:
        """Resets the scene."""
        for _ in range(count):
            self.rest.reset()

    def camera(self, count: int, width: int, height: int) -> None:
        """Takes pictures at poses around the circle."""
        for _ in range(count):
            self._picture(width, height)

    def picture(self, file: str, width: int, height: int) -> dict:
        """Saves the picture at the first pose, for visual inspection."""
        from matplotlib import image

        self.frame = 0
        image.imsave(file, self._picture(width, height))
        return {"file": file}


def turning(poses: list, step_s: float) -> dict:
    """Speed and radius of a car, from its poses (x, y, heading) after each step.

    The radius is None if the car did not turn.
    """
    way = turn = 0.0
    for (x, y, a), (u, v, b) in pairwise(poses):
        way += math.hypot(u - x, v - y)
        turn += (b - a + math.pi) % (2 * math.pi) - math.pi
    seconds = step_s * (len(poses) - 1)
    return {
        "speed_mps": round(way / seconds, 3),
        "radius_m": round(way / abs(turn), 3) if turn else None,
    }
