"""Streams of the package `chicane`: lidar, odometry and camera at the same time."""

import threading
import time

from car import SPEED, angle, checksum, microseconds, say
from chicane import Robot

latest: dict[str, object] = {}


def follow(name: str, open_stream):
    with open_stream() as stream:
        for reading in stream:
            latest[name] = checksum(reading)
            if time.monotonic() > end:
                return


robot = Robot()
end = time.monotonic() + 4.0
streams = [
    threading.Thread(target=follow, args=("odom", robot.odom_stream)),
    threading.Thread(target=follow, args=("camera", lambda: robot.camera_stream(width=160))),
]
for thread in streams:
    thread.start()
for number, scan in enumerate(Robot().lidar_stream(step=10)):
    robot.drive(speed=SPEED, steering=angle(scan, sorted(latest.items()), microseconds()))
    if number % 10 == 0:
        say(number, checksum(scan, sorted(latest.items())))
    if time.monotonic() > end:
        break
for thread in streams:
    thread.join()
