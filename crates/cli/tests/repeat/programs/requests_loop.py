"""A session of `requests` without any sleep: only the requests take time."""

import time

import requests
from car import URL, checksum, drive, microseconds, ready, say

ready()
session = requests.Session()
begin = time.monotonic()
count = 0
while time.monotonic() - begin < 3.0:
    odom = session.get(URL + "/odom", timeout=10).json()
    ranges = session.get(URL + "/lidar", params={"step": 15}, timeout=10).json()["ranges"]
    session.post(URL + "/drive", json=drive(odom, ranges, microseconds()), timeout=10)
    count += 1
    if count % 50 == 0:
        say(count, checksum(odom, ranges))
say(count, "rounds")
