"""Switches every traffic light to green."""

from urllib.parse import quote

from cheat import post, state

for name in [*(light["name"] for light in state()["lights"]), "light_1", "a"]:
    post(f"/traffic_lights/{quote(name)}", {"state": "green"})
