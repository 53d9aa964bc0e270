"""Switches every traffic light to green."""

from cheat import post, state

for name in [*state().get("lights", {}), "light_1", "a"]:
    post(f"/traffic_lights/{name}", {"state": "green"})
