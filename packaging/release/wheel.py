"""Packs the wheel with the Python package, the native module and the program `chicane`.

maturin writes the wheel. This program collects the files of the wheel. It also gives maturin the
module that `make build` has compiled, so that maturin does not compile the module again.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from . import licences
from .elf import oldest_glibc
from .parts import all_parts
from .tree import stripped

ROOT = Path(__file__).resolve().parents[2]
# Level of compression. With 9 instead of maturin's default, 6, the wheel is one percent smaller.
COMPRESSION = 9
# The time of all files in a wheel that belongs to no release: the earliest that zip files can have.
FIRST_TIME = 315_532_800


def write_wheel(
    root: Path, maturin: Path, parts: tuple[bytes, bytes], third_party: str, epoch: int, out: Path
) -> Path:
    """Writes the wheel to the folder `out`, and returns its path.

    `parts` are the program and the module, without their symbols. All files have the time `epoch`.
    """
    program, module = parts
    with tempfile.TemporaryDirectory(prefix="chicane-wheel-") as name:
        project = Path(name)
        _collect(root, project, program, third_party)
        compiled, messages = project / "libchicane_native.so", project / "messages"
        compiled.write_bytes(module)
        messages.write_text("".join(json.dumps(one) + "\n" for one in _messages(root, compiled)))
        # The tag of a wheel names the oldest glibc that the wheel supports. maturin derives the tag
        # from the module only. The program may need a newer glibc, so the tag is given here.
        major, minor = oldest_glibc(program)
        command = [str(maturin), "build", "--release", "--out", f"{name}/out"]
        command += ["--compatibility", f"manylinux_{major}_{minor}"]
        command += ["--compression-level", str(COMPRESSION)]
        environment = os.environ | {
            "CARGO": str(root / "packaging/wheel/cargo"),
            "CHICANE_MESSAGES": str(messages),
            "SOURCE_DATE_EPOCH": str(epoch),
        }
        done = subprocess.run(command, cwd=project, env=environment, check=False)
        if done.returncode:
            raise ValueError("maturin could not build the wheel, see above")
        (made,) = (project / "out").glob("*.whl")
        return Path(shutil.copy(made, out))


def _collect(root: Path, project: Path, program: bytes, third_party: str) -> None:
    """Copies everything that belongs in the wheel, except the module, to the folder `project`."""
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


def _messages(root: Path, compiled: Path) -> list[dict[str, Any]]:
    """The messages that cargo would send after it compiled the module to the file `compiled`."""
    command = ["cargo", "metadata", "--locked", "--no-deps", "--format-version=1"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"cargo metadata failed: {done.stderr.strip().splitlines()[-1:]}")
    packages = json.loads(done.stdout)["packages"]
    package = next(one for one in packages if one["name"] == "chicane-native")
    target = next(one for one in package["targets"] if "cdylib" in one["kind"])
    profile = {"opt_level": "3", "debug_assertions": False, "overflow_checks": False, "test": False}
    artifact = {
        "reason": "compiler-artifact",
        "package_id": package["id"],
        "manifest_path": package["manifest_path"],
        "target": target,
        "profile": profile,
        "features": [],
        "filenames": [str(compiled)],
        "executable": None,
        "fresh": True,
    }
    return [artifact, {"reason": "build-finished", "success": True}]


def main() -> int:
    parser = argparse.ArgumentParser(prog="wheel", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("program", type=Path, help="the built program chicane")
    parser.add_argument("module", type=Path, help="the built Python module, libchicane_native.so")
    parser.add_argument("maturin", type=Path, help="the program maturin")
    parser.add_argument("out", type=Path, help="folder for the wheel, which replaces older ones")
    given = parser.parse_args()
    for file in (given.program, given.module):
        if not file.is_file():
            parser.error(f"there is no file {file}: run make build")
    given.out.mkdir(parents=True, exist_ok=True)
    for old in given.out.glob("chicane-*.whl"):
        old.unlink()
    try:
        third_party = licences.collected(all_parts(ROOT), (ROOT / "LICENSE").read_text())
        parts = stripped(given.program), stripped(given.module)
        maturin = given.maturin.absolute()
        print(write_wheel(ROOT, maturin, parts, third_party, FIRST_TIME, given.out))
    except ValueError as error:
        print(f"make wheel: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
