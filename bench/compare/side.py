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
