"""Switches every traffic light to green."""

from urllib.parse import quote

from cheat import post, state

for name in [*state()["lights"], "light_1", "a"]:
    post(f"/traffic_lights/{quote(str(name))}", {"state": "green"})
