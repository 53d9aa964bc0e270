"""Drives in steps, and reads sensors between the steps."""

import json

from car import SPEED, angle, checksum, get, microseconds, ready, request, say

ready()
steering = 0.0
for number in range(50):
    body = {"steps": 12, "speed": SPEED, "steering": steering, "observe": ["odom"]}
    step = json.loads(request("/sim/api/step", body))
    # The answer also contains the id of the session, which differs between runs.
    seen = [step[name] for name in ("time", "vehicle", "objects", "observations")]
    ranges = get("/lidar?step=10")["ranges"]
    steering = angle(seen, ranges, microseconds())
    if number % 10 == 0:
        say(checksum(seen, ranges))
