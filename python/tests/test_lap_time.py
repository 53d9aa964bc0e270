"""Tests of the lap-time judging script, with a fake simulator whose poses the tests set."""

import ast
import math
import runpy
import unittest
from random import Random

from .stadium import HALF_ROAD, START, TEMPLATE, Run, Stadium, View

FRONT = 0.135
KINDS = ("box", "cylinder", "sphere", "cone", "light")


class LapTime(unittest.TestCase):
    def assert_place(self, sim, place):
        pose = sim.state.pose
        # The tolerance is for bends, where the centre line is a polygon.
        self.assertLess(math.hypot(pose.x - place[0], pose.y - place[1]), 0.02)
        self.assertLess(abs(math.remainder(pose.yaw - place[2], math.tau)), 0.05)


class Laps(LapTime):
    def test_clean_lap_is_timed_in_both_directions(self):
        for clockwise in (False, True):
            for speed in (0.4, 1.0, 3.0):
                with self.subTest(clockwise=clockwise, speed=speed):
                    run = Run(Stadium(clockwise))
                    run.wait(2)
                    run.drive_to(30, speed)
                    # The clock starts 3 cm after the start and ends at the line. The car reaches
                    # the line 5 cm and one lap after the start.
                    expected = (run.stadium.length + 0.05 - 0.03) / speed
                    self.assertLessEqual(abs(run.record - expected), 0.02)
                    self.assertEqual(run.sim.finished, 1)
                    self.assertEqual(run.sim.teleports, [])
                    self.assertEqual(run.log.getvalue(), "")

    def test_hops_between_observations_are_not_driving(self):
        for hop in (0.03, 0.09):
            with self.subTest(hop=hop):
                run = Run(start=START)
                while run.along < 1.5 * run.stadium.length:
                    run.carry_to(run.along + hop)
                self.assertEqual(run.sim.finished, 0)

    def test_lap_beside_the_centre_line(self):
        for inwards in (-0.2, 0.2, 0.35):
            with self.subTest(inwards=inwards):
                run = Run(start=START)
                run.drive_to(run.stadium.length + 0.1, inwards=inwards)
                # A car beyond the end of the line does not cross it.
                self.assertEqual(run.sim.finished, 1 if abs(inwards) <= HALF_ROAD else 0)
                self.assertEqual(run.penalties, 0)

    def test_the_clock_starts_after_3_cm(self):
        run = Run()
        run.wait(3)
        run.drive_to(START + 0.0299)
        self.assertEqual(run.sim.records, [])
        run.drive_to(START + 0.031)
        self.assertEqual(run.sim.records, [0])
        run.wait(1)
        self.assertEqual(len(run.sim.records), 51)
        self.assertAlmostEqual(run.record, 1.0)

    def test_moving_backwards_starts_the_clock_too(self):
        run = Run()
        run.drive_to(START - 0.05)
        self.assertEqual(run.sim.records[0], 0)

    def test_crossing_the_line_backwards_is_no_lap(self):
        run = Run()
        run.drive_to(-run.stadium.length - 1)
        self.assertEqual(run.sim.finished, 0)
        self.assertEqual(run.penalties, 0)
        # The next forward crossing is not a lap either, because the car drove backwards before. A
        # full lap after that crossing counts as a lap.
        run.drive_to(-run.stadium.length + 1)
        self.assertEqual(run.sim.finished, 0)
        run.drive_to(-1)
        self.assertEqual(run.sim.finished, 0)
        run.drive_to(1)
        self.assertEqual(run.sim.finished, 1)

    def test_reversing_over_the_line_after_the_start_is_no_lap(self):
        run = Run()
        for _ in range(20):
            run.drive_to(0.4)
            run.drive_to(-0.6)
        run.drive_to(run.stadium.length - 0.2)
        self.assertEqual(run.sim.finished, 0)
        run.drive_to(run.stadium.length)
        self.assertEqual(run.sim.finished, 1)

    def test_driving_half_the_route_back_and_forth_is_no_lap(self):
        run = Run()
        run.drive_to(-0.7 * run.stadium.length)
        run.drive_to(0.45 * run.stadium.length)
        run.drive_to(-0.2)
        run.drive_to(0.4)
        self.assertEqual(run.sim.finished, 0)

    def test_cutting_across_the_infield_is_no_lap(self):
        for teleport_works in (False, True):
            with self.subTest(teleport_works=teleport_works):
                run = Run()
                run.sim.teleport_works = teleport_works
                length = run.stadium.length
                for _ in range(4):
                    run.drive_to(0.3 * length)
                    run.drive_straight(*run.stadium.place(-0.6)[:2])
                    run.along = -0.6
                    run.drive_to(0.5)
                self.assertEqual(run.sim.finished, 0)
                self.assertGreater(run.penalties, 0)
                self.assertGreater(len(run.sim.teleports), 0)

    def test_cutting_between_roads_that_touch_is_no_lap(self):
        # The straights are 0.5 m apart, so the car is always on a road.
        run = Run(Stadium(radius=0.25))
        for _ in range(4):
            run.drive_to(1.5, inwards=0.0)
            run.drive_straight(*run.stadium.place(1.5, 0.5)[:2])
            run.drive_straight(*run.stadium.place(-0.6, 0.5)[:2])
            run.drive_straight(*run.stadium.place(-0.6)[:2])
            run.along = -0.6
            run.drive_to(0.5)
        self.assertEqual(run.sim.finished, 0)
        self.assertEqual(run.penalties, 0)

    def test_a_teleport_past_the_line_is_no_lap(self):
        run = Run()
        length = run.stadium.length
        run.drive_to(0.95 * length)
        run.carry_to(length + 0.5)
        self.assertEqual(run.sim.finished, 0)
        run.drive_to(length + 1)
        self.assertEqual(run.sim.finished, 0)
        # Driving back over the line is not a lap either. The next forward crossing completes the
        # lap.
        run.drive_to(length - 1)
        self.assertEqual(run.sim.finished, 0)
        run.drive_to(length + 1)
        self.assertEqual(run.sim.finished, 1)

    def test_teleported_distance_is_no_progress(self):
        for hop in (0.11, 0.25, 1.0, 5.0):
            with self.subTest(hop=hop):
                run = Run()
                length = run.stadium.length
                while run.along + hop < length - 0.2:
                    run.carry_to(run.along + hop)
                run.drive_to(length - 0.1)
                run.drive_to(length + 0.5)
                self.assertEqual(run.sim.finished, 0)

    def test_turning_in_place_across_the_line_is_no_lap(self):
        run = Run()
        length = run.stadium.length
        run.drive_to(0.95 * length)
        x, y, yaw = run.stadium.place(length - 0.05)
        run.sim.set_pose(x, y, yaw + math.pi)
        run.observe()
        run.sim.set_pose(x, y, yaw)
        run.observe()
        self.assertEqual(run.sim.finished, 0)

    def test_moves_during_a_pause_do_not_count(self):
        run = Run()
        length = run.stadium.length
        run.drive_to(0.95 * length)
        run.along = length - FRONT - 0.01
        run.sim.set_pose(*run.stadium.place(run.along))
        run.observe(0.0)
        run.sim.set_pose(*run.stadium.place(length - FRONT + 0.01))
        run.observe(0.0)
        self.assertEqual(run.sim.finished, 0)

    def test_a_route_without_borders(self):
        stadium = Stadium(clockwise=True)
        for borders in ({}, {"inner": None, "outer": None}, {"inner": [], "outer": []}):
            with self.subTest(borders=borders):
                run = Run(stadium, track=View(waypoints=stadium.line(), **borders))
                run.drive_to(4, inwards=0.36)
                self.assertEqual(run.penalties, 0)
                run.sim.set_pose(*stadium.place(4, 0.38))
                run.observe()
                self.assertEqual(run.penalties, 5)
                run.along = 4.3
                run.drive_to(30, inwards=0.24)
                self.assertEqual(run.sim.finished, 1)

    def test_a_route_whose_first_point_is_not_repeated(self):
        stadium = Stadium()
        track = stadium.track()
        for name in ("waypoints", "inner", "outer"):
            track[name] = track[name][:-1]
        run = Run(stadium, track=track)
        run.drive_to(30)
        self.assertAlmostEqual(run.record, stadium.length + 0.02, delta=0.02)
        self.assertEqual(run.sim.finished, 1)


