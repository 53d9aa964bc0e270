"""A student's program that tries commands which a judged program must not send."""

import json
import os
import urllib.error
import urllib.request

ROBOT = os.environ["CHICANE_URL"]

for number in range(3):
    body = json.dumps({"x": 1 + number, "y": 1, "yaw": 0}).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(ROBOT + "/sim/api/pose", body, headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            print("moved:", answer.status)
    except urllib.error.HTTPError as error:
        print("refused:", error.code)
