"""Tests that the rules of traffic lights detect violations."""

import unittest

from .fake import API, broken, checked, frame, get, light, post, refused, session, state

YELLOW = "yellow transition in progress"
PATH = "/traffic_lights/signal1"


def look(at, shown, left=None, time=1.0, **more):
    return get(at, "/state", state(time, (shown, left), **more))


class Lights(unittest.TestCase):
    def test_correct_phase_breaks_no_rule(self):
        lines = [
            frame(0.1, 1, state(1.0)),
            light(0.2, "red", "yellow", 3.0),
            look(0.25, "yellow", 2.8, 1.3),
            frame(0.3, 2, state(1.5, ("yellow", 2.6))),
            refused(0.35, PATH, YELLOW, {"state": "green"}),
            look(0.4, "yellow", 2.0, 2.1),
            frame(0.9, 3, state(4.1, ("red", None))),
            look(1.0, "red", time=4.2),
            light(1.1, "green", "green"),
            look(1.2, "green", time=4.3),
        ]
        self.assertEqual(broken(lines), [])
        names = {"yellow-time", "yellow-ends", "answer", "yellow-refuses", "refusal", "state"}
        self.assertLessEqual({"light-" + name for name in names}, checked(lines))

    def test_red_less_than_three_seconds_after_green(self):
        lines = [frame(0.1, 1, state(1.0)), frame(0.2, 2, state(3.9, ("red", None)))]
        self.assertEqual(broken(lines), ["light-yellow-time"])

    def test_red_after_a_respawn_is_allowed(self):
        respawn = post(
            0.12, "/respawn", None, {"ok": True, "world": "oval.world", "inplace": False}
        )
        lines = [frame(0.1, 1, state(1.0)), respawn, frame(0.2, 2, state(1.5, ("red", None)))]
        self.assertEqual(broken(lines), [])

    def test_yellow_ends_too_early(self):
        for after in [("red", None), ("yellow", 0.5), ("green", None)]:
            lines = [frame(0.1, 1, state(1.0, ("yellow", 2.0))), frame(0.2, 2, state(2.0, after))]
            self.assertEqual(broken(lines), ["light-yellow-ends"], after)

    def test_a_reset_may_end_yellow(self):
        lines = [
            frame(0.1, 1, state(1.0, ("yellow", 2.0))),
            post(0.12, "/reset", None, {"ok": True, "reset": ["vehicle"]}),
            frame(0.2, 2, state(2.0)),
        ]
        self.assertEqual(broken(lines), [])

    def test_answer_does_not_match_the_command(self):
        for wanted, shown, left in [
            ("red", "green", None),
            ("red", "yellow", 2.0),
            ("green", "red", None),
            ("green", "yellow", 3.0),
        ]:
            self.assertIn("light-answer", broken([light(1, wanted, shown, left)]), (wanted, shown))

    def test_command_is_accepted_in_the_yellow_phase(self):
        lines = [
            light(0.1, "red", "yellow", 3.0),
            look(0.2, "yellow", 2.9, 1.1),
            light(0.3, "green", "green"),
            light(0.4, "red", "yellow", 3.0),
            look(0.5, "yellow", 2.0, 2.0),
        ]
        self.assertEqual(broken(lines), ["light-yellow-refuses"])

    def test_two_phases_with_the_same_end_while_paused_are_distinct(self):
        lines = [
            light(0.1, "red", "yellow", 3.0),
            look(0.2, "yellow", 3.0, 1.0),
            post(0.3, "/reset", None, {"ok": True, "reset": ["vehicle"]}),
            light(0.4, "red", "yellow", 3.0),
            look(0.5, "yellow", 3.0, 1.0),
        ]
        self.assertEqual(broken(lines), [])

    def test_refusal_although_the_light_is_not_yellow(self):
        self.assertEqual(broken([refused(1, PATH, YELLOW, {"state": "red"})]), ["light-refusal"])

    def test_light_does_not_keep_its_state(self):
        order = light(0.1, "red", "yellow", 3.0)
        self.assertEqual(broken([order, look(1, "green")]), ["light-state"])
        respawn = post(0.5, "/respawn", None, {"ok": True, "world": "oval.world", "inplace": False})
        self.assertEqual(broken([order, respawn, look(1, "green")]), ["light-state"])
        self.assertEqual(broken([look(1, "red")]), [], "a light without commands is not checked")

    def test_reset_leaves_a_light_red(self):
        lines = [
            light(0.1, "red", "yellow", 3.0),
            post(0.5, "/reset", None, {"ok": True, "reset": ["vehicle"]}),
            look(1, "red"),
        ]
        self.assertEqual(broken(lines), ["light-state"])
        # If the command overlaps the reset, either order is accepted.
        lines[1] |= {"t0": 0.05}
        self.assertEqual(broken(lines), [])

    def test_script_may_change_a_light(self):
        script = {"k": "script", "world": "oval", "judge": "x", "touches": ["lights"]}
        green = light(8, "green", "green")
        seen = get(15, "/traffic_lights", {"world": "oval", "lights": {"signal1": ["red", None]}})
        self.assertEqual(broken([green, *session(), seen]), ["light-state"])
        self.assertEqual(broken([script, green, *session(), seen]), [])
        self.assertTrue(seen["path"].startswith(API))

    def test_a_seed_may_change_the_lights_of_a_shipped_world(self):
        green, lines = light(8, "green", "green"), session()
        seen = get(15, "/traffic_lights", {"world": "oval", "lights": {"signal1": ["red", None]}})
        start = next(line for line in lines if line.get("path") == API + "/evaluation/start")
        start["body"]["seed"] = 0
        self.assertEqual(broken([green, *lines, seen]), ["light-state"])
        start["body"]["seed"] = 9
        self.assertEqual(broken([green, *lines, seen]), [])
        own = {"k": "script", "world": "oval", "judge": "x", "touches": []}
        self.assertEqual(broken([own, green, *lines, seen]), ["light-state"])
