"""Tests of all rules except those of lights and sessions. Checks that every rule has a test."""

import pathlib
import unittest

from soak import rules

from .fake import broken, call, checked, evaluation_event, frame, get, post, refused, state


def paused(at, value):
    answer = {"ok": True, "sim_time": 1.0, "paused": value, "speed": 20, "rtf": 0.0}
    return post(at, "/clock", {"paused": value}, answer)


def clock(at, time, value, speed=20):
    answer = {"sim_time": time, "real_time": 1.0, "rtf": 0.0, "paused": value, "speed": speed}
    return get(at, "/clock", answer)


def step(at, body, time):
    return post(at, "/step", body, state(time, paused=True))


def switch(at, world):
    body = {"world": f"{world}.world"}
    return post(at, "/switch", body, {"ok": True, "world": f"{world}.world"})


class Answers(unittest.TestCase):
    def test_status_that_is_not_allowed(self):
        self.assertEqual(broken([get(1, "/state", {"error": "x"}, 404)]), ["status"])
        self.assertEqual(broken([get(1, "/brightness", {"error": "x"}, 500)]), ["status"])
        lines = [post(1, "/pose", {"x": 1}, {"error": "something else"}, 409)]
        self.assertEqual(broken(lines), ["status"])
        lines = [post(1, "/pose", {"x": "1"}, {"ok": True}, 200, allow=[400], wrong=None)]
        self.assertIn("status", broken(lines))
        lines = [refused(1, "/evaluation/start", "already running")]
        self.assertEqual(broken(lines), [])

    def test_wrong_shape(self):
        line = get(1, "/brightness", {"value": 7}, wrong="value: 7 is not in 0.2..2")
        self.assertIn("shape", broken([line]))
        bad = {"k": "bad", "who": "viewer0", "t": 1.0, "what": "a picture is not a JPEG"}
        self.assertEqual(broken([bad]), ["shape"])

    def test_no_answer(self):
        line = call(1, 61, "GET", "/sim/api/world", None, None, None, fail="no answer within 60 s")
        self.assertEqual(broken([line]), ["answered"])


class Clock(unittest.TestCase):
    def test_time_decreases(self):
        lines = [frame(0.1, 1, state(5.0)), frame(0.2, 2, state(4.0))]
        self.assertEqual(broken(lines), ["time-forward"])
        respawn = post(
            0.15, "/respawn", None, {"ok": True, "world": "oval.world", "inplace": False}
        )
        self.assertEqual(broken([lines[0], respawn, lines[1]]), [])
        # No world can be loaded during a session.
        held = {"active": True, "session": "a" * 32, "phase": "running"}
        under = [line | {"data": line["data"] | {"evaluation": held}} for line in lines]
        self.assertIn("time-forward", broken([under[0], respawn, under[1]]))

    def test_paused_has_another_value_than_was_set(self):
        self.assertEqual(broken([paused(1, True), clock(2, 1.0, True)]), [])
        self.assertEqual(broken([paused(1, True), clock(2, 1.0, False)]), ["paused"])
        lines = [paused(1, True), paused(2, False), clock(3, 1.0, True)]
        self.assertEqual(broken(lines), ["paused"])
        lines = [paused(0, False), step(1, {"steps": 1}, 1.0), clock(2, 1.0, False)]
        self.assertEqual(broken(lines), ["paused"])

    def test_time_passes_while_paused(self):
        lines = [paused(1, True), clock(2, 1.0, True), clock(3, 1.005, True)]
        self.assertEqual(broken(lines), ["paused-time"])
        self.assertEqual(broken([*lines[:2], paused(2.5, False), clock(3, 1.005, False)]), [])

    def test_step_has_another_length(self):
        good = [step(1, {"steps": 100}, 1.0), step(2, {"duration": 0.5}, 1.5)]
        self.assertEqual(broken(good), [])
        self.assertIn("step-exact", checked(good))
        lines = [step(1, {"steps": 100}, 1.0), step(2, {"steps": 100}, 1.505)]
        self.assertEqual(broken(lines), ["step-exact"])
        # A concurrent step of another client advances time too.
        other = step(1.5, {"steps": 1}, 1.005) | {"t1": 2.02}
        self.assertEqual(broken([lines[0], other, lines[1]]), [])

    def test_speed_has_another_value_than_was_set(self):
        asked = post(
            1, "/clock", {"speed": 5}, {"ok": True, "sim_time": 0, "paused": False, "speed": 5}
        )
        self.assertEqual(broken([asked, clock(2, 1.0, False, 5)]), [])
        self.assertEqual(broken([asked, clock(2, 1.0, False, 20)]), ["speed"])


