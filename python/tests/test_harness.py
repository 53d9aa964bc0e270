"""Tests of the harness over its socket, with the messages that the simulator sends."""

import json
import socket
import struct
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
        objects = {
            "box1": {"type": "object", "movable": True, "origin": {"x": 2.0, "y": 1.0}},
            "wall_0": {"type": "wall", "movable": False, "origin": {"x": 9.0, "y": 9.0}},
        }
        track = {"waypoints": [[0, 0], [1, 0]], "inner": None, "outer": None, "bounds": None}
        self.send(type="load", script=script, config={}, track=track, objects=objects, seed=5)
        return self.hear()

    def evaluate(self, names=None, moved=(), **state):
        """Calls `evaluate`. `moved` has a position in `names` and ten numbers for each object."""
        rows = [struct.pack("<I10d", *row) for row in moved]
        names = {} if names is None else {"names": names}
        self.send(type="evaluate", state={**STATE, **state}, moved=len(rows), **names)
        self.line.sendall(b"".join(rows))


class Calls(unittest.TestCase):
    def test_script_is_loaded_and_called(self):
        script = (
            "def initialize(sim): sim.n = 0\ndef evaluate(sim): sim.n += 1; sim.record(sim.n)\n"
        )
        with Harness() as harness:
            self.assertEqual(harness.hear(), {"type": "ready", "version": 3})
            self.assertEqual(harness.load(script), {"type": "answer", "finish": False})
            harness.send(type="initialize", state=STATE, names=[], moved=0)
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
        row = [0.0, 0.0, 0.0, 0.0, 0.5, 0, 0, 0, 1]
        keys = ["pitch", "q", "roll", "x", "y", "yaw", "z"]
        with Harness() as harness:
            harness.hear()
            harness.load(script)
            harness.evaluate(["box1", "ball"], [[0, 1.0, *row], [1, 2.0, *row]])
            told = [1.0, 0.5, [0, 0, 0, 1], 2.0, keys, True]
            self.assertEqual(harness.hear(), {"type": "record", "value": told})
            harness.hear()
            harness.evaluate(moved=[[1, 3.0, *row]])
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

    def test_every_object_of_the_origins_can_be_put_back(self):
        script = """
def evaluate(sim):
    for name, origin in sim.origins.items():
        sim.move_object(name, origin)
    sim.record([sorted(sim.objects), sorted(sim.origins)])
"""
        with Harness() as harness:
            harness.hear()
            harness.load(script)
            harness.evaluate()
            moved = {"type": "act", "action": "move_object", "name": "box1", "x": 2.0, "y": 1.0}
            self.assertEqual(harness.hear(), moved)
            harness.send(error=None)
            record = {"type": "record", "value": [["box1", "wall_0"], ["box1"]]}
            self.assertEqual(harness.hear(), record)

    def test_finish_with_a_value_records_it(self):
        cases = [("sim.finish(12.5)", [12.5]), ("sim.finish(None)", [None]), ("sim.finish()", [])]
        for call, records in cases:
            with self.subTest(call), Harness() as harness:
                harness.hear()
                harness.load(f"def evaluate(sim): {call}\n")
                harness.evaluate()
                for value in records:
                    self.assertEqual(harness.hear(), {"type": "record", "value": value})
                self.assertEqual(harness.hear(), {"type": "answer", "finish": True})

    def test_an_old_name_of_an_action_names_the_new_one(self):
        cases = {
            "moveObject": "; write sim.move_object",
            "setLight": "; write sim.set_light",
            "setBrightness": "; write sim.set_brightness",
            "setPose": "; write sim.teleport",
            "set_overlay": "; write sim.overlay",
            "fly": "",
        }
        for name, ending in cases.items():
            with self.subTest(name), Harness() as harness:
                harness.hear()
                harness.load(f"def evaluate(sim): sim.{name}('a', 1)\n")
                harness.evaluate()
                error = f"AttributeError: sim has no {name}{ending}"
                self.assertEqual(
                    harness.hear(), {"type": "raised", "kind": "raised", "error": error}
                )

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


# Values of a script that cannot be sent. Each bad value is tried with each action.
BAD_VALUES = """
class Liar(int):
    def __le__(self, other): return True
    def __ge__(self, other): return True
    def __lt__(self, other): return True
    def __gt__(self, other): return True
class Odd:
    def __float__(self): raise KeyError("no")
class NotANumber:
    def __float__(self): return "1"
class Pretender:
    @property
    def __class__(self): return float
class TwoFaced(dict):
    def items(self): return [("a", float("nan"))]
class Endless(list):
    def __iter__(self):
        while True:
            yield 1
deep, ring, wide = 0, [], 1
for _ in range(200):
    deep = [deep]
ring.append(ring)
for _ in range(20):
    wide = [wide] * 10
bad = {
    "huge": 10**400, "negative": -(10**400), "endless digits": 10**5000, "liar": Liar(10**400),
    "nan": float("nan"), "infinite": float("-inf"), "surrogate": "\\ud800", "key": {"\\udfff": 1},
    "deep": deep, "ring": ring, "wide": wide, "long": "x" * 2_000_000, "odd": Odd(),
    "not a number": NotANumber(), "pretender": Pretender(), "object": object(), "bytes": b"x",
    "number as key": {1: 2}, "inner": [[[TwoFaced(a=Odd())]]], "set": {1},
}
"""


