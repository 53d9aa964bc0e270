"""Builds the wheel with the Python package, the native module and the program `chicane`.

maturin compiles the module and writes the wheel. This program collects the other files.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import licences
from .elf import oldest_glibc
from .epoch import release_time
from .parts import all_parts
from .tree import stripped

ROOT = Path(__file__).resolve().parents[2]
# maturin's default is 6. With 9 the wheel is a percent smaller.
COMPRESSION = 9


def write_wheel(root: Path, maturin: Path, program: bytes, third_party: str, out: Path) -> Path:
    """Writes the wheel to the folder `out`, and returns its path.

    `program` is the stripped program. The module is compiled if its sources have changed.
    """
    with tempfile.TemporaryDirectory(prefix="chicane-wheel-") as name:
        project = Path(name)
        _collect(root, project, program, third_party)
        # maturin reads only the module, and the program may need a newer glibc.
        major, minor = oldest_glibc(program)
        command = [str(maturin), "build", "--release", "--out", f"{name}/out"]
        command += ["--compatibility", f"manylinux_{major}_{minor}"]
        command += ["--compression-level", str(COMPRESSION)]
        environment = os.environ | {
            "CARGO": str(root / "packaging/wheel/cargo"),
            "SOURCE_DATE_EPOCH": str(release_time(root)),
        }
        done = subprocess.run(command, cwd=project, env=environment, check=False)
        if done.returncode:
            raise ValueError("maturin could not build the wheel, see above")
        (made,) = (project / "out").glob("*.whl")
        return Path(shutil.copy(made, out))


def _collect(root: Path, project: Path, program: bytes, third_party: str) -> None:
    """Copies everything that is in the wheel, except the module, to the folder `project`."""
    python = root / "python"
    left_out = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(python / "src", project / "src", ignore=left_out)
    inside = project / "src/chicane/bin/chicane"
    inside.parent.mkdir(exist_ok=True)
    inside.write_bytes(program)
    inside.chmod(0o755)
    shutil.copy(python / "README.md", project)
    shutil.copy(root / "LICENSE", project)
    (project / "THIRD-PARTY-LICENSES.txt").write_text(third_party)
    described = (root / "packaging/wheel/pyproject.toml").read_text()
    manifest = json.dumps(str(root / "crates/native/Cargo.toml"))
    described = described.replace(
        "[tool.maturin]\n", f"[tool.maturin]\nmanifest-path = {manifest}\n"
    )
    (project / "pyproject.toml").write_text(described)


def main() -> int:
    parser = argparse.ArgumentParser(prog="wheel", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("program", type=Path, help="the built program chicane")
    parser.add_argument("maturin", type=Path, help="the program maturin")
    parser.add_argument("out", type=Path, help="folder for the wheel, which replaces older ones")
    given = parser.parse_args()
    if not given.program.is_file():
        parser.error(f"there is no file {given.program}: run make build")
    given.out.mkdir(parents=True, exist_ok=True)
    for old in given.out.glob("chicane-*.whl"):
        old.unlink()
    try:
        third_party = licences.collected(all_parts(ROOT), (ROOT / "LICENSE").read_text())
        maturin, program = given.maturin.absolute(), stripped(given.program)
        print(write_wheel(ROOT, maturin, program, third_party, given.out))
    except ValueError as error:
        print(f"make wheel: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
