"""Writes the packages of a release.

The same program, module and sources give the same bytes: files are sorted, belong to root, and have
the time of the last commit (or `SOURCE_DATE_EPOCH`).
"""

import argparse
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType

from . import deb, licences, sbom
from .archive import gz, tar
from .parts import all_parts
from .tree import program_files, stripped

ROOT = Path(__file__).resolve().parents[2]
CONTAINER = ("Containerfile", "compose.yaml", "entrypoint")


def release_time(root: Path) -> int:
    """The time of the release in seconds since 1970."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None:
        command = ["git", "-C", str(root), "log", "-1", "--format=%ct"]
        given = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    # ar has room for twelve digits, tar for eleven octal ones.
    if not re.fullmatch(r"\d{1,10}", given):
        raise ValueError(
            "SOURCE_DATE_EPOCH must be a number of seconds, or the sources a git repository"
        )
    return int(given)


def program_version(program: Path) -> str:
    """The version that the program prints."""
    said = subprocess.run(
        [program, "--version"], capture_output=True, text=True, check=False
    ).stdout
    found = re.fullmatch(r"chicane (\d+\.\d+\.\d+)\s*", said)
    if not found:
        raise ValueError(
            f"{program} --version printed {said.strip()!r}, expected a version such as 0.1.0"
        )
    return found[1]


def wheel_backend(root: Path) -> ModuleType:
    """The module that builds the wheel."""
    spec = importlib.util.spec_from_file_location("backend", root / "python/backend.py")
    if spec is None or spec.loader is None:
        raise ValueError("python/backend.py is missing")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def oldest_glibc(backend: ModuleType, program: bytes) -> str:
    """The oldest version of glibc that the program runs with, such as 2.34."""
    found = re.fullmatch(r"manylinux_(\d+)_(\d+)_x86_64", backend.platform(program))
    if not found:
        raise ValueError("the program is not for x86_64, or needs more libraries than glibc")
    return f"{found[1]}.{found[2]}"


def write_wheel(backend: ModuleType, program: bytes, module: Path, licences: str, out: Path) -> str:
    """Writes the wheel, and returns its name."""
    with tempfile.TemporaryDirectory(prefix="chicane-dist-") as folder:
        contents = {
            "CHICANE_BINARY": program,
            "CHICANE_NATIVE": stripped(module),
            "CHICANE_LICENCES": licences.encode(),
        }
        for variable, content in contents.items():
            os.environ[variable] = f"{folder}/{variable}"
            Path(folder, variable).write_bytes(content)
        name: str = backend.build_wheel(str(out))
        return name


def build(root: Path, program: Path, module: Path, out: Path) -> list[Path]:
    """Writes all packages to the empty folder `out`, and returns them."""
    epoch, version, backend = release_time(root), program_version(program), wheel_backend(root)
    parts = all_parts(root)
    listed = sbom.text(sbom.document(version, parts, epoch))
    third_party = licences.collected(parts, (root / "LICENSE").read_text())
    files = program_files(root, program, third_party, listed)
    small = files["bin/chicane"].content
    top = f"chicane-{version}-x86_64-linux"
    written = {
        f"{top}.tar.gz": gz(tar({f"{top}/{path}": file for path, file in files.items()}, epoch)),
        f"chicane_{version}_amd64.deb": deb.package(
            root, version, oldest_glibc(backend, small), files, epoch
        ),
        f"chicane-{version}.cdx.json": listed.encode(),
        **{name: (root / "packaging/container" / name).read_bytes() for name in CONTAINER},
    }
    for name, content in written.items():
        (out / name).write_bytes(content)
    (out / "entrypoint").chmod(0o755)
    names = sorted([*written, write_wheel(backend, small, module, third_party, out)])
    sums = [f"{hashlib.sha256((out / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (out / "SHA256SUMS").write_text("".join(sums))
    return [out / name for name in [*names, "SHA256SUMS"]]


def main() -> int:
    parser = argparse.ArgumentParser(prog="release", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("program", type=Path, help="the built program chicane")
    parser.add_argument("module", type=Path, help="the built Python module, libchicane_native.so")
    parser.add_argument(
        "out", type=Path, help="folder to write: new, empty, or with an earlier result"
    )
    given = parser.parse_args()
    for file in (given.program, given.module):
        if not file.is_file():
            parser.error(f"there is no file {file}: run make build")
    # Only an earlier result is replaced, because a wrong argument must not delete other files.
    if given.out.exists() and any(given.out.iterdir()):
        if not (given.out / "SHA256SUMS").is_file():
            parser.error(f"{given.out} has other files: give a new folder")
        shutil.rmtree(given.out)
    given.out.mkdir(parents=True, exist_ok=True)
    try:
        written = build(ROOT, given.program, given.module, given.out)
    except ValueError as error:
        print(f"make dist: {error}", file=sys.stderr)
        return 1
    for file in written:
        print(f"{file.stat().st_size:>12,}  {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