class Values(unittest.TestCase):
    def outcomes(self, script):
        """Runs a script, and accepts each of its actions. Returns its record and its actions."""
        with Harness() as harness:
            harness.hear()
            self.assertEqual(harness.load(script), {"type": "answer", "finish": False})
            harness.evaluate()
            record, actions = None, []
            while True:
                said = harness.hear()
                if said["type"] == "record":
                    record = said["value"]
                elif said["type"] == "act":
                    actions.append(said)
                    harness.send(error=None)
                else:
                    self.assertEqual(said, {"type": "answer", "finish": False})
                    return record, actions

    def test_a_value_that_cannot_be_sent_ended_the_session(self):
        script = (
            BAD_VALUES
            + """
def evaluate(sim):
    other = []
    for name, value in bad.items():
        for action in (
            lambda: sim.teleport(value),
            lambda: sim.teleport({"x": 1, "yaw": value}),
            lambda: sim.move_object("box1", x=value),
            lambda: sim.move_object(value, x=1),
            lambda: sim.move_object("box1", path=[(0, 0), (value, 1)], speed=1),
            lambda: sim.set_light(value, "red"),
            lambda: sim.set_light("a", value),
            lambda: sim.overlay(value),
            lambda: sim.overlay("x", secs=value),
            lambda: sim.set_brightness(value),
            lambda: sim.record(value),
            lambda: sim.record({"a": [value]}),
        ):
            mapping = name in ("key", "number as key", "inner")
            if mapping and action.__code__.co_firstlineno == first:
                continue  # A mapping is a pose here, and its other keys are ignored.
            try:
                action()
            except SimError:
                continue
            except BaseException as error:
                other.append([name, type(error).__name__])
            else:
                other.append([name, "sent", action.__code__.co_firstlineno])
    sim.record(other)
first = next(
    c.co_firstlineno for c in evaluate.__code__.co_consts if hasattr(c, "co_firstlineno")
)
"""
        )
        record, actions = self.outcomes(script)
        self.assertEqual(actions, [])
        self.assertEqual(record, [])

    def test_subclasses_of_plain_types_are_sent_as_plain_values(self):
        script = (
            BAD_VALUES
            + """
import enum
class Text(str):
    def __str__(self): return "no"
    def encode(self, *_): raise ValueError
class Level(enum.IntEnum):
    LOW = 3
class Number(float):
    def __repr__(self): return "NaN"
class Third:
    def __float__(self): return 0.25
def evaluate(sim):
    sim.record([Text("yes"), Level.LOW, Number(0.5), True, {Text("k"): (1, None)}, TwoFaced(b=1)])
    sim.teleport(Third(), Level.LOW, Number(0.5))
    sim.overlay(Text("text"))
    sim.move_object("box1", path=Endless([(1, 2)]), speed=1)
"""
        )
        record, actions = self.outcomes(script)
        self.assertEqual(record, ["yes", 3, 0.5, True, {"k": [1, None]}, {"b": 1}])
        self.assertEqual(
            actions,
            [
                {"type": "act", "action": "teleport", "x": 0.25, "y": 3, "yaw": 0.5},
                {"type": "act", "action": "overlay", "text": "text", "secs": 10, "size": 1},
                {
                    "type": "act",
                    "action": "move_object",
                    "name": "box1",
                    "path": [[1, 2]],
                    "speed": 1,
                },
            ],
        )

    def test_an_action_at_the_bottom_of_a_recursion_keeps_its_answer(self):
        script = """
def down(sim, done):
    try:
        sim.pause(True)
        sim.record(0.5)
        sim.record([1])
    except (SimError, RecursionError):
        pass
    else:
        done[0] += 1
    down(sim, done)
def evaluate(sim):
    done = [0]
    try:
        down(sim, done)
    except RecursionError:
        sim.record(done[0])
"""
        record, actions = self.outcomes(script)
        self.assertGreater(record, 500)
        self.assertGreaterEqual(len(actions), record)

    def test_an_action_that_a_signal_interrupted_mixed_up_the_answers(self):
        script = """
import signal
def stop(*_):
    raise TimeoutError
def evaluate(sim):
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        sim.pause(True)
    except TimeoutError:
        pass
    try:
        sim.pause(False)
    except SimError as error:
        sim.record(str(error))
"""
        with Harness() as harness:
            harness.hear()
            harness.load(script)
            harness.evaluate()
            self.assertTrue(harness.hear()["paused"])
            # The next action is sent only after the answer to the interrupted action was read.
            harness.line.settimeout(0.5)
            with self.assertRaises(TimeoutError):
                harness.line.recv(1, socket.MSG_PEEK)
            harness.line.settimeout(30)
            harness.send(error="the first")
            self.assertFalse(json.loads(harness.line.recv(1000))["paused"])
            harness.send(error="the second")
            said = harness.line.recv(1000)
            while said.count(b"\n") < 2:
                said += harness.line.recv(1000)
            self.assertEqual(json.loads(said.splitlines()[0])["value"], "the second")


if __name__ == "__main__":
    unittest.main()
