"""Tests of recorded runs and gradings: rules, tracks, falsified files, submissions."""

import json
import pathlib
import random
import struct
import tempfile
import unittest

from soak import grader, replayer, report, rules, tracks
from soak.history import numbered
from soak.rules.grading import EXPECTED

from .fake import ID, broken, changed, get, session

FILE = f"/evaluation/run?session={ID}"


def fetched(at, sha256, status=200, path=FILE):
    error = {"error": "this run has no journal: it is not over yet", "code": "no_journal"}
    return get(at, path, error if status != 200 else {"bytes": 1}, status, sha256=sha256)


def verified(**more):
    line = {"k": "verify", "t0": 30.0, "t1": 31.0, "session": ID, "exit_code": 1}
    line |= {"run": "verified", "false": "damaged", "same_tracks": True, "output": ""}
    return line | more


def tracked(**more):
    return {"k": "tracks", "t": 30.0, "session": ID, "wrong": None, "duration": 5.0} | more


class Replays(unittest.TestCase):
    def test_a_run_has_other_bytes_the_next_time(self):
        self.assertEqual(broken([*session(), fetched(30, "a"), fetched(31, "a")]), [])
        self.assertEqual(broken([fetched(30, "a"), fetched(31, "b")]), ["replay-same"])
        picture = f"/evaluation/replay/camera?session={ID}&time=1"
        lines = [fetched(30, "a", path=picture), fetched(31, "b", path=picture + ".5")]
        self.assertEqual(broken(lines), [])

    def test_a_session_that_is_over_has_no_run(self):
        self.assertEqual(broken([*session(), fetched(30, "a", 409)]), ["replay-there"])
        self.assertEqual(broken([*session(), fetched(15, "a", 409)]), [])
        lines = [line for line in session() if line.get("data", {}).get("phase") != "running"]
        self.assertEqual(broken([*lines, fetched(30, "a", 409)]), [], "it did not begin")

    def test_tracks(self):
        self.assertEqual(broken([*session(), tracked()]), [])
        self.assertEqual(broken([tracked(wrong="the times do not increase")]), ["replay-tracks"])
        self.assertEqual(broken([*session(), tracked(duration=4.0)]), ["replay-tracks"])

    def test_verification(self):
        self.assertEqual(broken([verified()]), [])
        self.assertEqual(broken([verified(run="different")]), ["replay-verified"])
        self.assertEqual(broken([verified(run="missing")]), ["replay-verified"])
        self.assertEqual(broken([verified(same_tracks=False)]), ["replay-verified"])
        self.assertEqual(broken([verified(false="verified")]), ["replay-falsified"])
        self.assertEqual(broken([verified(exit_code=0)]), ["replay-falsified"])

    def test_one_bit_is_falsified(self):
        content = bytes(range(100))
        for seed in range(20):
            false = replayer.falsified(content, random.Random(seed))
            bits = sum((a ^ b).bit_count() for a, b in zip(content, false, strict=True))
            self.assertEqual(bits, 1)

    def test_output_of_verify(self):
        output = (
            "verified    /x/run.chicane: 5 s, 251 observations\ndamaged  /x/false.chicane: no\n"
        )
        self.assertEqual(replayer.judged(output, pathlib.Path("/x/run.chicane")), "verified")
        self.assertEqual(replayer.judged(output, pathlib.Path("/x/false.chicane")), "damaged")
        self.assertEqual(replayer.judged(output, pathlib.Path("/x/other.chicane")), "missing")


def made(times, duration, kind="f64", **more):
    column = {"name": "time", "type": kind, "offset": 0, "count": len(times)}
    header = {"duration": duration, "samples": len(times), "columns": [column]} | more
    text = json.dumps(header).encode()
    return (
        b"CHTRACK1" + struct.pack("<I", len(text)) + text + struct.pack(f"<{len(times)}d", *times)
    )


