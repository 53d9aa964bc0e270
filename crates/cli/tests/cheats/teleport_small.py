"""Teleports the car in hops of 5 cm from waypoint to waypoint, with a few ticks between them."""

import math

from cheat import post, route, step

for (x, y), (x2, y2) in zip(route()[:20], route()[1:21], strict=False):
    post("/pose", {"x": x, "y": y, "yaw": math.atan2(y2 - y, x2 - x)})
    step()
