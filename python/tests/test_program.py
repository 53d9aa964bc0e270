"""Tests of `Program`: simulators start, and none is left running."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

import chicane
from chicane import Program, Sim
from chicane.program import find

from .support import PROGRAM, ROOT


def is_alive(pid: int) -> bool:
    """Whether a process runs. A zombie does not count."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def until(condition, seconds: float = 60.0) -> bool:
    """Waits for a condition and returns whether it became true."""
    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > limit:
            return False
        time.sleep(0.02)
    return True


class Programs(unittest.TestCase):
    def test_close_ends_the_simulator_and_removes_its_folder(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch.object(tempfile, "tempdir", folder):
                program = Program("field", program=PROGRAM)
            self.assertEqual(Sim(program.url).status()["current"], "field")
            self.assertEqual(len(os.listdir(folder)), 1)
            program.close()
            self.assertFalse(is_alive(program.pid))
            self.assertEqual(os.listdir(folder), [])
            program.close()

    def test_simulator_ends_if_its_owner_is_killed(self) -> None:
        script = (
            "import sys, time\nfrom chicane import Program\np = Program(program=sys.argv[1])\n"
            "print(p.pid, flush=True)\ntime.sleep(60)"
        )
        environment = os.environ | {"PYTHONPATH": str(ROOT / "python/src")}
        with tempfile.TemporaryDirectory() as folder:
            owner = subprocess.Popen(
                [sys.executable, "-c", script, PROGRAM],
                stdout=subprocess.PIPE,
                env=environment | {"TMPDIR": folder},
            )
            assert owner.stdout
            pid = int(owner.stdout.readline())
            self.assertTrue(is_alive(pid))
            owner.send_signal(signal.SIGKILL)
            owner.wait()
            owner.stdout.close()
            self.assertTrue(until(lambda: not is_alive(pid)), "the simulator still runs")

    def test_simulator_has_its_own_process_group(self) -> None:
        with Program(program=PROGRAM) as program:
            self.assertNotEqual(os.getpgid(program.pid), os.getpgid(0))

    def test_failed_start_raises_with_the_reason(self) -> None:
        with self.assertRaisesRegex(chicane.ProgramError, "nowhere"):
            Program("nowhere", program=PROGRAM)
        with self.assertRaisesRegex(chicane.ProgramError, "No such file"):
            Program(program="/no/such/program")

    def test_environment_settings_are_not_passed_on(self) -> None:
        others = {"CHICANE_TOKEN": "secret-of-another", "CHICANE_LISTEN": "127.0.0.1:1"}
        with mock.patch.dict(os.environ, others), Program(program=PROGRAM) as program:
            self.assertTrue(Sim(program.url).status()["running"])

    def test_find_looks_at_the_variable_and_the_path(self) -> None:
        with mock.patch.dict(os.environ, {"CHICANE": PROGRAM}):
            self.assertEqual(find(), PROGRAM)
        with (
            tempfile.NamedTemporaryFile() as plain,
            mock.patch.dict(os.environ, {"CHICANE": plain.name}),
            self.assertRaisesRegex(chicane.ProgramError, "not an executable file"),
        ):
            find()
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(PROGRAM, f"{folder}/chicane")
            with mock.patch.dict(os.environ, {"CHICANE": "", "PATH": folder}):
                self.assertEqual(find(), f"{folder}/chicane")
            with (
                mock.patch.dict(os.environ, {"CHICANE": "", "PATH": "/nonexistent"}),
                self.assertRaisesRegex(chicane.ProgramError, "install the wheel"),
            ):
                find()
