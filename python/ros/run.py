"""Runs ROS 2 tests in a new network namespace.

usage: run.py <chicane program> <test module>...
"""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from ros.simulator import enter_namespace


def main() -> int:
    enter_namespace()
    os.environ["CHICANE_PROGRAM"] = os.path.abspath(sys.argv[1])
    names = [f"ros.{name}" for name in sys.argv[2:]]
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    outcome = unittest.TextTestRunner(verbosity=2).run(suite)
    return 0 if outcome.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
