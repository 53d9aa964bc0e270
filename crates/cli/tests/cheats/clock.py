"""Slows the clock down for time to think, pauses it, and runs it faster than the judge."""

from cheat import post

for body in ({"speed": 0.05}, {"paused": True}, {"speed": 100, "paused": False}):
    post("/clock", body)
