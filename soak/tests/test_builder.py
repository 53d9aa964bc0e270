"""Tests of the rules of the world builder, and of the documents that builders draw."""

import random
import unittest

from soak import drawing, projection
from soak.builders import KnownProjects

from .fake import API, broken, call, checked, get, post

PROJECT = "0123456789abcdef"
PATH = f"/builder/projects/{PROJECT}"


def made(at, document="a", revision=1, project=PROJECT):
    answer = {"id": project, "revision": revision, "document": document}
    return post(at, "/builder/projects", {"from": "empty"}, answer, 201)


def save(at, base, document, revision, findings=0, **more):
    body = {"revision": base, "document": document}
    answer = {"revision": revision, "errors": findings, "warnings": 0}
    return call(at, at + 0.01, "PUT", API + PATH, body, 200, answer, **more)


def conflict(at, base, document, revision):
    body = {"revision": base, "document": "mine"}
    answer = {"error": "the project was changed meanwhile: it has", "code": "revision_conflict"}
    answer |= {"revision": revision, "document": document}
    return call(at, at + 0.01, "PUT", API + PATH, body, 409, answer)


def read(at, document, revision):
    return get(at, PATH, {"id": PROJECT, "revision": revision, "document": document})


def missing(at, path=PATH, method="GET"):
    answer = {"error": "there is no project with this id", "code": "no_such_project"}
    return call(at, at + 0.01, method, API + path, None, 404, answer)


def deleted(at, project=PROJECT):
    path = f"{API}/builder/projects/{project}"
    return call(at, at + 0.01, "DELETE", path, None, 200, {"deleted": project})


def restored(at, document, revision):
    answer = {"id": PROJECT, "revision": revision, "document": document}
    return post(at, PATH + "/restore", {}, answer)


def listed(at, *projects):
    return get(at, "/builder/projects", {"projects": list(projects), "deleted": []})


def event(at, name, since=0.0, **data):
    line = {"k": "project_event", "who": "builder0", "t": at, "stream": "builder0.1"}
    return line | {"since": since, "project": PROJECT, "event": name, "data": data}


class Documents(unittest.TestCase):
    def test_stored_document_is_read_exactly(self):
        lines = [made(1), save(2, 1, "b", 2), read(3, "b", 2), conflict(4, 1, "b", 2)]
        self.assertEqual(broken(lines), [])
        self.assertEqual(broken([*lines, read(5, "x", 2)]), ["builder-stored"])
        self.assertEqual(broken([*lines, conflict(5, 1, "x", 2)]), ["builder-stored"])
        self.assertEqual(broken([*lines, read(5, "x", 3)]), ["builder-stored"])
        self.assertEqual(broken([made(1), read(2, "x", 1)]), ["builder-stored"])

    def test_a_save_without_an_answer_may_be_stored(self):
        left = {"k": "left", "who": "builder0", "t0": 2.0, "t1": 2.1, "method": "PUT"}
        left |= {"path": API + PATH, "body": {"revision": 1, "document": "b"}}
        self.assertEqual(broken([made(1), left, read(3, "b", 2)]), [])
        self.assertEqual(broken([made(1), left, read(3, "a", 1)]), [])
        self.assertEqual(broken([made(1), left, read(3, "x", 2)]), ["builder-stored"])

    def test_acknowledged_save_is_lost(self):
        lines = [made(1), save(2, 1, "b", 2), read(3, "a", 1)]
        self.assertEqual(broken(lines), ["builder-lost"])
        self.assertEqual(broken([made(1), save(2, 1, "b", 2), read(2.005, "a", 1)]), [])

    def test_conflict_overwrites(self):
        lines = [made(1), save(2, 1, "b", 2), save(3, 1, "c", 3)]
        self.assertEqual(broken(lines), ["builder-conflict"])
        self.assertEqual(broken([made(1), conflict(2, 1, "a", 1)]), ["builder-conflict"])

    def test_deleted_project_can_be_read(self):
        lines = [made(1), deleted(2), missing(3), restored(4, "a", 1), read(5, "a", 1)]
        self.assertEqual(broken([*lines, listed(6, PROJECT)]), [])
        self.assertEqual(broken([*lines, listed(6)]), ["builder-exists"])
        self.assertEqual(broken([*lines, missing(6)]), ["builder-exists"])
        self.assertEqual(broken([made(1), deleted(2), read(3, "a", 1)]), ["builder-exists"])
        self.assertEqual(broken([made(1), deleted(2), listed(3, PROJECT)]), ["builder-exists"])

    def test_deleted_project_is_not_restored(self):
        refused = missing(9, PATH + "/restore", "POST")
        self.assertEqual(broken([made(1), deleted(2), refused]), ["builder-restored"])
        later = [deleted(3 + 0.1 * number, f"{number:016x}") for number in range(20)]
        self.assertEqual(broken([made(1), deleted(2), *later, refused]), [])
        self.assertEqual(broken([made(1), deleted(2), *later[:19], refused]), ["builder-restored"])
        self.assertEqual(broken([made(1), refused]), [], "another builder may have restored it")

    def test_previews_differ(self):
        def preview(at, digest, errors=0):
            answer = {"digest": digest, "errors": errors, "warnings": 0}
            return post(at, "/builder/preview", {"document": "b"}, answer)

        self.assertEqual(broken([preview(1, "p"), preview(2, "p")]), [])
        self.assertEqual(broken([preview(1, "p"), preview(2, "q")]), ["builder-preview"])
        lines = [made(1), preview(2, "p", 1), save(3, 1, "b", 2, findings=1)]
        self.assertEqual(broken(lines), [])
        lines = [made(1), preview(2, "p", 1), save(3, 1, "b", 2)]
        self.assertEqual(broken(lines), ["builder-preview"])

    def test_check_of_a_script(self):
        def script(judges, **answer):
            return post(1, "/builder/script/check", {"script": "x"}, answer, judges=judges)

        self.assertEqual(broken([script(True, ok=True, errors=[])]), [])
        wrong = [{"line": 1, "text": "invalid syntax"}]
        self.assertEqual(broken([script(False, ok=False, errors=wrong)]), [])
        self.assertEqual(broken([script(True, ok=False, errors=wrong)]), ["builder-script"])
        self.assertEqual(broken([script(False, ok=True, errors=[])]), ["builder-script"])

    def test_published_worlds(self):
        def publish(at, revision):
            answer = {"world_id": "a" * 32, "link": "x", "revision": revision}
            return post(at, PATH + "/publish", {"name": "x"}, answer)

        def published(at, *worlds):
            return get(at, "/builder/published", {"worlds": list(worlds)})

        lines = [made(1), save(2, 1, "b", 2), publish(3, 2)]
        self.assertEqual(broken([*lines, published(4, "a" * 32)]), [])
        self.assertEqual(broken([*lines, published(4)]), ["builder-published"])
        self.assertEqual(broken([*lines[:2], publish(3, 1)]), ["builder-published"])

    def test_events_of_a_project(self):
        first = event(3, "revision", revision=2, editor=None)
        lines = [made(1), save(2, 1, "b", 2), first]
        later = event(4, "revision", revision=3, editor=None)
        self.assertEqual(broken([*lines, event(3.5, "editors", count=1), later]), [])
        again = event(4, "revision", revision=2, editor=None)
        self.assertEqual(broken([*lines, again]), ["builder-stream"])
        self.assertEqual(broken([event(3, "editors", count=1)]), ["builder-stream"])
        old = event(3, "revision", since=2.5, revision=1, editor=None)
        self.assertEqual(broken([*lines[:2], old]), ["builder-stream"])

    def test_a_test_drive_switches_the_world(self):
        drive = post(1, PATH + "/drive", {}, {"ok": True, "world": "drawn.world"})
        world = {"world": "oval"}
        self.assertEqual(broken([drive, get(2, "/route", world)]), ["world-current"])
        self.assertIn("world-current", checked([drive, get(2, "/route", {"world": "drawn"})]))


