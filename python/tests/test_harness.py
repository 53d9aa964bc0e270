"""Tests of the harness over its socket, with the messages that the simulator sends."""

import json
import socket
import subprocess
import sys
import unittest
from pathlib import Path

HARNESS = Path(__file__).parents[1] / "judge" / "harness.py"
STATE = {"time": 0.0, "audio": {"playing": [], "events": []}, "pose": {"x": 1.0}}


class Harness:
    """A running harness process."""

    def __init__(self):
        self.line, inside = socket.socketpair()
        self.line.settimeout(30)
        number = inside.fileno()
        command = [sys.executable, "-I", str(HARNESS), str(number)]
        self.process = subprocess.Popen(
            command, pass_fds=[number], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        inside.close()
        self.lines = self.line.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lines.close()
        self.line.close()
        self.process.wait(30)
        self.process.stdout.close()

    def send(self, **message):
        self.line.sendall(json.dumps(message).encode() + b"\n")

    def hear(self):
        return json.loads(self.lines.readline())

    def load(self, script):
        objects = {"box1": {"type": "object", "movable": True, "origin": {"x": 2.0, "y": 1.0}}}
        track = {"waypoints": [[0, 0], [1, 0]], "inner": None, "outer": None, "bounds": None}
        self.send(type="load", script=script, config={}, track=track, objects=objects, seed=5)
        return self.hear()

    def evaluate(self, moved=(), **state):
        self.send(type="evaluate", state={**STATE, **state}, moved=list(moved))


class Calls(unittest.TestCase):
    def test_script_is_loaded_and_called(self):
        script = (
            "def initialize(sim): sim.n = 0\ndef evaluate(sim): sim.n += 1; sim.record(sim.n)\n"
        )
        with Harness() as harness:
            self.assertEqual(harness.hear(), {"type": "ready", "version": 2})
            self.assertEqual(harness.load(script), {"type": "answer", "finish": False})
            harness.send(type="initialize", state=STATE, moved=[])
            self.assertEqual(harness.hear(), {"type": "answer", "finish": False})
            for n in (1, 2):
                harness.evaluate()
                self.assertEqual(harness.hear(), {"type": "record", "value": n})
                self.assertEqual(harness.hear(), {"type": "answer", "finish": False})

    def test_unmoved_objects_stay_and_scripts_get_copies(self):
        script = """
def evaluate(sim):
    box, ball = sim.state.objects.box1, sim.state.objects["ball"]
    sim.record([box.x, box["yaw"], list(box.q), ball.x, sorted(ball), "z" in ball])
    box.x = 77
    ball["x"] += 1
    del ball.z
    sim.state.objects.clear()
"""
        row = [0.0, 0.0, 0.0, 0.0, 0.5, [0, 0, 0, 1]]
        keys = ["pitch", "q", "roll", "x", "y", "yaw", "z"]
        with Harness() as harness:
            harness.hear()
            harness.load(script)
            harness.evaluate(moved=[["box1", 1.0, *row], ["ball", 2.0, *row]])
            told = [1.0, 0.5, [0, 0, 0, 1], 2.0, keys, True]
            self.assertEqual(harness.hear(), {"type": "record", "value": told})
            harness.hear()
            harness.evaluate(moved=[["ball", 3.0, *row]])
            self.assertEqual(harness.hear()["value"], [1.0, 0.5, [0, 0, 0, 1], 3.0, keys, True])
            harness.hear()
            harness.evaluate()
            self.assertEqual(harness.hear()["value"], [1.0, 0.5, [0, 0, 0, 1], 3.0, keys, True])

    def test_all_forms_of_actions(self):
        script = """
def evaluate(sim):
    sim.teleport(1, 2, 3)
    sim.teleport(sim.state.pose)
    sim.move_object("box1", sim.origins.box1, duration=2)
    sim.move_object("box1", path=((0, 1), (2, 3)), speed=1)
    sim.overlay("text")
    sim.pause()
    sim.finish()
"""
        wanted = [
            {"action": "teleport", "x": 1, "y": 2, "yaw": 3},
            {"action": "teleport", "x": 1.0},
            {"action": "move_object", "name": "box1", "x": 2.0, "y": 1.0, "duration": 2},
            {"action": "move_object", "name": "box1", "path": [[0, 1], [2, 3]], "speed": 1},
            {"action": "overlay", "text": "text", "secs": 10, "size": 1},
            {"action": "pause", "paused": True},
        ]
        with Harness() as harness:
            harness.hear()
            harness.load(script)
            harness.evaluate(pose={"x": 1.0, "speed": 3.0})
            for action in wanted:
                self.assertEqual(harness.hear(), {"type": "act", **action})
                harness.send(error=None)
            self.assertEqual(harness.hear(), {"type": "answer", "finish": True})

    def test_refused_action_raises_in_the_script(self):
        script = """
def evaluate(sim):
    try:
        sim.set_light("a", "red")
    except SimError as error:
        sim.record(str(error))
"""
        with Harness() as harness:
            harness.hear()
            harness.load(script)
            harness.evaluate()
            harness.hear()
            harness.send(error="light not found")
            self.assertEqual(harness.hear(), {"type": "record", "value": "light not found"})

    def test_exception_is_reported_with_its_last_line(self):
        with Harness() as harness:
            harness.hear()
            answer = harness.load("def evaluate(sim): {}['x']\nraise ValueError('top')\n")
            self.assertEqual(
                answer, {"type": "raised", "kind": "raised", "error": "ValueError: top"}
            )
            answer = harness.load("x = 1")
            self.assertIn("does not define evaluate", answer["error"])

    def test_scripts_are_checked_without_being_run(self):
        with Harness() as harness:
            harness.hear()
            for script, error in [
                ("def evaluate(sim): pass", None),
                ("evaluate = print", None),
                ("try:\n    from a import evaluate\nexcept ImportError:\n    pass", None),
                ("match 1:\n    case 1:\n        def evaluate(sim): pass", None),
                ("if x: pass\n" + "elif x: pass\n" * 900 + "def evaluate(sim): pass", None),
                ("import os; os._exit(1)", "it does not define evaluate(sim)"),
                ("def f():\n    def evaluate(sim): pass", "it does not define evaluate(sim)"),
                ("def evaluate(sim)", "line 1: expected ':'"),
                ("def evaluate(sim): pass\0", "source code string cannot contain null bytes"),
            ]:
                harness.send(type="check", script=script)
                self.assertEqual(harness.hear(), {"type": "checked", "error": error}, script)

    def test_thread_of_a_script_cannot_act_between_calls(self):
        script = """
import threading, time
def evaluate(sim):
    def later():
        while sim._channel.in_call:
            time.sleep(0.001)
        try:
            sim.record(1)
        except SimError as error:
            print(error, flush=True)
    threading.Thread(target=later).start()
"""
        with Harness() as harness:
            harness.hear()
            harness.load(script)
            harness.evaluate()
            self.assertEqual(harness.hear(), {"type": "answer", "finish": False})
            said = harness.process.stdout.readline()
            self.assertEqual(said, b"this works only inside initialize and evaluate\n")


if __name__ == "__main__":
    unittest.main()
