"""Grades a class and drives episodes on a real Ray cluster of three nodes.

Usage: CHICANE=<program> python -m unittest discover -s python/cluster
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from nodes import ENVIRONMENT, PROGRAM, ROOT, Nodes


def grade(class_: Path, results: Path, *more: str, **environment: str):
    command = [PROGRAM, "grade", class_, "--world", "oval", "--seeds", "1", "-o", results]
    return subprocess.run(
        [*command, *more],
        capture_output=True,
        text=True,
        timeout=500,
        env=os.environ | ENVIRONMENT | environment,
    )


class Grading(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.submissions = cls.folder / "class"
        maker = ROOT / "crates/cli/tests/grade/make_class.py"
        subprocess.run([sys.executable, maker, cls.submissions, "--six"], check=True)
        cls.local = cls.folder / "local"
        graded = grade(cls.submissions, cls.local)
        assert graded.returncode == 0, graded.stderr
        cls.nodes = Nodes(2, ENVIRONMENT)
        cls.addClassCleanup(cls.nodes.close)

    def assert_as_local(self, results: Path):
        for name in ("grades.json", "report.html"):
            mine, local = (folder / name for folder in (results, self.local))
            self.assertEqual(mine.read_bytes(), local.read_bytes(), name)

    def test_a_cluster_gives_the_same_grades(self):
        results = self.folder / "cluster"
        graded = grade(self.submissions, results, "--ray", self.nodes.address)
        self.assertEqual(graded.returncode, 0, graded.stderr)
        self.assert_as_local(results)
        verified = subprocess.run([PROGRAM, "verify", results / "runs"], capture_output=True)
        self.assertEqual(verified.returncode, 0, verified.stdout)

    def test_nothing_is_lost_when_a_worker_is_killed(self):
        """One of two workers is killed as soon as the first result has arrived."""
        nodes = Nodes(2, ENVIRONMENT)
        self.addCleanup(nodes.close)
        results, is_over = self.folder / "killed", threading.Event()

        def kill_in_the_middle():
            while not is_over.is_set():
                if list(results.glob("cache/*/result.json")):
                    nodes.kill_worker()
                    return
                is_over.wait(0.01)

        killer = threading.Thread(target=kill_in_the_middle)
        killer.start()
        try:
            graded = grade(self.submissions, results, "--ray", nodes.address)
        finally:
            is_over.set()
            killer.join()
        self.assertEqual(graded.returncode, 0, graded.stderr)
        self.assertEqual(len(nodes.nodes), 2, "no worker was killed")
        self.assert_as_local(results)
        stored = sorted(path.name for path in (results / "cache").iterdir())
        self.assertEqual(stored, sorted({*stored}))
        self.assertEqual(len(stored), len(list((self.local / "cache").iterdir())))

    def test_a_node_of_another_version_is_refused_with_both_versions(self):
        results = self.folder / "version"
        planned = grade(self.submissions, results, "--plan-only")
        self.assertEqual(planned.returncode, 0, planned.stderr)
        plan = json.loads((results / "plan.json").read_text())
        own, plan["chicane"]["version"] = plan["chicane"]["version"], "9.8.7"
        (results / "plan.json").write_text(json.dumps(plan))
        run = subprocess.run(
            [sys.executable, "-m", "chicane.cluster", results, "--address", self.nodes.address],
            capture_output=True,
            text=True,
            timeout=300,
            env=os.environ | ENVIRONMENT,
        )
        self.assertEqual(run.returncode, 1, run.stderr)
        last = run.stderr.strip().splitlines()[-1]
        self.assertIn("9.8.7", last)
        self.assertIn(own, last)

    def test_a_missing_cluster_or_ray_is_explained(self):
        graded = grade(self.submissions, self.folder / "none", "--ray", "127.0.0.1:1")
        self.assertEqual(graded.returncode, 1, graded.stderr)
        self.assertIn("there is no Ray cluster at '127.0.0.1:1'", graded.stderr)
        # The system's Python has no Ray. It finds the package chicane, but no package of the venv.
        python = f"/usr/bin/{Path(sys.base_prefix, 'bin/python3').resolve().name}"
        python = python if Path(python).exists() else str(Path(sys.base_prefix) / "bin/python3")
        without = grade(
            self.submissions, self.folder / "none", "--ray", "auto", CHICANE_PYTHON=python
        )
        self.assertIn("Ray is not installed: pip install 'chicane[ray]'", without.stderr)


class Rollouts(unittest.TestCase):
    CODE = """
import sys
import numpy as np
from chicane.cluster import Fleet

def act(policy, seen):
    speed, steering = np.tanh(policy.reshape(2, -1) @ np.append(seen, 1.0))
    return np.array([0.8 + 0.6 * speed, 0.349 * steering], np.float32)

def drive(workers):
    policies = list(np.random.default_rng(1).standard_normal((5, 20)))
    with Fleet(observation="state", time_limit_s=3, workers=workers, address=sys.argv[1]) as fleet:
        episodes = fleet.rollouts(act, policies, seeds=range(5), keep_steps=True)
    assert [episode.seed for episode in episodes] == list(range(5))
    return [(e.total, e.steps, np.array(e.observations).tobytes()) for e in episodes]

one, two = drive(1), drive(2)
assert one == two, "the episodes depend on the number of workers"
assert len({total for total, _, _ in one}) == 5
print("equal")
"""

    def test_episodes_do_not_depend_on_the_number_of_workers(self):
        nodes = Nodes(1, ENVIRONMENT)
        self.addCleanup(nodes.close)
        run = subprocess.run(
            [sys.executable, "-c", self.CODE, nodes.address],
            capture_output=True,
            text=True,
            timeout=300,
            env=os.environ | ENVIRONMENT,
            cwd=ROOT,
        )
        self.assertEqual(run.stdout.strip().splitlines()[-1:], ["equal"], run.stderr)


if __name__ == "__main__":
    unittest.main()
