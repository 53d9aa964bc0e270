"""Writes the packages of a release.

The same program, module and sources give the same bytes: files are sorted, belong to root, and have
the time of the last commit (or `SOURCE_DATE_EPOCH`).
"""

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

from . import deb, elf, licences, sbom
from .archive import gz, tar
from .epoch import release_time
from .parts import all_parts
from .tree import program_files, stripped
from .wheel import write_wheel

ROOT = Path(__file__).resolve().parents[2]
CONTAINER = ("Containerfile", "compose.yaml", "entrypoint")


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


def build(root: Path, program: Path, module: Path, maturin: Path, out: Path) -> list[Path]:
    """Writes all packages to the empty folder `out`, and returns them."""
    epoch, version = release_time(root), program_version(program)
    parts = all_parts(root)
    listed = sbom.text(sbom.document(version, parts, epoch))
    third_party = licences.collected(parts, (root / "LICENSE").read_text())
    files = program_files(root, program, third_party, listed)
    small = files["bin/chicane"].content
    if elf.machine(small) != "x86_64":
        raise ValueError("the program is not for x86_64")
    glibc = ".".join(map(str, elf.oldest_glibc(small)))
    top = f"chicane-{version}-x86_64-linux"
    written = {
        f"{top}.tar.gz": gz(tar({f"{top}/{path}": file for path, file in files.items()}, epoch)),
        f"chicane_{version}_amd64.deb": deb.package(root, version, glibc, files, epoch),
        f"chicane-{version}.cdx.json": listed.encode(),
        **{name: (root / "packaging/container" / name).read_bytes() for name in CONTAINER},
    }
    for name, content in written.items():
        (out / name).write_bytes(content)
    (out / "entrypoint").chmod(0o755)
    wheel = write_wheel(root, maturin, (small, stripped(module)), third_party, epoch, out)
    names = sorted([*written, wheel.name])
    sums = [f"{hashlib.sha256((out / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (out / "SHA256SUMS").write_text("".join(sums))
    return [out / name for name in [*names, "SHA256SUMS"]]


def main() -> int:
    parser = argparse.ArgumentParser(prog="release", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("program", type=Path, help="the built program chicane")
    parser.add_argument("module", type=Path, help="the built Python module, libchicane_native.so")
    parser.add_argument("maturin", type=Path, help="the program maturin, which builds the wheel")
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
        written = build(ROOT, given.program, given.module, given.maturin.absolute(), given.out)
    except ValueError as error:
        print(f"make dist: {error}", file=sys.stderr)
        return 1
    for file in written:
        print(f"{file.stat().st_size:>12,}  {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
