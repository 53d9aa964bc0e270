"""Makes the picture of the camera easier to read."""

from cheat import post

for value in (0.2, 2.0):
    post("/brightness", {"value": value})
