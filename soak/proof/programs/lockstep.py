"""A student's program that steps the simulation. Its argument changes the drive."""

import json
import os
import sys
import urllib.request

URL = os.environ["CHICANE_URL"] + "/sim/api/step"
NUMBER = int(sys.argv[1])

for turn in range(20):
    body = {"steps": 8 + NUMBER, "speed": 0.8, "steering": 0.03 * ((turn + NUMBER) % 5 - 2)}
    request = urllib.request.Request(
        URL, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        answer.read()
