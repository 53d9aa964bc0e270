"""Drives a lap of any track along its centre line, in lockstep.

The simulator waits for each step, so the result does not depend on the speed of the machine. In an
evaluation the program gets the address from CHICANE_URL. It needs the package chicane: install it
or set PYTHONPATH=python/src.

chicane evaluate --world technical --command "python3 examples/lap_by_route.py"
"""

import math
import sys

from chicane import Sim

SPEED = 0.8  # m/s
LOOK = 0.35  # distance of the target point ahead, m
NEAR = 20  # number of waypoints that are searched for the nearest one after a step

sim = Sim(sys.argv[1] if len(sys.argv) > 1 else None)
route = sim.route()["waypoints"][:-1]  # the last point repeats the first
wheelbase = sim.vehicle()["wheelbase"]
gaps = [math.dist(a, b) for a, b in zip(route, route[1:] + route[:1], strict=True)]
length = sum(gaps)
car, driven = sim.state()["vehicle"], 0.0
here = (car["x"], car["y"])
at = min(range(len(route)), key=lambda i: math.dist(route[i], here))
while driven < length + 1:
    # Search only the next waypoints, because a track may cross itself.
    near = [i % len(route) for i in range(at, at + NEAR)]
    at = min(near, key=lambda i: math.dist(route[i], here))
    target, ahead = at, 0.0
    while ahead < LOOK:  # measured along the centre line
        ahead += gaps[target]
        target = (target + 1) % len(route)
    x, y = route[target][0] - here[0], route[target][1] - here[1]
    left = y * math.cos(car["yaw"]) - x * math.sin(car["yaw"])
    steering = math.atan(2 * wheelbase * left / (x * x + y * y))
    car = sim.step(duration=0.04, speed=SPEED, steering=steering)["vehicle"]
    before, here = here, (car["x"], car["y"])
    driven += math.dist(before, here)
print("one lap, step by step")
