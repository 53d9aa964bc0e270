import json
import math
import struct
import sys
import unittest
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

from compare import contests, files, mjcf, scene, sdf, urdf
from compare.contest import BenchError, Contender, Contest, Process, run_contest

PROFILE = Path(__file__).parents[2] / "vehicles" / "gen1.json"

# A contender that reports, for each unit of work, the seconds in its first argument.
FAKE = """
import json, sys
print('hello from a library')
print(json.dumps({'ready': True}), flush=True)
for line in sys.stdin:
    order = json.loads(line)
    print(json.dumps({'seconds': float(sys.argv[1]) * order['count']}), flush=True)
"""


def fake(key: str, seconds: float, ours: bool = False) -> Contender:
    return Contender(key, key, [sys.executable, "-c", FAKE, str(seconds)], ours=ours)


class Holding(unittest.TestCase):
    def run_fakes(self, contest: Contest, *taking_part: Contender) -> dict:
        running = {}
        try:
            for c in taking_part:
                running[c.key] = Process(c)
            return run_contest(contest, running, 3, 0.1, lambda text, passing=False: None)
        finally:
            for side in running.values():
                side.close()

    def test_rates_and_ratios(self):
        contest = Contest("step", "a step", "×", ["a", "b"], {"": {"task": "step"}}, each=0.05)
        result = self.run_fakes(contest, fake("a", 0.001, ours=True), fake("b", 0.004))
        a, b = result["entries"]
        self.assertAlmostEqual(a["figure"], 50.0)
        self.assertAlmostEqual(b["figure"], 12.5)
        self.assertAlmostEqual(b["ratio"], 4.0)

    def test_ratio_of_a_contest_in_which_lower_is_better(self):
        contest = Contest("reset", "reset", "µs", ["a", "b"], {"": {"task": "reset"}}, lower=True)
        result = self.run_fakes(contest, fake("a", 0.002), fake("b", 0.001))
        self.assertAlmostEqual(result["entries"][0]["figure"], 2000.0)
        self.assertAlmostEqual(result["entries"][1]["ratio"], 0.5)

    def test_error_names_a_contender_that_ended(self):
        with self.assertRaisesRegex(BenchError, "simulator ended with status 3: oh no"):
            Process(
                Contender(
                    "x",
                    "simulator",
                    [
                        sys.executable,
                        "-c",
                        "import sys; print('oh no', file=sys.stderr); sys.exit(3)",
                    ],
                )
            )


class SameWork(unittest.TestCase):
    def test_scans_of_different_scenes_are_refused(self):
        near, far = [1.0] * 720, [1.5] * 720
        with self.assertRaisesRegex(BenchError, "do not show the same scene"):
            contests.same_work({"a": near, "b": far}, {})
        contests.same_work({"a": near, "b": [1.01] * 720}, {})

    def test_beams_without_a_hit_are_refused(self):
        with self.assertRaises(BenchError):
            contests.same_work({"a": [1.0] * 720, "b": [None] * 720}, {})

    def test_car_that_is_too_slow_is_refused(self):
        with self.assertRaisesRegex(BenchError, "speed_mps is 0.2"):
            contests.same_work({}, {"b": {"speed_mps": 0.2, "radius_m": 0.6}})

    def test_contests_have_only_known_contenders(self):
        there = {c.key for c in contests.contenders("python", "core", Path("scene"), "chicane")}
        for contest in contests.contests():
            self.assertLessEqual(set(contest.contenders), there)


class Scene(unittest.TestCase):
    def test_boxes_are_in_the_yard_without_overlap_and_off_the_circle(self):
        diagonal = scene.BOX_SIDE_M * math.sqrt(2)
        boxes = scene.at_rest()
        self.assertEqual((len(boxes), len(scene.heap())), (50, 50))
        for a, b in combinations(boxes, 2):
            self.assertGreater(math.dist((a.x, a.y), (b.x, b.y)), diagonal)
        car = scene.Car.read(PROFILE)
        for b in boxes:
            self.assertLess(max(abs(b.x), abs(b.y)) + diagonal / 2, scene.HALF_YARD_M)
            self.assertGreater(math.dist((b.x, b.y), (0, car.radius())), car.radius() + 0.6)

    def test_all_formats_are_well_formed_and_have_all_boxes(self):
        car = scene.Car.read(PROFILE)
        world = ElementTree.fromstring(sdf.world("rest", scene.at_rest()))
        self.assertEqual(len(world.findall(".//link[@name='object']")), 50)
        model = ElementTree.fromstring(mjcf.model(car, scene.heap(), True, "f.png", (480, 360)))
        self.assertEqual(len(model.findall("worldbody/body")), 51)
        links = ElementTree.fromstring(urdf.car(car)).findall("link")
        masses = [float(link.find("inertial/mass").get("value")) for link in links]
        self.assertAlmostEqual(sum(masses), car.mass + 2 * 0.01)

    def test_lidar_scans_once_per_step(self):
        with TemporaryDirectory() as folder:
            files.write(Path(folder), PROFILE)
            robot = json.loads((Path(folder) / "robot.json").read_text())
            self.assertEqual(robot["lidar"]["rate_hz"] * scene.STEP_S, 1)
            self.assertTrue((Path(folder) / "rest" / "worlds" / "rest.world").is_file())

    def test_the_route_turned_the_car_away_from_where_the_others_start(self):
        with TemporaryDirectory() as folder:
            files.write(Path(folder), PROFILE)
            content = (Path(folder) / "rest" / "routes" / "rest.npy").read_bytes()
        x, y, next_x, next_y = struct.unpack_from("<4d", content, content.index(b"\n") + 1)
        self.assertEqual((x, y, next_y), (0, 0, 0))
        self.assertGreater(next_x, 0)
