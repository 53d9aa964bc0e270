"""Waits in a loop that reads the clock, without a sleep."""

import time

from car import checksum, drive, get, microseconds, ready, request, say

ready()
for number in range(30):
    ranges = get("/lidar?step=20")["ranges"]
    request("/drive", drive(ranges, microseconds()))
    until, rounds = time.time() + 0.1013, 0
    while time.time() < until:
        rounds += 1
    if number % 10 == 0:
        say(rounds, checksum(ranges))
