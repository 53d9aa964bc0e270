"""Tests of plans, response shapes, registers, samples, the history file, the log and the report."""

import itertools
import json
import math
import os
import pathlib
import subprocess
import tempfile
import unittest

from soak import contract, projection, report, rules, scenarios, schemas
from soak.clients import Names, fingerprint
from soak.history import History, numbered, read
from soak.plan import plan
from soak.rules.register import ANY, Register, Write
from soak.sequences import SEQUENCES
from soak.server import log_problems
from soak.watch import Watch

from .fake import get, session, state


class Plans(unittest.TestCase):
    def test_same_seed_gives_the_same_plan(self):
        first = list(itertools.islice(plan("7/0", 0.05), 2000))
        self.assertEqual(first, list(itertools.islice(plan("7/0", 0.05), 2000)))
        self.assertNotEqual(first, list(itertools.islice(plan("7/1", 0.05), 2000)))
        self.assertEqual(fingerprint(8, 3), fingerprint(8, 3))
        self.assertNotEqual(fingerprint(8, 3), fingerprint(8, 4))

    def test_plans_use_most_operations_and_only_known_ones(self):
        requests = list(itertools.islice(plan("1/0", 0.05), 20_000))
        kinds = {contract.operation(r.method, r.path).name for r in requests}
        self.assertGreater(len(kinds), 45, kinds)
        unknown = {
            (r.method, r.path)
            for r in requests
            if contract.operation(r.method, r.path) is contract.UNKNOWN and r.allow is None
        }
        self.assertEqual(unknown, set())
        self.assertEqual(len(SEQUENCES), len({sequence for _, sequence in SEQUENCES}))

    def test_placeholders_are_replaced(self):
        names = Names(20.0)
        names.worlds = ["a" * 32, "b" * 32]
        body = names.put({"world_id": "$world1", "speed": "$speed", "id": "$sound", "x": 1}, "a7")
        self.assertEqual(body, {"world_id": "b" * 32, "speed": 20.0, "id": "a7", "x": 1})


class Shapes(unittest.TestCase):
    def full_state(self):
        pose = {"x": 1, "y": 1, "z": 0, "roll": 0, "pitch": 0, "yaw": 0, "q": [0, 0, 0, 1]}
        light = {"name": "s", "x": 1, "y": 1, "yaw": 0, "builtin": True, "state": "green"}
        more = {"vehicle": pose | {"speed": 0, "steering": 0}, "contacts": [], "lights": [light]}
        more |= {"objects": {"box1": pose}, "overlay": "", "overlay_size": 1.0}
        return state(1.0) | more | {"running": True, "websocket": True}

    def test_a_state(self):
        full = self.full_state()
        self.assertIsNone(schemas.state(full))
        for key in full:
            if key in schemas.state_fields:
                less = {k: v for k, v in full.items() if k != key}
                self.assertEqual(schemas.state(less), f"{key} is missing")
        self.assertIn("not finite", schemas.state(full | {"time": math.nan}))
        self.assertIn("not a number", schemas.state(full | {"rtf": True}))
        yellow = full["lights"][0] | {"state": "yellow"}
        self.assertIsNotNone(schemas.state(full | {"lights": [yellow]}), "without yellow_left")
        left = full["lights"][0] | {"yellow_left": 1.0}
        self.assertIsNotNone(schemas.state(full | {"lights": [left]}), "green with yellow_left")
        self.assertIsNone(schemas.state(full | {"lights": [yellow | {"yellow_left": 1.0}]}))
        self.assertEqual(projection.state(full)["lights"], {"s": ["green", None]})

    def test_errors(self):
        of = contract.operation("POST", "/sim/api/pose")
        kind = "application/json"
        self.assertIsNone(contract.wrong_answer(of, 400, kind, {"error": "x", "code": "y"}))
        self.assertIsNotNone(contract.wrong_answer(of, 400, kind, {"ok": False, "error": "x"}))
        self.assertIsNotNone(contract.wrong_answer(of, 400, kind, {"detail": "x"}))
        self.assertIsNotNone(contract.wrong_answer(of, 400, "text/plain", "x"))
        self.assertIsNotNone(contract.wrong_answer(of, 400, kind, {"error": "x\ny"}))
        robot = contract.operation("POST", "/speed")
        self.assertIsNone(contract.wrong_answer(robot, 422, kind, {"detail": "x", "code": "y"}))
        self.assertIsNotNone(contract.wrong_answer(robot, 422, kind, {"error": "x"}))
        waiting = {"error": "No odometry data", "status": "waiting", "code": "no_reading"}
        self.assertIsNone(contract.wrong_answer(robot, 503, kind, waiting))

    def test_events(self):
        event = {"kind": "end", "session": "a", "time": 1, "record": None, "reason": None}
        self.assertIsNotNone(schemas.evaluation_event(event))
        self.assertIsNone(schemas.evaluation_event(event | {"outcome": "finished"}))
        self.assertIsNone(schemas.run_event({"phase": "exit", "exit_code": -9}))
        self.assertIsNotNone(schemas.run_event({"phase": "exit", "exit_code": None}))


