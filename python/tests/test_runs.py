"""Tests of `load_run`: a recorded run as arrays."""

import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
from chicane import ProgramError, load_run

from .support import PROGRAM

DRIVE = "0,0.5,0\n1,0.8,0.2\n"


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.file = Path(cls.folder.name) / "run.chicane"
        drive = Path(cls.folder.name) / "drive.csv"
        drive.write_text(DRIVE)
        command = [PROGRAM, "evaluate", "--world", "oval", "--drive", drive, "--time-limit", "2"]
        command += ["--save", cls.file]
        subprocess.run(command, check=False, capture_output=True, timeout=120)

    def test_a_run_has_its_poses_commands_and_events(self) -> None:
        run = load_run(self.file, program=PROGRAM)
        self.assertEqual(run.record["outcome"], "timeout")
        self.assertEqual(run.events[0]["kind"], "start")
        self.assertEqual(run.events[-1]["kind"], "end")
        np.testing.assert_allclose(np.diff(run.time)[:-1], 0.02, atol=1e-9)
        self.assertEqual(run.position.shape, (len(run.time), 3))
        self.assertEqual(run.orientation.shape, (len(run.time), 4))
        np.testing.assert_allclose(np.linalg.norm(run.orientation, axis=1), 1, atol=1e-6)
        second = np.searchsorted(run.time, 0.9)
        self.assertAlmostEqual(float(run.speed[second]), 0.5, delta=0.1)
        self.assertEqual(float(run.columns["command_speed"][second]), 0.5)
        # The length of the path, from the positions, matches the mean speed times the duration.
        driven = np.linalg.norm(np.diff(run.position[:, :2], axis=0), axis=1).sum()
        self.assertAlmostEqual(driven, float(np.abs(run.speed).mean() * run.time[-1]), delta=0.05)
        self.assertGreater(run.steering[-1], 0.1)
        self.assertGreater(abs(run.yaw[-1] - run.yaw[0]), 0.1)

    def test_a_changed_or_foreign_file_is_refused(self) -> None:
        content = bytearray(self.file.read_bytes())
        content[len(content) // 2] ^= 1
        for name, text, says in [
            ("changed", bytes(content), "checksum"),
            ("foreign", b"hello", "not a run file"),
        ]:
            path = Path(self.folder.name) / name
            path.write_bytes(text)
            with self.assertRaisesRegex(ValueError, says):
                load_run(path, program=PROGRAM)
        with self.assertRaises(FileNotFoundError):
            load_run(Path(self.folder.name) / "missing", program=PROGRAM)

    def test_a_missing_program_is_reported(self) -> None:
        with self.assertRaisesRegex(ProgramError, "can't be simulated"):
            load_run(self.file, program="/no/such/program")
