"""Threads that wait for each other with an event, a queue and a condition, all with timeouts."""

import queue
import threading
import time

from car import checksum, drive, get, microseconds, ready, request, say

ready()
scans: queue.Queue = queue.Queue()
stop = threading.Event()
changed = threading.Condition()
latest = {"odom": None, "number": 0}


def read_lidar():
    while not stop.wait(0.053):
        scans.put(get("/lidar?step=20")["ranges"])


def read_odometry():
    while not stop.is_set():
        odom = get("/odom")
        with changed:
            latest.update(odom=odom, number=latest["number"] + 1)
            changed.notify_all()
        time.sleep(0.037)


readers = [threading.Thread(target=read_lidar), threading.Thread(target=read_odometry)]
for reader in readers:
    reader.start()
begin, known, missed = time.monotonic(), 0, 0
while time.monotonic() - begin < 4.0:
    try:
        ranges = scans.get(timeout=0.031)
    except queue.Empty:
        ranges, missed = None, missed + 1
    with changed:
        is_new = changed.wait_for(lambda known=known: latest["number"] > known, timeout=0.029)
        odom, known = latest["odom"], latest["number"]
    request("/drive", drive(ranges, is_new, odom, known, missed, microseconds()))
    if known % 20 == 0:
        say(known, missed, checksum(ranges, odom))
stop.set()
for reader in readers:
    reader.join(timeout=5)
say(known, missed)
