"""Makes the picture of the camera darker and brighter."""

from cheat import post

for value in (0.2, 2.0):
    post("/brightness", {"value": value})
