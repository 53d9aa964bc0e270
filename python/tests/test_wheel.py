"""Tests of the wheel: the package works in a new venv without any other file."""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest
import venv
import zipfile
from pathlib import Path
from typing import Any
from unittest import mock

from . import wheel_try
from .support import PROGRAM, ROOT
from .wheel_try import LARGEST_BYTES

MATURIN = str(Path(sys.executable).with_name("maturin"))
MODULE = str(Path(PROGRAM).with_name("libchicane_native.so"))


def build_wheel(folder: Path) -> Path:
    """Builds the wheel as `make wheel` does."""
    command = [sys.executable, "-m", "release.wheel", PROGRAM, MODULE, MATURIN, str(folder)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "packaging")}
    made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return Path(made.stdout.strip())


def description(project: str) -> dict[str, Any]:
    """The table `project` of a project file."""
    text = (ROOT / project / "pyproject.toml").read_text()
    found: dict[str, Any] = tomllib.loads(text)["project"]
    return found


class Wheels(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        given = os.environ.get("CHICANE_WHEEL")
        cls.wheel = Path(given or build_wheel(cls.folder / "dist"))

    def test_installed_wheel_drives_a_lap(self) -> None:
        home = self.folder / "venv"
        venv.create(home, with_pip=True)
        pip = [
            str(home / "bin/pip"),
            "install",
            "--quiet",
            "--no-index",
            "--disable-pip-version-check",
        ]
        subprocess.run([*pip, str(self.wheel)], check=True)
        # In this environment, Python finds neither the checkout nor a simulator, except the one in
        # the wheel.
        environment = {"PATH": f"{home}/bin:/usr/bin:/bin", "HOME": str(self.folder)}
        run = {
            "check": True,
            "stdout": subprocess.PIPE,
            "env": environment,
            "cwd": self.folder,
            "timeout": 300,
        }
        version = subprocess.run([str(home / "bin/chicane"), "--version"], **run).stdout.decode()
        self.assertEqual(version, "chicane 0.1.0\n")
        worlds = subprocess.run([str(home / "bin/chicane"), "check", "oval"], **run).stdout.decode()
        self.assertIn("18.57 m", worlds)
        shutil.copy(ROOT / "examples/lap_by_route.py", self.folder)
        script = (
            "import runpy, sys\nfrom chicane import Program\n"
            "with Program() as program:\n"
            "    sys.argv[1:] = [program.url]\n    runpy.run_path('lap_by_route.py')\n"
        )
        output = subprocess.run([str(home / "bin/python"), "-c", script], **run).stdout.decode()
        self.assertEqual(output, "one lap, step by step\n")
        script = "from chicane import native; print(len(native.worlds()), native.knows('oval'))"
        output = subprocess.run([str(home / "bin/python"), "-c", script], **run).stdout.decode()
        self.assertEqual(output, "7 True\n")

    def test_platform_tag_matches_program_and_module(self) -> None:
        self.assertRegex(
            self.wheel.name, r"^chicane-0\.1\.0-cp311-abi3-manylinux_.*(x86_64|aarch64)\.whl$"
        )
        with zipfile.ZipFile(self.wheel) as archive:
            parts = [
                archive.extract(name, self.folder / "parts")
                for name in ("chicane/bin/chicane", "chicane/native.abi3.so")
            ]
        needed = subprocess.run(["readelf", "-V", *parts], check=True, stdout=subprocess.PIPE)
        newest = max(
            int(word.split(".")[1])
            for word in needed.stdout.decode().split()
            if word.startswith("GLIBC_2.")
        )
        self.assertIn(f"_2_{newest}_", self.wheel.name)

    def test_second_build_has_the_same_bytes(self) -> None:
        self.assertEqual(build_wheel(self.folder / "again").read_bytes(), self.wheel.read_bytes())

    def test_content_of_the_wheel(self) -> None:
        with zipfile.ZipFile(self.wheel) as archive:
            names = archive.namelist()
            program = archive.getinfo("chicane/bin/chicane")
        self.assertTrue(program.external_attr >> 16 & 0o111, "the program is executable")
        for name in (
            "chicane/py.typed",
            "chicane/gym/env.py",
            "chicane/native.abi3.so",
            "chicane/native.pyi",
            "chicane-0.1.0.dist-info/licenses/LICENSE",
            "chicane-0.1.0.dist-info/licenses/THIRD-PARTY-LICENSES.txt",
        ):
            self.assertIn(name, names)
        self.assertFalse([name for name in names if "__pycache__" in name or "tests" in name])
        self.assertLess(self.wheel.stat().st_size, LARGEST_BYTES)

    def test_package_without_a_program_has_no_platform(self) -> None:
        script = "import hatchling.build, sys; print(hatchling.build.build_wheel(sys.argv[1]))"
        made = subprocess.run(
            [sys.executable, "-c", script, str(self.folder)],
            check=True,
            stdout=subprocess.PIPE,
            cwd=ROOT / "python",
        )
        name = made.stdout.decode().strip()
        self.assertEqual(name, "chicane-0.1.0-py3-none-any.whl")
        with zipfile.ZipFile(self.folder / name) as archive:
            names = archive.namelist()
        self.assertFalse(
            [one for one in names if "entry_points" in one or "/bin/" in one or ".so" in one]
        )
        with zipfile.ZipFile(self.wheel) as archive:
            complete = {
                one for one in archive.namelist() if one.endswith((".py", ".pyi", ".typed"))
            }
        pure = {one for one in names if one.endswith((".py", ".pyi", ".typed"))}
        self.assertEqual(pure, complete)

    def test_package_without_a_program_has_the_licence(self) -> None:
        # The licence is a copy and not a link, because a source distribution would contain only the
        # link.
        copy = ROOT / "python/LICENSE"
        self.assertFalse(copy.is_symlink())
        self.assertEqual(copy.read_text(), (ROOT / "LICENSE").read_text())

    def test_both_project_files_describe_the_same_package(self) -> None:
        pure, complete = description("python"), description("packaging/wheel")
        # Only the complete package has the command, the licences of libraries and the module.
        different = {"scripts", "license-files", "requires-python", "readme"}
        for one in different:
            pure.pop(one, None), complete.pop(one)
        self.assertEqual(pure, complete)


class SeveralVersions(unittest.TestCase):
    """Parts of `make wheel-try` that need no package index."""

    def test_interpreters_are_found_on_the_path_and_in_the_folder_of_pyenv(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)

            def script(path: str, text: str) -> None:
                file = folder / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f"#!/bin/sh\n{text}\n")
                file.chmod(0o755)

            script("bin/python3", "echo CPython 3.12 0")
            script("bin/python3.13", "echo pyenv: not chosen here; exit 127")
            script("bin/pyenv", f"echo {folder}/pyenv")
            script("pyenv/versions/3.11.9/bin/python3.11", "echo CPython 3.11 0")
            script("pyenv/versions/3.11.10/bin/python3.11", "echo CPython 3.11 0")
            script("pyenv/versions/3.13.1/bin/python3.13", "echo CPython 3.13 0")
            script("pyenv/versions/3.14.0/bin/python3.14", "echo CPython 3.14 1")
            with mock.patch.dict(os.environ, {"PATH": f"{folder}/bin"}):
                found = {version: wheel_try.interpreter(version) for version in wheel_try.VERSIONS}
        self.assertEqual(
            found,
            {
                "3.11": f"{folder}/pyenv/versions/3.11.10/bin/python3.11",
                "3.12": f"{folder}/bin/python3",
                "3.13": f"{folder}/pyenv/versions/3.13.1/bin/python3.13",
                "3.14": None,
            },
        )

    def test_digests_are_compared(self) -> None:
        environment = os.environ | {"PYTHONPATH": str(ROOT / "python/src")}
        answers = [wheel_try.simulate(sys.executable, 60, env=environment) for _ in range(2)]
        self.assertEqual(answers[0], answers[1])
        with tempfile.NamedTemporaryFile() as file:
            wheel = Path(file.name)
            self.assertEqual(wheel_try.problems(wheel, answers), [])
            wrong = [answers[0], answers[1] | {"digest": "0"}]
            self.assertIn("different bytes", wheel_try.problems(wheel, wrong)[0])
            self.assertIn("no CPython", wheel_try.problems(wheel, [])[0])
            file.truncate(LARGEST_BYTES)
            self.assertIn("25000000 bytes", wheel_try.problems(wheel, answers)[0])
