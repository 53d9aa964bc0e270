import copy
import json
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

from compare import batches, change, driving, joined, publish, table
from compare.contest import BenchError

from .results import run


class Changes(unittest.TestCase):
    def test_equal_runs_have_no_changes(self):
        self.assertEqual(change.lines(run(mujoco=5.0), run(mujoco=5.0)), [])

    def test_small_changes_are_noise(self):
        self.assertEqual(change.lines(run(mujoco=5.0), run(mujoco=5.3)), [])

    def test_overlapping_quartiles_are_noise(self):
        old, new = run(mujoco=5.0), run(mujoco=7.0)
        new["contests"][0]["entries"][1]["ratio_low"] = 4.9
        self.assertEqual(change.lines(old, new), [])

    def test_better_and_worse_ratios(self):
        better, worse = run(mujoco=8.0), run(mujoco=3.0)
        self.assertEqual(
            change.lines(run(mujoco=5.0), better), ["better: a step, against Mujoco: 5 → 8 ×"]
        )
        self.assertEqual(
            change.lines(run(mujoco=5.0), worse), ["worse: a step, against Mujoco: 5 → 3 ×"]
        )

    def test_better_and_worse_figures_in_which_lower_is_better(self):
        old, new = run(), run()
        new["figures"][0]["figure"] = 50.0
        self.assertEqual(change.lines(old, new), ["worse: start: 20 → 50 ms"])
        self.assertEqual(change.lines(new, old), ["better: start: 50 → 20 ms"])

    def test_new_and_missing_contenders_are_listed(self):
        document = change.lines(run(mujoco=5.0), run(pybullet=9.0))
        self.assertEqual(document, ["new: a step, Pybullet: 9 ×", "gone: step, mujoco"])

    def test_comparison_with_a_quick_run_has_a_warning(self):
        old = run(mujoco=5.0)
        old["quick"] = True
        self.assertIn("quick", change.lines(old, run(mujoco=5.0))[0])


class Tables(unittest.TestCase):
    def test_losses_are_listed_and_marked(self):
        result = run(mujoco=0.5, pybullet=4.0)
        self.assertEqual(table.losses(result), ["- a step: Mujoco is 2 times better."])
        self.assertIn("| Mujoco | 2,000 1/s | **0.50 ×** |", table.markdown(result))
        self.assertIn("| Pybullet | 250 1/s | 4 × |", table.markdown(result))

    def test_other_contenders_of_chicane_are_no_losses(self):
        result = run(client=0.5)
        result["contests"][0]["entries"][1]["ours"] = True
        self.assertEqual(table.losses(result), ["- Nowhere in this run."])

    def test_missing_figures_are_listed(self):
        result = run()
        result["missing"] = ["judge: no Python"]
        self.assertIn("not measured: judge: no Python", table.text(result))
        self.assertIn("Not measured: judge: no Python.", table.markdown(result))


class Publishing(unittest.TestCase):
    def test_publishing_changes_only_the_text_between_the_markers(self):
        page = f"before\n{publish.BEGIN}\nold figures\n{publish.END}\nafter\n"
        once = publish.into(page, run(mujoco=5.0))
        self.assertTrue(once.startswith("before\n") and once.endswith("\nafter\n"))
        self.assertNotIn("old figures", once)
        self.assertEqual(publish.into(once, copy.deepcopy(run(mujoco=5.0))), once)

    def test_page_without_markers_is_refused(self):
        for page in ("nothing", publish.BEGIN, publish.END):
            with self.assertRaises(SystemExit):
                publish.into(page, run())


class Joining(unittest.TestCase):
    def join(self, document: object) -> dict:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "contests.json"
            file.write_text(json.dumps(document))
            return joined.read(file)

    def test_missing_ratios_are_computed_from_the_figures(self):
        ours = {"key": "chicane", "title": "Chicane", "ours": True, "figure": 800.0}
        other = {"key": "racing", "title": "CarRacing", "figure": 200.0}
        contest = {"key": "gym", "title": "driving", "entries": [ours, other]}
        more = self.join({"versions": {"gymnasium": "1"}, "contests": [contest]})
        entry = more["contests"][0]["entries"][1]
        self.assertEqual((entry["ratio"], entry["ours"]), (4.0, False))
        result = run(mujoco=5.0)
        result["contests"] += more["contests"]
        self.assertIn("| CarRacing | 200 steps/s | 4 × |", table.markdown(result))

    def test_malformed_file_is_refused(self):
        for document in (
            [],
            {},
            {"contests": [{}]},
            {"contests": [{"key": "a", "title": "b", "entries": []}]},
        ):
            with self.assertRaisesRegex(BenchError, "cannot read"):
                self.join(document)


class Batches(unittest.TestCase):
    def test_contests_of_speed_memory_and_reset(self):
        found = {
            (cars, threads): [
                {"rate": 1000.0 * cars * threads, "memory_kb": cars, "reset_us": 7.0 / threads}
            ]
            for cars in batches.SIZES
            for threads in batches.THREADS
        }
        speed, memory, reset = batches.contests(found)
        self.assertEqual(len(speed["entries"]), 8)
        self.assertEqual(speed["entries"][1]["title"], "batch of 1, 2 threads")
        self.assertEqual(speed["entries"][-1]["figure"], 1_024_000.0)
        self.assertEqual([entry["figure"] for entry in memory["entries"]], [64, 64, 512, 512])
        self.assertEqual([entry["figure"] for entry in reset["entries"]], [7.0, 3.5])
        self.assertTrue(all(entry["ours"] for entry in speed["entries"]))


class Driving(unittest.TestCase):
    ROWS = (
        ("chicane lidar", "Chicane `Lap-v0`", "ticks", 0.1),
        ("highway", "highway-env", "a formula", 0.2),
        ("broken", "Broken", "nothing", 0.1),
        ("chicane camera", "Chicane, camera", "pictures", 0.1),
        ("carracing", "CarRacing", "pictures from above", 0.02),
    )

    def test_contests_by_steps_and_by_simulated_time(self):
        speed = {
            "chicane lidar": 800.0,
            "highway": 100.0,
            "chicane camera": 60.0,
            "carracing": 120.0,
        }
        asked = []

        def rate(name: str, seconds: float, count: int) -> tuple | None:
            asked.append(name)
            return (speed[name], 0.0) if name in speed else None

        found = driving.measure(self.ROWS, rate, 1.0, 3)
        self.assertEqual(asked.count("broken"), 1)
        steps, time, camera, camera_time = driving.contests(self.ROWS, found)
        self.assertEqual([e["key"] for e in steps["entries"]], ["chicane lidar", "highway"])
        self.assertAlmostEqual(steps["entries"][1]["ratio"], 8.0)
        self.assertAlmostEqual(time["entries"][1]["ratio"], 4.0)
        self.assertAlmostEqual(time["entries"][1]["figure"], 20.0)
        self.assertAlmostEqual(camera["entries"][1]["ratio"], 0.5)
        self.assertAlmostEqual(camera_time["entries"][1]["ratio"], 2.5)
