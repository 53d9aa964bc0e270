"""Documents of the world builder, and random changes of them. All functions are pure."""

import copy
import random
from typing import Any

from .scenarios import oval

#: Largest number of objects in a document. At this number, a change may remove an object, but
#: never adds one.
MOST_OBJECTS = 10
GOOD_SCRIPT = "def initialize(sim):\n    pass\n\n\ndef evaluate(sim):\n    sim.record(1)\n"
#: Scripts that cannot judge: a syntax error, and a missing function.
BAD_SCRIPTS = ("def evaluate(sim:\n    pass\n", "def initialize(sim):\n    pass\n")


def document(name: str) -> dict[str, Any]:
    """A new document: an oval with a light, a box and a cone, judged by the built-in script."""
    return oval(name) | {
        "display_name": name,
        "objects": [
            {"kind": "light", "name": "signal1", "x": 7.6, "y": 3.6, "yaw": -1.5708},
            {"kind": "box", "name": "box1", "x": 0.6, "y": 0.6},
            {"kind": "cone", "name": "cone1", "x": 4, "y": 3},
        ],
        "evaluation": {"config": {"time_limit_s": 20}, "script": {"template": "lap_time"}},
    }


def changed(old: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """A copy of a document with one random change.

    `old` is a document as the simulator returned it, with all fields. Therefore the simulator adds
    no field to the changed document, and has to return the same document.
    """
    new = copy.deepcopy(old)
    objects, nodes = new["objects"], new["track"]["nodes"]
    kinds = [_rename, _shift_node] if nodes else [_rename]
    if objects:
        kinds += [_move, _move, _remove if len(objects) >= MOST_OBJECTS else _duplicate]
    chance.choice(kinds)(new, chance)
    return new


def broken(old: dict[str, Any]) -> dict[str, Any]:
    """A copy of a document that is not a project, because its track has two nodes."""
    new = copy.deepcopy(old)
    new["track"]["nodes"] = new["track"]["nodes"][:2]
    return new


def _rename(new: dict[str, Any], chance: random.Random) -> None:
    new["display_name"] = f"Drawn {chance.randrange(10_000)}"


def _shift_node(new: dict[str, Any], chance: random.Random) -> None:
    node = chance.choice(new["track"]["nodes"])
    for key in ("x", "y"):
        node[key] = round(node[key] + chance.uniform(-0.02, 0.02), 4)


def _move(new: dict[str, Any], chance: random.Random) -> None:
    moved = chance.choice(new["objects"])
    moved["x"], moved["y"] = round(chance.uniform(0.5, 7.5), 3), round(chance.uniform(0.5, 5.5), 3)


def _duplicate(new: dict[str, Any], chance: random.Random) -> None:
    twin = copy.deepcopy(chance.choice(new["objects"]))
    names = {one["name"] for one in new["objects"]}
    twin["name"] = next(name for number in range(100) if (name := f"twin{number}") not in names)
    twin["x"], twin["y"] = round(chance.uniform(0.5, 7.5), 3), round(chance.uniform(0.5, 5.5), 3)
    new["objects"].append(twin)


def _remove(new: dict[str, Any], chance: random.Random) -> None:
    del new["objects"][chance.randrange(len(new["objects"]))]
