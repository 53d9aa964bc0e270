"""Tests of the client of the world builder with a real simulator."""

import asyncio
import io
import json
import pickle
import struct
import typing
import unittest
import zipfile
import zlib
from typing import Any

import chicane
from chicane import AsyncBuilder, Builder, RevisionConflict
from chicane._operation import Operation
from chicane.builder import BuilderOperations
from chicane.errors import refusal
from chicane.wire import sim as wire

from .support import WithSimulator, differs, hints

SCRIPT = "def evaluate(sim):\n    sim.record(1)\n    sim.finish()\n"


def picture(width: int = 8, height: int = 8) -> bytes:
    """A grey PNG file."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x80" * width) * height)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


class Building(WithSimulator):
    def setUp(self) -> None:
        super().setUp()
        self.builder = Builder(self.program.url)
        self.addCleanup(self.builder.close)

    def test_responses_match_their_types(self) -> None:
        made = self.builder.create("world", world="oval")
        id, builder = made["id"], self.builder
        published = builder.publish(id, access="public", name="Oval of the class")
        builder.drive(id)
        session = self.sim.evaluate(time_limit_s=1)["session"]
        recorded = self.sim.run_file(session)
        answers: dict[str, Any] = {
            "list": builder.list(),
            "create": made,
            "read": builder.read(id),
            "save": builder.save(id, made["revision"], made["document"], editor="test"),
            "put_file": builder.put_file(id, "rules.py", SCRIPT.encode()),
            "delete_file": builder.delete_file(id, "rules.py"),
            "import_file": builder.import_file(builder.export(id)),
            "preview": builder.preview(made["document"], project=id),
            "scene": builder.scene(id),
            "drive": builder.drive(id),
            "templates": builder.templates(),
            "runs": builder.runs(id),
            "rejudge": builder.rejudge(id, session),
            "rejudge_file": builder.rejudge_file(id, recorded),
            "check_script": builder.check_script("def evaluate(sim):\n    ("),
            "publish": published,
            "published": builder.published(),
            "change_published": builder.change_published(published["world_id"], access="private"),
            "print_size": builder.print_size(id, dpi=10, paper="A3"),
            "delete": builder.delete(id),
            "restore": builder.restore(id),
        }
        for name, method in vars(BuilderOperations).items():
            if isinstance(method, Operation):
                (kind,) = typing.get_args(hints(method.build)["return"])
                if kind is not bytes:
                    self.assertEqual(differs(answers.pop(name), kind, name), [])
        self.assertEqual(answers, {})

    def test_files_of_a_project(self) -> None:
        id = self.builder.create("random", seed=7, options={"field": [6, 4], "width": 0.5})["id"]
        self.assertEqual(self.builder.thumbnail(id)[:2], b"\xff\xd8")
        self.assertEqual(self.builder.waypoints_file(id)[:6], b"\x93NUMPY")
        self.assertEqual(self.builder.print_file(id, dpi=10, format="jpg")[:2], b"\xff\xd8")
        sheets = self.builder.print_file(id, dpi=10, format="pdf", paper="A3")
        self.assertEqual(sheets[:5], b"%PDF-")
        stored = self.builder.put_file(id, "pictures/floor.png", picture(12, 9))
        self.assertEqual((stored["width"], stored["height"]), (12, 9))
        self.assertEqual(self.builder.file(id, "pictures/floor.png")[:4], b"\x89PNG")
        self.builder.delete_file(id, "pictures/floor.png")
        with self.assertRaises(chicane.NotFound):
            self.builder.file(id, "pictures/floor.png")

    def test_an_exported_project_gives_the_same_project(self) -> None:
        made = self.builder.create("world", world="technical")
        plain = self.builder.export(made["id"])
        self.assertEqual(json.loads(plain), made["document"])
        again = self.builder.import_file(plain)
        self.assertNotEqual(again["id"], made["id"])
        self.assertEqual(again["document"], made["document"])
        self.builder.put_file(made["id"], "rules.py", SCRIPT.encode())
        packed = self.builder.export(made["id"])
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            self.assertEqual(set(archive.namelist()), {"technical.json", "rules.py"})
            self.assertEqual(archive.read("rules.py").decode(), SCRIPT)
        self.assertEqual(self.builder.import_file(packed)["files"][0]["name"], "rules.py")
        copy = self.builder.create("project", project=made["id"])
        self.assertEqual(copy["files"][0]["name"], "rules.py")

    def test_a_lost_update_is_refused(self) -> None:
        made = self.builder.create("empty", name="yard")
        mine, theirs = dict(made["document"]), dict(made["document"])
        theirs["display_name"] = "Theirs"
        saved = self.builder.save(made["id"], made["revision"], theirs)
        mine["display_name"] = "Mine"
        with self.assertRaises(RevisionConflict) as caught:
            self.builder.save(made["id"], made["revision"], mine)
        self.assertEqual(caught.exception.revision, saved["revision"])
        self.assertEqual(caught.exception.document["display_name"], "Theirs")
        self.builder.save(made["id"], caught.exception.revision, mine)
        self.assertEqual(self.builder.read(made["id"])["document"]["display_name"], "Mine")

    def test_a_deleted_project_can_be_restored(self) -> None:
        id = self.builder.create("empty")["id"]
        self.builder.delete(id)
        self.assertIn(id, [one["id"] for one in self.builder.list()["deleted"]])
        with self.assertRaises(chicane.NotFound):
            self.builder.read(id)
        self.assertEqual(self.builder.restore(id)["id"], id)
        self.assertIn(id, [one["id"] for one in self.builder.list()["projects"]])

    def test_a_project_is_driven(self) -> None:
        made = self.builder.create("random", seed=3)
        self.builder.drive(made["id"])
        self.sim.wait_until_ready(timeout=30)
        width, height = made["document"]["field"]["size"]
        bounds = self.sim.bounds()
        sides = (bounds["maxX"] - bounds["minX"], bounds["maxY"] - bounds["minY"])
        self.assertAlmostEqual(sides[0], width, 1)
        self.assertAlmostEqual(sides[1], height, 1)

    def test_invalid_projects_are_refused(self) -> None:
        made = self.builder.create("empty")
        broken = {**made["document"], "field": {"size": [-1, 3]}}
        for ask, status in (
            (lambda: self.builder.create("document", document={"version": 1}), 422),
            (lambda: self.builder.save(made["id"], made["revision"], broken), 422),
            (lambda: self.builder.import_file(b"not a project"), 422),
            (lambda: self.builder.put_file(made["id"], "x.png", b"not a picture"), 415),
        ):
            with self.assertRaises(chicane.ApiError) as caught:
                ask()
            self.assertEqual(caught.exception.status, status)
        self.assertEqual(self.builder.read(made["id"])["revision"], made["revision"])
        found = self.builder.preview({**made["document"], "field": {"size": [2, 2]}})["findings"]
        self.assertIn("error", [one["severity"] for one in found])

    def test_events(self) -> None:
        made = self.builder.create("empty")
        with self.builder.events(made["id"]) as events:
            first = next(event for event in events if event.name == "revision")
            self.assertEqual(first.data["revision"], made["revision"])
            saved = self.builder.save(made["id"], made["revision"], made["document"], editor="me")
            seen = next(event for event in events if event.data.get("editor") == "me")
            self.assertEqual(seen.data["revision"], saved["revision"])

    def test_async_methods(self) -> None:
        async def use() -> None:
            async with AsyncBuilder(self.program.url) as builder:
                made = await builder.create("empty", name="later")
                self.assertEqual((await builder.read(made["id"]))["document"]["name"], "later")

        asyncio.run(use())


class Conflicts(unittest.TestCase):
    def test_a_conflict_survives_pickling(self) -> None:
        body = b'{"error": "e", "code": "revision_conflict", "revision": 4, "document": {"a": 1}}'
        error = pickle.loads(pickle.dumps(refusal(409, body, "PUT /x")))
        self.assertIsInstance(error, RevisionConflict)
        self.assertEqual((error.revision, error.document, error.status), (4, {"a": 1}, 409))

    def test_a_conflict_without_a_document_is_an_ordinary_one(self) -> None:
        error = refusal(409, b'{"error": "e", "code": "revision_conflict"}', "PUT /x")
        self.assertIs(type(error), chicane.Conflict)
        self.assertTrue(typing.get_type_hints(wire.ConflictBody))
