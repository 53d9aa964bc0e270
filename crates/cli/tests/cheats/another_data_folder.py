"""Plants a data folder where a simulator may look for one, and renames the folders above."""

import os

from cheat import attempt

places = [
    os.environ.get("CHEAT_DATA", "/var/lib/chicane"),
    "/var/lib/chicane",
    "/root/.local/share",
]
for place in places:
    attempt(f"read {place}", lambda place=place: os.listdir(place))
    parent = os.path.dirname(place)
    attempt(f"rename {parent}", lambda parent=parent: os.rename(parent, parent + ".old") or True)
