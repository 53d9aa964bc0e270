"""Drives a lap of any track by its centre line, step by step: the simulator waits for this program.

So it drives as well on a slow machine as on a fast one. Started by an evaluation it finds the
simulator by itself:
chicane evaluate --world technical --command "python3 examples/lap_by_route.py"
"""

import http.client
import json
import math
import os
import sys
import urllib.parse

ROBOT = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("CHICANE_URL", "http://localhost:8000")
TOKEN = os.environ.get("CHICANE_TOKEN")
SPEED = 0.8  # m/s
LOOK = 0.35  # metres ahead
line = http.client.HTTPConnection(urllib.parse.urlsplit(ROBOT).netloc, timeout=60)


def ask(path, body=None):
    headers = {"Content-Type": "application/json"}
    if TOKEN:
        headers["Authorization"] = f"Bearer {TOKEN}"
    data = None if body is None else json.dumps(body)
    line.request("GET" if body is None else "POST", "/sim/api" + path, data, headers)
    answer = line.getresponse()
    text = answer.read()
    if answer.status != 200:
        raise SystemExit(f"{path}: {answer.status} {text.decode()}")
    return json.loads(text)


route = ask("/route")["waypoints"][:-1]  # the last point is the first again
wheelbase = ask("/vehicle")["wheelbase"]
gaps = [math.dist(a, b) for a, b in zip(route, route[1:] + route[:1], strict=True)]
state, driven = ask("/state"), 0.0
while driven < sum(gaps) + 1:
    car = state["vehicle"]
    here = (car["x"], car["y"])
    at = min(range(len(route)), key=lambda i: math.dist(route[i], here))
    ahead = 0.0
    while ahead < LOOK:  # along the centre line, not across
        ahead += gaps[at]
        at = (at + 1) % len(route)
    x, y = route[at][0] - here[0], route[at][1] - here[1]
    left = y * math.cos(car["yaw"]) - x * math.sin(car["yaw"])
    steering = math.atan(2 * wheelbase * left / (x * x + y * y))
    state = ask("/step", {"duration": 0.04, "speed": SPEED, "steering": steering})
    driven += math.dist(here, (state["vehicle"]["x"], state["vehicle"]["y"]))
print("one lap, step by step")
