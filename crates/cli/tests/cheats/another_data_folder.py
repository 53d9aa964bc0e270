"""Lists folders that may be the simulator's data folder, and renames the folders above them."""

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
