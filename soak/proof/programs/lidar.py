"""A student's program that reads the lidar and sleeps. Its argument changes the drive."""

import json
import os
import sys
import time
import urllib.request

URL = os.environ["CHICANE_URL"]
NUMBER = int(sys.argv[1])


def ask(path: str, **body: float) -> dict:
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request(URL + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


for turn in range(20 + NUMBER):
    ranges = ask("/lidar?step=30")["ranges"]
    left, right = ranges.get("30") or 12, ranges.get("-30") or 12
    ask("/speed", value=0.5 + 0.05 * NUMBER)
    ask("/steering", value=0.2 if left > right else -0.2)
    print("turn", turn, left, right, flush=True)
    time.sleep(0.05)
sys.exit(3 if NUMBER % 2 else 0)