class Road(LapTime):
    def test_leaving_the_road_costs_once_and_the_car_is_put_back_ahead(self):
        for clockwise in (False, True):
            for side in (1, -1):
                for along in (1.0, 4.0, 9.0):
                    with self.subTest(clockwise=clockwise, side=side, along=along):
                        run = Run(Stadium(clockwise))
                        run.drive_to(along)
                        run.drive_straight(*run.stadium.place(along, side * 0.36)[:2])
                        self.assertEqual(run.penalties, 0)
                        run.carry_to(along, side * 0.38)
                        self.assertEqual(run.penalties, 5)
                        self.assertEqual(len(run.sim.teleports), 1)
                        self.assert_place(run.sim, run.stadium.place(along + 0.3))
                        run.wait(3)
                        self.assertEqual(run.penalties, 5)
                        run.along = along + 0.3
                        run.drive_to(30)
                        elapsed = run.sim.state.time - run.sim.clock_start
                        self.assertAlmostEqual(run.record, elapsed + 5, places=6)
                        self.assertEqual(run.sim.finished, 1)

    def test_leaving_the_road_again_costs_again(self):
        run = Run()
        for i in range(1, 4):
            run.carry_to(2.0 * i, -0.5)
            self.assertEqual(run.penalties, 5 * i)
            run.wait(0.04)
        self.assertIn("the car left the road, +5 s", run.log.getvalue())

    def test_no_second_penalty_before_the_car_is_back_on_the_road(self):
        run = Run()
        run.drive_to(1)
        run.sim.teleport_works = False
        run.carry_to(1.0, 0.5)
        run.wait(0.1)
        self.assertEqual(run.penalties, 5)
        self.assertGreater(len(run.sim.teleports), 1)
        for teleport in run.sim.teleports:
            self.assertAlmostEqual(
                math.dist(teleport[:2], run.stadium.place(1.3)[:2]), 0, delta=0.01
            )

    def test_lap_that_consists_of_put_backs_is_a_lap(self):
        run = Run()
        length = run.stadium.length
        while run.along < length - 1:
            run.drive_to(run.along + 0.05)
            run.carry_to(run.along, 0.5)
            run.along += 0.3
        run.drive_to(length + 0.1)
        self.assertEqual(run.sim.finished, 1)
        self.assertEqual(run.penalties, 5 * len(run.sim.teleports))

    def test_a_put_back_never_skips_the_line(self):
        for before in (0.4, 0.2, 0.1, 0.01):
            with self.subTest(before=before):
                run = Run()
                length = run.stadium.length
                run.drive_to(length - 1)
                # The car drives beside the end of the line, so it does not cross the line.
                run.drive_to(length - before, inwards=-0.36)
                self.assertEqual(run.sim.finished, 0)
                run.carry_to(length - before, -0.5)
                self.assert_place(run.sim, run.stadium.place(length + START))
                self.assertEqual(run.sim.finished, 0)
                run.along = length + START
                run.drive_to(length)
                self.assertEqual(run.sim.finished, 1)
                self.assertEqual(run.penalties, 5)

    def test_put_back_at_the_start_is_30_cm_ahead(self):
        run = Run()
        run.carry_to(START, 0.5)
        self.assert_place(run.sim, run.stadium.place(START + 0.3))
        run.along = START + 0.3
        run.drive_to(30)
        self.assertEqual(run.sim.finished, 1)

    def test_points_of_the_borders_need_not_correspond(self):
        stadium = Stadium()
        track = stadium.track()
        # The number of points stays the same, but most of them are in one part of the border.
        for name, inwards in (("inner", HALF_ROAD), ("outer", -HALF_ROAD)):
            alongs = [stadium.length * (i / 200) ** 3 for i in range(200)]
            track[name] = [list(stadium.place(along, inwards)[:2]) for along in alongs]
        run = Run(stadium, track=track)
        for along in (1.0, 6.0, 7.0):
            run.carry_to(along, 0.35)
            self.assertEqual(run.penalties, 0)
        run.carry_to(7.0, 0.39)
        self.assertEqual(run.penalties, 5)

    def test_slanted_start_line_is_crossed_forwards(self):
        for slant in (-0.2, 0.2):
            with self.subTest(slant=slant):
                stadium = Stadium()
                track = stadium.track()
                track["inner"] = stadium.line(HALF_ROAD, first=slant)
                track["outer"] = stadium.line(-HALF_ROAD, first=-slant)
                run = Run(stadium, track=track)
                run.drive_to(30)
                self.assertEqual(run.sim.finished, 1)
                self.assertAlmostEqual(run.record, stadium.length + 0.02, delta=0.02)


