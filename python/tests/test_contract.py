"""Checks that the clients match the program's OpenAPI documents: operations, parameters, types."""

import importlib.util
import inspect
import json
import subprocess
import tomllib
import typing
import unittest
from typing import Any

import chicane
from chicane._operation import Operation, Streamed
from chicane.builder import BuilderOperations
from chicane.robot import RobotOperations
from chicane.sim import SimOperations

from .support import PROGRAM, ROOT, hints

TYPES = {"number": float, "integer": int, "string": str, "boolean": bool}
# Arguments that a method accepts as bytes or as a list, and sends as a string.
CONVERTED = {
    ("play", "data"),
    ("measure_sound", "data"),
    ("states", "include"),
    ("states_stream", "include"),
    ("print_file", "area"),
}
CONSTANT = {"/info", "/health"}
# Parameters for which a method has another name, because the original name is a keyword of Python.
RENAMED = {("create", "from"): "source"}
# The argument of each method whose body is not JSON.
RAW_BODIES = {
    "hand_in": "program",
    "put_file": "data",
    "import_file": "data",
    "rejudge_file": "data",
}
BUILDER = "/sim/api/builder/"
# The files of a scene, whose URLs `scene` returns.
SCENE_FILES = BUILDER + "projects/{id}/scene/"


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
    name: str, of: dict[str, Any], operation: dict[str, Any]
) -> dict[str, tuple[dict[str, Any], bool]]:
    """Schema of each parameter and body field, and whether it is required."""
    found = {
        one["name"]: (one["schema"], one.get("required", False))
        for one in operation.get("parameters", [])
        if one["in"] != "header" and one["name"] != "stream"
    }
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    kind = body.get("schema", {}).get("$ref", "").rsplit("/", 1)[-1]
    schema = of["components"]["schemas"].get(kind, {})
    if name in RAW_BODIES:
        found[RAW_BODIES[name]] = ({}, True)
    for field, what in schema.get("properties", {}).items():
        found[RENAMED.get((name, field), field)] = (what, field in schema.get("required", []))
    return found


class Contract(unittest.TestCase):
    def each(self) -> Any:
        """Each class of methods, with the part of the documents that it has to match."""
        sim, robot = document(), document("--robot")
        building = {path for path in sim["paths"] if path.startswith(BUILDER)}
        for clients, of, paths in (
            (SimOperations, sim, sim["paths"].keys() - building),
            (BuilderOperations, sim, {p for p in building if not p.startswith(SCENE_FILES)}),
            (RobotOperations, robot, robot["paths"].keys()),
        ):
            yield clients, {**of, "paths": {path: of["paths"][path] for path in paths}}

    def test_clients_have_exactly_the_documented_operations(self) -> None:
        for clients, of in self.each():
            has = {(one.method, one.path) for one in methods(clients).values()}
            self.assertEqual(has, set(described(of)))

    def test_methods_have_exactly_the_documented_parameters(self) -> None:
        for clients, of in self.each():
            for name, method in methods(clients).items():
                wanted = parameters(name, of, described(of)[method.method, method.path])
                takes = dict(inspect.signature(method.build).parameters)
                takes.pop("self")
                if name == "stop":  # `stop` sends zeros to `/drive`, so it has no arguments
                    self.assertEqual(list(takes), [])
                    continue
                self.assertEqual(set(takes), set(wanted), name)
                types = hints(method.build)
                for field, (schema, required) in wanted.items():
                    if (name, field) in CONVERTED:
                        continue
                    is_required = takes[field].default is inspect.Parameter.empty
                    self.assertTrue(
                        is_required or not required, f"{name}({field}) must be required"
                    )
                    kinds = schema.get("type")
                    kind = kinds[0] if isinstance(kinds, list) else kinds
                    if kind in TYPES:
                        allowed = (types[field], *typing.get_args(types[field]))
                        self.assertIn(TYPES[kind], allowed, f"{name}({field})")

    def test_return_types_match_the_documents(self) -> None:
        for clients, of in self.each():
            for name, method in methods(clients).items():
                responses = described(of)[method.method, method.path]["responses"]
                content = next(responses[code] for code in sorted(responses) if code[0] == "2")
                content = content["content"]
                (answer,) = typing.get_args(hints(method.build)["return"])
                if answer is chicane.Event:
                    self.assertIn("text/event-stream", content, name)
                elif answer is chicane.Observation:
                    self.assertIn("application/octet-stream", content, name)
                elif answer is bytes:
                    # Without a parameter, `/evaluation/run` returns JSON to older clients. The
                    # exported file of a project without pictures and scripts is JSON too.
                    both = name in ("run_file", "export")
                    others = set(content) - {"application/json"} if both else content
                    self.assertTrue(others, name)
                    self.assertNotIn("application/json", others, name)
                else:
                    schema = content["application/json"]["schema"]
                    wanted = schema.get("$ref", "").rsplit("/", 1)[-1]
                    if not wanted:
                        self.assertIs(answer, TYPES[schema["type"]], name)
                        continue
                    self.assertEqual(answer.__name__, wanted, name)
                    self.assertTrue(answer.__module__.startswith("chicane.wire."), name)

    def test_every_streamable_path_has_a_stream_method(self) -> None:
        _, of = list(self.each())[-1]
        wanted = {
            path
            for (_, path), operation in described(of).items()
            if any(one["name"] == "stream" for one in operation.get("parameters", []))
        }
        streams = {m.path for m in methods(RobotOperations).values() if isinstance(m, Streamed)}
        self.assertEqual(wanted - streams, CONSTANT)

    def test_generated_types_are_up_to_date(self) -> None:
        spec = importlib.util.spec_from_file_location("wire", ROOT / "python/scripts/wire.py")
        assert spec and spec.loader
        wire = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(wire)
        for name, words in wire.DOCUMENTS.items():
            made = wire.module(document(*words[1:]))
            self.assertEqual((wire.FOLDER / f"{name}.py").read_text(), made, "run `make wire`")

    def test_every_method_has_a_docstring(self) -> None:
        for clients, _ in self.each():
            for name, method in methods(clients).items():
                self.assertTrue(method.__doc__, name)

    def test_package_and_program_have_the_same_version(self) -> None:
        printed = subprocess.run(
            [PROGRAM, "--version"], check=True, stdout=subprocess.PIPE, timeout=60
        )
        self.assertEqual(printed.stdout.decode().split()[-1], chicane.__version__)
        for project in ("python", "packaging/wheel"):
            described = tomllib.loads((ROOT / project / "pyproject.toml").read_text())
            self.assertEqual(described["project"]["version"], chicane.__version__)
