"""Reads the lidar, steers and sleeps, as most first programs do."""

import time

from car import checksum, drive, get, microseconds, ready, request, say

ready()
for number in range(40):
    ranges = get("/lidar?step=10")["ranges"]
    request("/drive", drive(ranges, microseconds()))
    if number % 10 == 0:
        say("scan", checksum(ranges))
    time.sleep(0.0731)
