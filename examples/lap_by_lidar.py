"""Drives a lap of the oval by lidar: the distances to the four fences give the car's position."""

import json
import math
import sys
import time
import urllib.request

ROBOT = sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8000"
# Position in a hall of 8 by 6 m, from its south-west corner, and angle driven around its centre.
x, y, lap = 3.0, 1.0, 0.0


def ask(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(ROBOT + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


while lap < 2 * math.pi:
    time.sleep(0.03)
    now = ask("/states?include=odom,lidar")
    yaw, ranges = now["odom"]["orientation"]["yaw"], now["lidar"]["ranges"]  # 0° is the start yaw
    keys = [str((round(way - yaw) + 180) % 360 - 180) for way in (0, 90, 180, 270)]
    east, north, west, south = [ranges[key] or 99 for key in keys]
    before = math.atan2(y - 3, x - 4)
    x = min(west, 8 - east, key=lambda new: abs(new - x))  # ignores a beam that hits an object
    y = min(south, 6 - north, key=lambda new: abs(new - y))
    lap += math.remainder(math.atan2(y - 3, x - 4) - before, 2 * math.pi)
    # All points of the centre line are 2 m from a line segment in the middle of the hall. This is
    # the vector from the nearest point of that segment to the car.
    from_x, from_y = x - min(max(x, 2.5), 5.5), y - 3
    outside = math.hypot(from_x, from_y) - 2
    turn = math.remainder(math.atan2(from_y, from_x) + math.pi / 2 - math.radians(yaw), 2 * math.pi)
    bend = 0.09 if from_x else 0.0
    ask("/drive", {"speed": 1.0, "steering": bend + 0.9 * turn + 1.2 * outside})
ask("/drive", {"speed": 0.0, "steering": 0.0})
print("one lap, by lidar alone")
