"""Leaves a daemon behind that tries to move the car after the program's exit."""

import os
import time

from cheat import post, state

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while state()["run"]["running"]:
            time.sleep(0.01)
        post("/pose", {"x": 0, "y": 0})
        post("/clock", {"paused": True})
        time.sleep(1000)
    os._exit(0)
os.wait()