class Objects(LapTime):
    def each_kind(self):
        for i, kind in enumerate(KINDS):
            with self.subTest(kind=kind):
                run = Run(objects=[("thing", kind, 5.0 + i, 8.0), ("other", "box", 1.0, 1.0)])
                run.drive_to(0.5)
                yield run, run.sim.origins.thing

    def move(self, run, **by):
        thing = run.sim.state.objects.thing
        run.sim.place_object("thing", **{key: thing[key] + value for key, value in by.items()})
        run.observe()

    def test_a_moved_object_costs_and_is_put_back(self):
        for run, origin in self.each_kind():
            self.move(run, x=0.02, yaw=0.1)
            self.assertEqual(run.penalties, 5)
            self.assertEqual(run.sim.put_back, ["thing"])
            thing = run.sim.state.objects.thing
            self.assertEqual({key: thing[key] for key in ("x", "y", "z", "yaw")}, dict(origin))
            self.assertAlmostEqual(
                run.record, run.sim.state.time - run.sim.clock_start + 5, places=6
            )
            run.wait(3)
            self.assertEqual(run.penalties, 5)
            self.assertIn("thing was moved, +5 s", run.log.getvalue())

    def test_object_costs_again_after_one_second(self):
        for run, _ in self.each_kind():
            self.move(run, y=-0.02)
            self.assertEqual(run.penalties, 5)
            run.wait(0.5)
            self.move(run, y=-0.02)
            self.assertEqual(run.penalties, 5)
            run.wait(0.7)
            # An object that moved less than one second after a penalty is put back for free.
            self.assertEqual(run.penalties, 5)
            self.assertEqual(run.sim.put_back, ["thing", "thing"])
            # A move costs a penalty again if it is one second or more after the last penalty.
            self.move(run, x=0.02)
            self.assertEqual(run.penalties, 10)
            self.assertEqual(run.sim.put_back, ["thing"] * 3)

    def test_1_cm_and_4_cm_of_height_are_allowed(self):
        for run, _ in self.each_kind():
            self.move(run, x=0.0095)
            self.move(run, z=0.0395)
            self.move(run, yaw=1.0)
            self.assertEqual(run.penalties, 0)
            self.move(run, z=0.001)
            self.assertEqual(run.penalties, 5)
            run.wait(1.1)
            self.move(run, z=-0.041)
            self.assertEqual(run.penalties, 10)

    def test_each_moved_object_costs_a_penalty(self):
        objects = [(f"thing{i}", kind, 1.0 + i, 1.0) for i, kind in enumerate(KINDS)]
        run = Run(objects=objects)
        run.drive_to(0.5)
        for name in run.sim.objects:
            run.sim.place_object(name, x=3.0, y=9.0)
        run.observe()
        self.assertEqual(run.penalties, 5 * len(KINDS))

    def test_immovable_objects_are_not_judged(self):
        run = Run(objects=[("wall_0", "wall", 1.0, 1.0)])
        del run.sim.state.objects["wall_0"]
        run.drive_to(30)
        self.assertEqual(run.sim.finished, 1)

    def test_object_near_a_put_back_car_costs_nothing(self):
        stadium = Stadium()
        x, y, _ = stadium.place(1.4)
        run = Run(stadium, objects=[("thing", "box", x, y), ("far", "box", 1.0, 1.0)])
        run.drive_to(0.5)
        run.carry_to(1.0, 0.5)
        self.move(run, x=0.1)
        self.assertEqual(run.penalties, 5)
        run.sim.place_object("far", x=1.1)
        run.observe()
        self.assertEqual(run.penalties, 10)
        run.wait(1.1)
        self.assertEqual(run.penalties, 10)
        self.assertAlmostEqual(run.sim.state.objects.thing.x, x)


