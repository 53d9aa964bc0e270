"""A student's program that drives by lidar."""

import json
import os
import time
import urllib.error
import urllib.request

ROBOT = os.environ["CHICANE_URL"]


def ask(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(ROBOT + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


while True:
    try:
        ranges = ask("/lidar?step=30")["ranges"]
        left, right = ranges.get("30") or 16, ranges.get("-30") or 16
        ask("/drive", {"speed": 1.0, "steering": 0.3 if left > right else -0.3})
    except urllib.error.HTTPError as error:
        print("not now:", error.code)
    time.sleep(0.02)
