"""Helpers of the package's tests: a running simulator, and a check of values against types."""

import importlib
import os
import types
import typing
import unittest
from pathlib import Path
from typing import Any

from chicane import Program, Robot, Sim

ROOT = Path(__file__).parent.parent.parent
PROGRAM = os.environ.get("CHICANE") or str(ROOT / "target/release/chicane")
os.environ["CHICANE"] = PROGRAM


class WithSimulator(unittest.TestCase):
    """Base class of tests that share one simulator. The simulator is reset before each test."""

    world = "oval"

    @classmethod
    def setUpClass(cls) -> None:
        cls.program = Program(cls.world, program=PROGRAM)
        cls.addClassCleanup(cls.program.close)

    def setUp(self) -> None:
        self.sim = Sim(self.program.url)
        self.robot = Robot(self.program.url)
        self.addCleanup(self.sim.close)
        self.addCleanup(self.robot.close)
        self.sim.set_clock(paused=True, speed=1)
        self.sim.reset()
        self.sim.respawn()


def differs(value: Any, kind: Any, where: str = "answer") -> list[str]:
    """The differences between a value and a type: missing or unknown keys, wrong values."""
    if kind is Any:
        return []
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if typing.is_typeddict(kind):
        return _differs_from_dict(value, kind, where)
    if origin in (typing.Union, types.UnionType):
        tried = [differs(value, one, where) for one in arguments]
        return [] if [] in tried else tried[0]
    if origin is typing.Literal:
        return [] if value in arguments else [f"{where} is {value!r}"]
    if origin is list:
        if not isinstance(value, list):
            return [f"{where} is {value!r}"]
        inside = [differs(one, arguments[0], f"{where}[{i}]") for i, one in enumerate(value)]
        return [one for ones in inside for one in ones]
    if origin is dict:
        if not isinstance(value, dict):
            return [f"{where} is {value!r}"]
        inside = [differs(one, arguments[1], f"{where}.{name}") for name, one in value.items()]
        return [one for ones in inside for one in ones]
    if kind is type(None) or kind is None:
        return [] if value is None else [f"{where} is {value!r}"]
    if kind is float:
        good = isinstance(value, (int, float)) and not isinstance(value, bool)
    elif kind is int:
        good = isinstance(value, int) and not isinstance(value, bool)
    else:
        good = isinstance(value, kind)
    return [] if good else [f"{where} is {value!r}, not {kind}"]


def _differs_from_dict(value: Any, kind: Any, where: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{where} is {value!r}"]
    hints = typing.get_type_hints(kind)
    out = [f"{where}.{name} is missing" for name in kind.__required_keys__ - value.keys()]
    out += [f"{where}.{name} has no type" for name in value.keys() - hints.keys()]
    for name in value.keys() & hints.keys():
        out += differs(value[name], hints[name], f"{where}.{name}")
    return out


def hints(build: Any) -> dict[str, Any]:
    """The type hints of a client's method. The modules of the clients import `chicane.wire` for
    type checkers only, so its name is added here."""
    of_robot = build.__module__ == "chicane.robot"
    name = "chicane.wire.robot" if of_robot else "chicane.wire.sim"
    return typing.get_type_hints(build, localns={"wire": importlib.import_module(name)})