class ProgramEnd(LapTime):
    def ended(self, run, exit_code=0):
        run.sim.state["run"] = View(running=False, exit_code=exit_code)

    def test_a_failing_program_ends_the_run_at_once_without_a_result(self):
        for exit_code, says in (
            (1, "the program ended with exit status 1"),
            (127, "the program ended with exit status 127"),
            (-9, "the program was ended by signal 9"),
        ):
            with self.subTest(exit_code=exit_code):
                run = Run()
                run.drive_to(3)
                self.assertIsNotNone(run.record)
                count = len(run.sim.records)
                self.ended(run, exit_code)
                run.wait(1)
                self.assertEqual((run.record, run.sim.finished), (None, 1))
                self.assertEqual(len(run.sim.records), count + 1)
                last = run.log.getvalue().splitlines()[-1]
                self.assertEqual(last, f"{run.sim.state.time:.2f} s: {says}, so there is no result")

    def test_a_failing_program_ends_the_run_while_the_car_still_rolls(self):
        run = Run()
        run.drive_to(1)
        self.ended(run, 1)
        run.drive_to(2)
        self.assertEqual((run.record, run.sim.finished), (None, 1))
        self.assertLess(run.along, 1.1)

    def test_no_result_after_standing_still_for_5_s(self):
        run = Run()
        run.drive_to(3)
        self.ended(run)
        run.wait(4.9)
        self.assertEqual(run.sim.finished, 0)
        self.assertIsNotNone(run.record)
        count = len(run.sim.records)
        run.wait(0.2)
        self.assertEqual(run.sim.finished, 1)
        self.assertIsNone(run.record)
        self.assertLessEqual(len(run.sim.records) - count, 6)
        self.assertIn("the car has stood still for 5 s, so there is no result", run.log.getvalue())

    def test_no_result_if_the_clock_never_started(self):
        run = Run()
        self.ended(run)
        run.wait(6)
        self.assertEqual((run.sim.records, run.sim.finished), ([None], 1))

    def test_car_that_still_rolls_can_finish(self):
        run = Run()
        run.drive_to(1)
        self.ended(run)
        for along in range(2, 16):
            run.wait(3)
            run.drive_to(along)
        self.assertEqual(run.sim.finished, 1)
        self.assertGreater(run.record, run.stadium.length)

    def test_standing_still_counts_from_the_end_of_the_program(self):
        # A program may send a command just before it ends, so the car may start to move after the
        # end.
        run = Run()
        run.drive_to(3)
        run.wait(60)
        self.assertEqual(run.sim.finished, 0)
        self.ended(run)
        run.wait(1)
        self.assertEqual(run.sim.finished, 0)

    def test_run_without_a_program_does_not_end_by_standing_still(self):
        run = Run()
        run.sim.state["run"] = View(running=False, exit_code=None)
        run.wait(30)
        self.assertEqual((run.sim.records, run.sim.finished), ([], 0))
        run.drive_to(30)
        self.assertEqual(run.sim.finished, 1)