class Registers(unittest.TestCase):
    def test_possible_values_of_reads(self):
        register = Register([Write(0, 1, "a"), Write(2, 3, "b"), Write(2.5, 4, "c")])
        self.assertIsNone(register.wrong(1.5, 1.6, "a"))
        self.assertIsNotNone(register.wrong(1.5, 1.6, "b"))
        self.assertIsNone(register.wrong(2.2, 2.3, "a"), "the write of b may come later")
        for either in "bc":
            self.assertIsNone(register.wrong(5, 6, either), "the writes overlapped")
        self.assertIsNotNone(register.wrong(5, 6, "a"))
        self.assertIsNone(
            register.wrong(-1, -0.5, "z"), "values before the first write are unknown"
        )

    def test_write_of_an_unknown_value(self):
        register = Register([Write(0, 1, "a"), Write(2, 9, ANY)])
        self.assertIsNone(register.wrong(5, 6, "z"))
        self.assertIsNotNone(register.wrong(1.5, 1.6, "z"))


class Samples(unittest.TestCase):
    def test_zombie_is_not_a_child(self):
        running, ended = subprocess.Popen(["sleep", "60"]), subprocess.Popen(["true"])
        for step in (running.wait, running.kill, ended.wait):
            self.addCleanup(step)
        # Waits for the end, and leaves the zombie.
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        with tempfile.TemporaryDirectory() as folder:
            history = History(pathlib.Path(folder) / "history.jsonl")
            seen = Watch(os.getpid(), "no command has this mark", history).look()
            history.close()
        self.assertIn(running.pid, seen["pids"])
        self.assertNotIn(ended.pid, seen["pids"])
        self.assertEqual((seen["children"], seen["zombies"]), (len(seen["pids"]), 1))


class Files(unittest.TestCase):
    def test_history_is_written_and_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "history.jsonl"
            history = History(path)
            history.add("call", t0=0.1234567, kind="x")
            history.close()
            history.add("call", t0=1.0)
            expected = {"k": "call", "t0": 0.123457, "kind": "x", "n": 1}
            self.assertEqual(read(path), [expected])

    def test_log_problems(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "log"
            path.write_text(
                "2026-01-01T00:00:00Z  INFO no ERROR here\n"
                "2026-01-01T00:00:00Z ERROR it broke\n"
                "2026-01-01T00:00:00Z  WARN it may break\n"
                "thread 'sim' panicked at src/x.rs:1:1:\n"
            )
            errors, warnings = log_problems(path)
        self.assertEqual((len(errors), len(warnings)), (2, 1))

    def test_every_scenario_has_a_project(self):
        with tempfile.TemporaryDirectory() as folder:
            for scenario in scenarios.SCENARIOS:
                path = scenarios.project(scenario, pathlib.Path(folder))
                document = json.loads(path.read_text())
                script = path.with_name(document["evaluation"]["script"]).read_text()
                compile(script, scenario.judge, "exec")
                self.assertIn("def initialize(sim)", script)

    def test_a_report(self):
        lines = numbered([*session(), get(1, "/state", {"error": "x"}, 404)])
        for line in lines:
            if "record?" in line.get("path", ""):
                line["answer"]["judge"] = {"observations": 5}
            if line["k"] == "exam":
                line |= {"scenario": "finishes", "student": None}
            if line["k"] == "watch":
                line |= {"rss_kb": 1, "fds": 1, "threads": 1}
        end = {"seconds": 1, "speed": 20, "seed": 1, "fingerprint": "f", "stopped_in_s": 0.1}
        end |= {"exit_code": 0, "log_errors": [], "log_warnings": [], "ended_s": 30.0}
        made = report.summary(lines, end, rules.check(lines, end))
        text = report.markdown(made)
        self.assertIn("**status**", text)
        self.assertEqual(made["sessions"]["outcomes"], {"finished": 1})
        json.dumps(made)
