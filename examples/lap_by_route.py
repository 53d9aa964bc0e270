"""Drives a lap of any track by its centre line, step by step: the simulator waits for this program.

So it drives as well on a slow machine as on a fast one. Started by an evaluation it finds the
simulator by itself (with the package installed, or with PYTHONPATH=python/src):
chicane evaluate --world technical --command "python3 examples/lap_by_route.py"
"""

import math
import sys

from chicane import Sim

SPEED = 0.8  # m/s
LOOK = 0.35  # metres ahead

sim = Sim(sys.argv[1] if len(sys.argv) > 1 else None)
route = sim.route()["waypoints"][:-1]  # the last point is the first again
wheelbase = sim.vehicle()["wheelbase"]
gaps = [math.dist(a, b) for a, b in zip(route, route[1:] + route[:1], strict=True)]
car, driven = sim.state()["vehicle"], 0.0
while driven < sum(gaps) + 1:
    here = (car["x"], car["y"])
    at = min(range(len(route)), key=lambda i: math.dist(route[i], here))
    ahead = 0.0
    while ahead < LOOK:  # along the centre line, not across
        ahead += gaps[at]
        at = (at + 1) % len(route)
    x, y = route[at][0] - here[0], route[at][1] - here[1]
    left = y * math.cos(car["yaw"]) - x * math.sin(car["yaw"])
    steering = math.atan(2 * wheelbase * left / (x * x + y * y))
    car = sim.step(duration=0.04, speed=SPEED, steering=steering)["vehicle"]
    driven += math.dist(here, (car["x"], car["y"]))
print("one lap, step by step")