class Nearest(unittest.TestCase):
    def test_a_search_that_skips_segments_finds_the_same_point(self):
        script, random = runpy.run_path(str(TEMPLATE)), Random(1)
        for radius in (0.3, 1.0, 4.0):
            stadium = Stadium(radius=radius)
            for inwards in (-0.2, 0.0, 0.2):
                line = script["segments"](stadium.line(inwards))
                for _ in range(300):
                    near = random.choice(line)
                    spread = random.choice((0.01, 0.3, 5.0, 100.0))
                    x, y = (middle + random.gauss(0, spread) for middle in near[1:3])
                    part = random.choice((0.0, random.random(), random.uniform(-2, 2)))
                    self.assertEqual(
                        script["nearest"](line, x, y, part), nearest_of_all(line, x, y)
                    )

    def test_a_search_ends_for_a_place_that_is_not_a_number(self):
        script = runpy.run_path(str(TEMPLATE))
        line = script["segments"](Stadium().line())
        self.assertEqual(script["nearest"](line, math.nan, 0.0, 0.0)[0], math.inf)


def nearest_of_all(line, x, y):
    """Computes the same as `nearest` of the judging script, but always looks at all segments."""
    least = (math.inf, 0.0)
    for before, ax, ay, dx, dy, length in line:
        t = min(max((x - ax) * dx + (y - ay) * dy, 0.0), length)
        square = (ax + t * dx - x) ** 2 + (ay + t * dy - y) ** 2
        if square < least[0]:
            least = (square, before + t)
    return math.sqrt(least[0]), least[1]


class Imports(unittest.TestCase):
    def test_script_imports_only_the_standard_library(self):
        tree = ast.parse(TEMPLATE.read_text(encoding="utf-8"), feature_version=(3, 11))
        imports = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
        self.assertEqual(
            [ast.unparse(n) for n in imports], ["import math", "from bisect import bisect"]
        )
