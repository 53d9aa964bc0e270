"""Tries a reset and a respawn, because each of them would restart the time of the lap."""

from cheat import post

for path in ("/reset", "/respawn"):
    post(path, {})