class Tracks(unittest.TestCase):
    def test_good_tracks(self):
        self.assertEqual(tracks.read(made([0.0, 0.02, 0.04], 0.04))["samples"], 3)
        self.assertEqual(tracks.read(made([], 0.0))["samples"], 0)

    def test_wrong_tracks(self):
        good = made([0.0, 0.02, 0.04], 0.04)
        wrong = [b"", b"CHTRACK2" + good[8:], good[:-1], good[:30], made([0.0, 0.0], 1.0)]
        wrong += [made([0.0, 2.0], 1.0), made([0.0], 1.0, kind="f16"), made([0.0], 1.0, samples=2)]
        for content in wrong:
            with self.assertRaises(tracks.TracksError):
                tracks.read(content)


def graded(number=0, **more):
    students = {
        name: {"grade": 100 if verdict == "finished" else 0, "verdicts": [verdict] * 2}
        | {"refused": [refused] * 2}
        for name, (verdict, refused) in EXPECTED.items()
    }
    line = {"k": "grading", "t0": 1.0, "t1": 2.0, "round": number, "killed": number > 0}
    line |= {"units": 8, "verified": 8, "verify_exit_code": 0, "before": 3, "kept": True}
    line |= {"left": 0, "exit_code": 0, "output": "", "not_judged": 0, "sha256": "a"}
    return line | {"students": students} | more


class Report(unittest.TestCase):
    def test_figures_of_replays_and_gradings(self):
        lines = numbered([verified(), verified(run="different"), graded(0), graded(1)])
        made = report.summary(lines, {}, rules.check(lines))
        expected = {"runs": 1, "pictures": 0, "verified": 1, "falsified": 2, "falsified found": 2}
        self.assertEqual(made["replays"], expected)
        expected = {"gradings": 2, "killed": 1, "results kept": 6, "runs verified": 16}
        self.assertEqual(made["gradings"], expected | {"different grades": 1})


class Gradings(unittest.TestCase):
    def test_rules(self):
        good = [graded(0), graded(1)]
        self.assertEqual(broken(good), [])
        for rule, more in (
            ("grading-done", {"exit_code": 1}),
            ("grading-done", {"not_judged": 1}),
            ("grading-same", {"sha256": "b"}),
            ("grading-kept", {"kept": False}),
            ("grading-verified", {"verified": 7}),
            ("grading-verified", {"verify_exit_code": 1}),
            ("grading-left", {"left": 1}),
        ):
            self.assertEqual(broken(changed(good, good[1], **more)), [rule])
        for student, more in (
            ("good", {"verdicts": ["finished", "failed"]}),
            ("crash", {"grade": 50}),
            ("cheat", {"refused": [3, 0]}),
        ):
            students = good[0]["students"]
            students = students | {student: students[student] | more}
            self.assertEqual(broken([graded(0, students=students)]), ["grading-fair"])

    def test_a_class(self):
        with tempfile.TemporaryDirectory() as folder:
            students = grader.make_class(pathlib.Path(folder), short=False)
            self.assertEqual(set(students), set(EXPECTED))
            for name in students:
                program = pathlib.Path(folder, name, "main.py").read_text()
                compile(program, name, "exec")
        self.assertLess(set(grader.SHORT), set(EXPECTED))

    def test_summary_of_grades(self):
        run = {"verdict": "failed", "refused": 3, "seed": 1}
        student = {"key": "cheat", "grade": 0.0, "worlds": [{"seeds": [run, run]}]}
        expected = {"grade": 0.0, "verdicts": ["failed"] * 2, "refused": [3, 3]}
        self.assertEqual(grader.summary({"students": [student]}), {"cheat": expected})

    def test_finished_units_and_processes(self):
        with tempfile.TemporaryDirectory() as folder:
            results = pathlib.Path(folder)
            self.assertEqual(grader.finished(results), {})
            unit = "a" * 64
            for name in (unit, f"{unit}.writing", f".{unit}"):
                (results / "cache" / name).mkdir(parents=True)
                (results / "cache" / name / "result.json").write_text("{}")
            self.assertEqual(list(grader.finished(results)), [unit])
            self.assertEqual(grader.processes(results), [])
