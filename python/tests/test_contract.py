"""The clients and the program's own documents say the same: operations, parameters, types of
answers.
"""

import importlib.util
import inspect
import json
import subprocess
import sys
import typing
import unittest
from pathlib import Path
from typing import Any

import chicane
from chicane._operation import Operation, Streamed
from chicane.robot import RobotOperations
from chicane.sim import SimOperations

from .support import PROGRAM, ROOT

TYPES = {"number": float, "integer": int, "string": str, "boolean": bool}
# What a method takes as bytes or as a list, and sends as a word.
SENT_OTHERWISE = {("play", "data"), ("states", "include"), ("states_stream", "include")}
CONSTANT = {"/info", "/health"}


def document(*words: str) -> dict[str, Any]:
    output = subprocess.run(
        [PROGRAM, "openapi", *words], check=True, stdout=subprocess.PIPE, timeout=60
    )
    return json.loads(output.stdout)


def described(of: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (method.upper(), path): operation
        for path, methods in of["paths"].items()
        for method, operation in methods.items()
    }


def methods(of: type) -> dict[str, Any]:
    return {n: m for n, m in vars(of).items() if isinstance(m, (Operation, Streamed))}


def parameters(
    of: dict[str, Any], operation: dict[str, Any]
) -> dict[str, tuple[dict[str, Any], bool]]:
    """Schema of each parameter and field, and whether it must be given."""
    found = {
        one["name"]: (one["schema"], one.get("required", False))
        for one in operation.get("parameters", [])
        if one["in"] != "header" and one["name"] != "stream"
    }
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = body.get("schema", {}).get("$ref", "").rsplit("/", 1)[-1]
    schema = of["components"]["schemas"].get(name, {})
    for field, what in schema.get("properties", {}).items():
        found[field] = (what, field in schema.get("required", []))
    return found


class Contract(unittest.TestCase):
    def each(self) -> Any:
        for clients, words in ((SimOperations, ()), (RobotOperations, ("--robot",))):
            yield clients, document(*words)

    def test_every_operation_is_there_and_no_other(self) -> None:
        for clients, of in self.each():
            has = {(one.method, one.path) for one in methods(clients).values()}
            self.assertEqual(has, set(described(of)))

    def test_every_parameter_can_be_given(self) -> None:
        for clients, of in self.each():
            for name, method in methods(clients).items():
                wanted = parameters(of, described(of)[method.method, method.path])
                takes = dict(inspect.signature(method.build).parameters)
                takes.pop("self")
                if name == "stop":  # drives with zeros
                    self.assertEqual(list(takes), [])
                    continue
                self.assertEqual(set(takes), set(wanted), name)
                hints = typing.get_type_hints(method.build)
                for field, (schema, required) in wanted.items():
                    if (name, field) in SENT_OTHERWISE:
                        continue
                    is_required = takes[field].default is inspect.Parameter.empty
                    self.assertTrue(is_required or not required, f"{name}({field}) must be given")
                    kinds = schema.get("type")
                    kind = kinds[0] if isinstance(kinds, list) else kinds
                    if kind in TYPES:
                        allowed = (hints[field], *typing.get_args(hints[field]))
                        self.assertIn(TYPES[kind], allowed, f"{name}({field})")

    def test_every_answer_has_the_type_of_the_document(self) -> None:
        for clients, of in self.each():
            for name, method in methods(clients).items():
                content = described(of)[method.method, method.path]["responses"]["200"]["content"]
                (answer,) = typing.get_args(typing.get_type_hints(method.build)["return"])
                if answer is chicane.Event:
                    self.assertIn("text/event-stream", content, name)
                elif answer is chicane.Observation:
                    self.assertIn("application/octet-stream", content, name)
                elif answer is bytes:
                    self.assertNotIn("application/json", content, name)
                else:
                    schema = content["application/json"]["schema"]
                    wanted = schema.get("$ref", "").rsplit("/", 1)[-1]
                    if not wanted:
                        self.assertIs(answer, TYPES[schema["type"]], name)
                        continue
                    self.assertEqual(answer.__name__, wanted, name)
                    self.assertTrue(answer.__module__.startswith("chicane.wire."), name)

    def test_what_can_be_followed_has_a_stream(self) -> None:
        _, of = list(self.each())[1]
        wanted = {
            path
            for (_, path), operation in described(of).items()
            if any(one["name"] == "stream" for one in operation.get("parameters", []))
        }
        streams = {m.path for m in methods(RobotOperations).values() if isinstance(m, Streamed)}
        self.assertEqual(wanted - streams, CONSTANT)

    def test_the_types_are_made_from_the_documents(self) -> None:
        spec = importlib.util.spec_from_file_location("wire", ROOT / "python/scripts/wire.py")
        assert spec and spec.loader
        wire = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(wire)
        for name, words in wire.DOCUMENTS.items():
            made = wire.module(document(*words[1:]))
            self.assertEqual((wire.FOLDER / f"{name}.py").read_text(), made, "run `make wire`")

    def test_every_method_says_what_it_does(self) -> None:
        for clients, _ in self.each():
            for name, method in methods(clients).items():
                self.assertTrue(method.__doc__, name)

    def test_the_versions_agree(self) -> None:
        said = subprocess.run(
            [PROGRAM, "--version"], check=True, stdout=subprocess.PIPE, timeout=60
        )
        self.assertEqual(said.stdout.decode().split()[-1], chicane.__version__)
        sys.path.insert(0, str(Path(ROOT / "python")))
        self.addCleanup(sys.path.remove, str(Path(ROOT / "python")))
        import backend

        self.assertEqual(backend.project()["version"], chicane.__version__)
