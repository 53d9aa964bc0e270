"""Tests that the soak test knows the same outcomes as the OpenAPI document."""

import importlib.util
import pathlib
import typing
import unittest

from .. import schemas

_WIRE = pathlib.Path(__file__).parents[2] / "python/src/chicane/wire/sim.py"


def _wire() -> typing.Any:
    spec = importlib.util.spec_from_file_location("wire_sim", _WIRE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Words(unittest.TestCase):
    def test_outcomes_are_those_of_the_document(self):
        self.assertEqual(set(schemas.OUTCOMES), set(typing.get_args(_wire().Outcome)))