class Drawing(unittest.TestCase):
    def test_changes_depend_on_the_seed_and_keep_the_old_document(self):
        old = drawing.document("drawn")
        before = projection.digest(old)
        news = [drawing.changed(old, random.Random(seed)) for seed in range(50)]
        again = [drawing.changed(old, random.Random(seed)) for seed in range(50)]
        self.assertEqual(news, again)
        self.assertEqual(projection.digest(old), before)
        self.assertGreater(len({projection.digest(new) for new in news}), 40)

    def test_the_number_of_objects_is_bounded_and_names_are_unique(self):
        chance, document = random.Random(1), drawing.document("drawn")
        for _ in range(300):
            document = drawing.changed(document, chance)
            names = [one["name"] for one in document["objects"]]
            self.assertEqual(len(names), len(set(names)))
            self.assertLessEqual(len(names), drawing.MOST_OBJECTS)

    def test_a_document_without_track_and_objects(self):
        document = drawing.document("drawn") | {"objects": []}
        document["track"]["nodes"] = []
        drawing.changed(document, random.Random(1))

    def test_scripts_compile_or_not(self):
        compile(drawing.GOOD_SCRIPT, "good", "exec")
        with self.assertRaises(SyntaxError):
            compile(drawing.BAD_SCRIPTS[0], "bad", "exec")


class Digests(unittest.TestCase):
    def test_numbers_and_order_of_keys(self):
        self.assertEqual(projection.digest({"a": 1, "b": 2}), projection.digest({"b": 2.0, "a": 1}))
        self.assertNotEqual(projection.digest({"a": 1}), projection.digest({"a": True}))
        self.assertNotEqual(projection.digest([1, 2]), projection.digest([2, 1]))

    def test_the_history_keeps_hashes_of_documents(self):
        document = drawing.document("drawn")
        path = API + PATH
        kept = projection.body(path, {"revision": 1, "document": document})
        self.assertEqual(kept, {"revision": 1, "document": projection.digest(document)})
        answer = {"id": PROJECT, "revision": 1, "document": document}
        self.assertEqual(projection.answer(path, answer)["document"], projection.digest(document))
        finding = {"rule": "r", "severity": "warning", "text": "t"}
        preview = {"road": None, "objects": [], "findings": [finding]}
        kept = projection.answer(API + "/builder/preview", preview)
        self.assertEqual((kept["errors"], kept["warnings"]), (0, 1))
        self.assertEqual(projection.body(API + "/pose", {"document": 1}), {"document": 1})
        error = {"error": "there is no project with this id", "code": "no_such_project"}
        self.assertEqual(projection.answer(path + "/export", error), error)


class Known(unittest.TestCase):
    def test_deleted_and_restored_projects(self):
        projects = KnownProjects()
        for project in ("a", "b"):
            projects.add(project)
        projects.remove("a")
        projects.remove("a")
        self.assertEqual(
            (projects.live(), projects.deleted(), projects.all()), (["b"], ["a"], ["a", "b"])
        )
        projects.add("a")
        self.assertEqual((projects.live(), projects.deleted()), (["a", "b"], []))