class Worlds(unittest.TestCase):
    def test_world_is_not_the_target_of_the_last_switch(self):
        seen = get(3, "/state", state(1.0, world="oval", current="oval"))
        self.assertEqual(broken([switch(1, "field"), switch(2, "oval"), seen]), [])
        self.assertEqual(broken([switch(1, "oval"), switch(2, "field"), seen]), ["world-current"])
        late = switch(2, "field") | {"t1": 5}
        self.assertEqual(broken([switch(1, "oval"), late, seen]), [])

    def test_switching_current_and_transition_disagree(self):
        load = {"kind": "switch", "target": "field.world", "progress": 0.5}
        good = state(1.0, switching=True, current=None, transition=load)
        self.assertEqual(broken([frame(1, 1, good)]), [])
        for wrong in ({"current": "oval"}, {"transition": None}, {"switching": False}):
            self.assertEqual(broken([frame(1, 1, good | wrong)]), ["world-switching"], wrong)
        install = load | {"kind": "install"}
        self.assertEqual(broken([frame(1, 1, state(1.0, transition=install))]), [])

    def test_not_ready_although_no_world_is_loading(self):
        line = refused(5, "/pose", "world not ready", {"x": 1})
        self.assertEqual(broken([line]), ["world-refusal"])
        self.assertEqual(broken([switch(4.9, "oval") | {"t1": 5.2}, line]), [])

    def test_deleted_world_is_listed(self):
        number = "c" * 32
        name = f"custom_{number}"
        answer = {"ok": True, "world": name, "name": name, "rev": "r", "cached": False}
        publish = {"k": "publish", "t0": 0, "t1": 1, "world": number}
        install = post(2, "/worlds/install", {"world_id": number}, answer)
        there = get(3, "/worlds", {"worlds": ["oval", name], "current": "oval"})
        gone = call(4, 4.1, "DELETE", f"/sim/api/worlds/{name}", None, 200, {"deleted": name})
        lines = [publish, install, there, gone]
        self.assertEqual(broken(lines), [])
        self.assertEqual(broken([*lines, there | {"t0": 5, "t1": 6}]), ["world-installed"])
        missing = get(3, "/worlds", {"worlds": ["oval"], "current": "oval"})
        self.assertEqual(broken([publish, install, missing]), ["world-installed"])
        cached = install | {"t0": 5, "t1": 6, "answer": answer | {"cached": True}}
        self.assertEqual(broken([*lines, cached]), ["world-installed"])

    def test_brightness_has_another_value_than_was_set(self):
        asked = post(1, "/brightness", {"value": 0.5}, {"ok": True, "value": 0.5})
        self.assertEqual(broken([asked, get(2, "/brightness", {"value": 0.5})]), [])
        self.assertEqual(broken([asked, get(2, "/brightness", {"value": 1.0})]), ["brightness"])

    def test_counter_decreases(self):
        lines = [
            get(1, "/state", state(1.0, overlay_seq=4)),
            get(2, "/state", state(1.1, overlay_seq=3)),
        ]
        self.assertEqual(broken(lines), ["counters"])


class Streams(unittest.TestCase):
    def test_ids_do_not_increase(self):
        lines = [frame(1, 5, state(1)), frame(2, 7, state(2)), frame(3, 7, state(3))]
        self.assertEqual(broken(lines), ["stream-ids"])

    def test_readers_receive_different_events(self):
        lines = [
            evaluation_event(1, 5, 1.0, "log", "a", line="x"),
            evaluation_event(1, 5, 1.0, "log", "b", line="y"),
        ]
        self.assertEqual(broken(lines), ["stream-same"])

    def test_reader_misses_an_event(self):
        def log(number, who):
            return evaluation_event(1.0 + number / 10, number, 1.0, "log", who, line=f"{number}")

        whole = [log(n, "a") for n in (5, 6, 7)]
        self.assertEqual(broken([*whole, log(5, "b"), log(6, "b"), log(7, "b")]), [])
        self.assertEqual(broken([*whole, log(5, "b"), log(7, "b")]), ["stream-whole"])
        resumed = {"k": "open", "who": "c", "t": 1.0, "after": 4, "status": 200}
        self.assertEqual(broken([resumed, *whole, log(6, "c"), log(7, "c")]), ["stream-whole"])


