"""Drives the policy that `train.py`, `train_ppo.py` or `train_sb3.py` learned, in lockstep.

The policy of `train.py` is linear and sees the road. The policies of the other two programs are
networks, which see the ranges of the lidar. This program needs only the package chicane.

chicane evaluate --world oval --command "python3 drive_policy.py policy.json"
"""

import json
import math
import sys
from operator import mul

from chicane import Sim

AHEAD = (0.2, 0.4, 0.7, 1.0, 1.5)  # distances along the road at which the policy sees bends, m
LONGEST_S = 120  # simulated seconds after which the program gives up


class Road:
    """The centre line of the road, as the observation `state` of the environments sees it."""

    def __init__(self, waypoints):
        self.points = waypoints[:-1]  # the last point repeats the first
        following = [*self.points[1:], self.points[0]]
        self.ways = [
            (b[0] - a[0], b[1] - a[1]) for a, b in zip(self.points, following, strict=True)
        ]
        self.lengths = [math.hypot(*way) for way in self.ways]

    def nearest(self, x, y):
        """Index of the nearest part of the road, metres along that part, and metres to its left."""

        def gap(i):
            (at_x, at_y), (way_x, way_y), length = self.points[i], self.ways[i], self.lengths[i]
            part = ((x - at_x) * way_x + (y - at_y) * way_y) / length
            along = min(max(part, 0.0), length)
            off = (x - at_x - along * way_x / length, y - at_y - along * way_y / length)
            left = way_x * off[1] - way_y * off[0]
            return math.hypot(*off), along, math.copysign(math.hypot(*off), left)

        at = min(range(len(self.points)), key=lambda i: gap(i)[0])
        return at, *gap(at)[1:]

    def heading(self, at, along=0.0):
        """Direction of the road `along` metres after the start of part `at`."""
        while along > self.lengths[at]:
            along -= self.lengths[at]
            at = (at + 1) % len(self.points)
        return math.atan2(self.ways[at][1], self.ways[at][0])


def observed(road, car):
    """Speed, steering, offset, angle to the road, and the bends ahead."""
    at, along, offset = road.nearest(car["x"], car["y"])
    heading = road.heading(at)
    angle = math.remainder(car["yaw"] - heading, math.tau)
    bends = [math.remainder(road.heading(at, along + d) - heading, math.tau) for d in AHEAD]
    return [car["speed"], car["steering"], offset, angle, *bends]


def act(policy, seen):
    """Speed and steering, as `train.py` computes them."""
    features = [value / scale for value, scale in zip(seen, policy["scale"], strict=True)] + [1.0]
    sums = [sum(w * f for w, f in zip(row, features, strict=True)) for row in policy["weights"]]
    speed, steering = map(math.tanh, sums)
    return 0.8 + 0.6 * speed, 0.349 * steering


def drive_by_road(sim, policy):
    """Drives a linear policy that sees speed, steering and the road."""
    road, state = Road(sim.route()["waypoints"]), sim.state()
    end = state["time"] + LONGEST_S
    while state["time"] < end and not state["contacts"]:
        speed, steering = act(policy, observed(road, state["vehicle"]))
        state = sim.step(duration=0.1, speed=speed, steering=steering)


def outputs(policy, inputs):
    """The outputs of a network, each from -1 to 1.

    The inputs are lidar ranges in metres, and perhaps the last outputs.
    """
    rows = zip(inputs, policy["mean"], policy["deviation"], strict=True)
    most = policy["farthest"]
    values = [min(max((value - mean) / wide, -most), most) for value, mean, wide in rows]
    for number, layer in enumerate(policy["layers"]):
        if number:
            values = [math.tanh(value) for value in values]
        rows = zip(layer["weights"], layer["biases"], strict=True)
        values = [sum(map(mul, row, values)) + bias for row, bias in rows]
    return [min(max(value, -1.0), 1.0) for value in values]


def drive_by_lidar(sim, policy):
    """Drives a network that sees the ranges of the lidar, and perhaps the last action."""
    # The car stands until the lidar has a reading.
    last, drive, end = [0.0, 0.0], [0.0, 0.0], None
    while True:
        seen = sim.observe(duration=0.1, speed=drive[0], steering=drive[1], observe=["lidar"])
        state = seen.state
        end = state["time"] + LONGEST_S if end is None else end
        if state["time"] >= end or state["contacts"]:
            break
        ranges = seen["lidar"].tolist()
        ranges = ranges[:: len(ranges) // policy["beams"]]
        # A beam that hit nothing has an infinite range.
        ranges = [min(max(one, 0.0), policy["range_max"]) for one in ranges]
        last = outputs(policy, ranges + last if policy["sees_action"] else ranges)
        limits = zip(last, policy["lowest"], policy["highest"], strict=True)
        drive = [low + (part + 1.0) / 2.0 * (high - low) for part, low, high in limits]


def main():
    with open(sys.argv[1]) as file:
        policy = json.load(file)
    sim = Sim(sys.argv[2] if len(sys.argv) > 2 else None)
    if "layers" in policy:
        drive_by_lidar(sim, policy)
    else:
        drive_by_road(sim, policy)


if __name__ == "__main__":
    main()
