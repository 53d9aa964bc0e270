"""What the Python programs of this folder share.

Each program steers by all digits of what it reads. So a reading that is one tick older or a clock
that is one microsecond later leads to another trajectory.
"""

import json
import os
import time
import urllib.request
import zlib

URL = os.environ["CHICANE_URL"]
HOST, PORT = URL.removeprefix("http://").rstrip("/").split(":")
SPEED = 0.6


def microseconds() -> int:
    """The microseconds of the current second."""
    return time.time_ns() // 1000 % 1_000_000


def checksum(*readings) -> int:
    """A number that depends on every digit of the readings."""
    return zlib.crc32(repr(readings).encode())


def angle(*readings) -> float:
    """A steering angle in rad that depends on every digit of the readings."""
    return checksum(*readings) % 1000 / 1000 * 0.4 - 0.2


def drive(*readings) -> dict[str, float]:
    """A body for `POST /drive`."""
    return {"speed": SPEED, "steering": angle(*readings)}


def request(path: str, body=None) -> bytes:
    """Sends a request and returns the body of the response. Sends POST if `body` is not None."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(URL + path, data, headers)) as answer:
        return answer.read()


def get(path: str):
    """The parsed answer to a GET request."""
    return json.loads(request(path))


def ready() -> None:
    """Waits until the lidar has a scan."""
    while get("/states?include=lidar")["lidar"] is None:
        time.sleep(0.02)


def say(*values) -> None:
    """Prints the values and the microseconds of the clock. The line becomes part of the record."""
    print(*values, microseconds(), flush=True)