class Poses(unittest.TestCase):
    def test_pose_differs_from_the_request(self):
        pose = {"x": 1.0, "y": 2.0, "z": 0.0, "roll": 0, "pitch": 0, "yaw": 3.1, "q": [0, 0, 0, 1]}
        answer = {"ok": True, "applied": True, "pose": pose}
        self.assertEqual(broken([post(1, "/pose", {"x": 1, "yaw": 3.1}, answer)]), [])
        self.assertEqual(broken([post(1, "/pose", {"x": 1.5}, answer)]), ["pose-applied"])

    def test_speed_is_not_clamped(self):
        answer = {"success": True, "value": 9.0, "message": None}
        line = call(1, 1.1, "POST", "/speed", {"value": 9}, 200, answer)
        self.assertEqual(broken([line]), ["drive-clamped"])
        self.assertEqual(broken([line | {"answer": answer | {"value": 3.0}}]), [])


class Own(unittest.TestCase):
    def test_answer_has_the_value_of_another_command(self):
        self.assertEqual(broken([paused(1, True)]), [])
        other = {"ok": True, "sim_time": 1.0, "paused": False, "speed": 20, "rtf": 0.0}
        self.assertEqual(broken([post(1, "/clock", {"paused": True}, other)]), ["own-answer"])

        def overlay(at, text, answered, seq):
            return post(at, "/overlay", {"text": text}, {"ok": True, "text": answered, "seq": seq})

        self.assertEqual(broken([overlay(1, "a", "a", 1), overlay(2, "b", "b", 2)]), [])
        self.assertEqual(broken([overlay(1, "a", "b", 1)]), ["own-answer"])
        self.assertEqual(broken([overlay(1, "a", "a", 1), overlay(2, "b", "b", 1)]), ["own-answer"])


GOOD_END = {"begun_s": 0.0, "ended_s": 600.0, "alive": True, "exit_code": 0, "log_errors": []}


def grown(kb_a_minute):
    return [
        {"k": "watch", "t0": float(t), "t1": float(t), "children": 0, "strays": 0}
        | {"anon_kb": 100_000 + kb_a_minute * t / 60 + (t * 7919) % 3000}
        for t in range(0, 600, 2)
    ]


class Resources(unittest.TestCase):
    def test_rest(self):
        rest = {"k": "quiet", "t": 1.0, "fds": 17, "threads": 7, "children": 0, "strays": 0}
        rest["zombies"] = 0
        start, end = rest | {"when": "start"}, rest | {"when": "end"}
        self.assertEqual(broken([start, end], GOOD_END), [])
        for more in ({"fds": 40}, {"threads": 12}, {"children": 1}, {"zombies": 1}, {"strays": 1}):
            self.assertEqual(broken([start, end | more], GOOD_END), ["rest"], more)

    def test_memory(self):
        self.assertEqual(broken(grown(0), GOOD_END), [])
        self.assertIn("memory", checked(grown(0), GOOD_END))
        self.assertEqual(broken(grown(4000), GOOD_END), ["memory"])

    def test_log_and_end(self):
        self.assertEqual(broken([], GOOD_END | {"log_errors": ["ERROR it broke"]}), ["log"])
        for wrong in ({"alive": False}, {"exit_code": -9}, {"groups_left": ["/sys/x"]}):
            self.assertEqual(broken([], GOOD_END | wrong), ["end"], wrong)


class Coverage(unittest.TestCase):
    def test_every_rule_is_broken_by_a_test(self):
        here = pathlib.Path(__file__).parent
        tests = "".join(path.read_text() for path in here.glob("test_*.py"))
        for name in rules.RULES:
            self.assertIn(f'"{name}"', tests, f"no test breaks {name}")

    def test_violations_are_sorted_and_have_their_lines(self):
        lines = [
            get(5, "/state", {"error": "x"}, 404) | {"n": 2},
            get(1, "/brightness", {"error": "x"}, 404) | {"n": 1},
        ]
        first = rules.check(lines).broken[0]
        self.assertEqual([line["n"] for line in first.lines], [1])
        self.assertIn("GET /sim/api/brightness answered 404", first.text)
