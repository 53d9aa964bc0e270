"""The files of a package below its prefix, such as `/usr` or `/usr/local`."""

import os
import subprocess
import tempfile
from pathlib import Path

from .archive import File, Files
from .deb import UNIT

# The completions of each shell: name that the program writes, and where the shell looks for it.
COMPLETIONS = {
    "chicane.bash": "share/bash-completion/completions/chicane",
    "_chicane": "share/zsh/site-functions/_chicane",
    "chicane.fish": "share/fish/vendor_completions.d/chicane.fish",
}
MOST_PAGES = 200


def generated(program: Path) -> Files:
    """The man pages and completions, which the program itself writes."""
    with tempfile.TemporaryDirectory(prefix="chicane-dist-") as folder:
        # Of the environment, the program gets only PATH: the value of another variable could appear
        # as the default of an option.
        command = [str(program.resolve()), "__package", folder]
        done = subprocess.run(
            command, env={"PATH": os.defpath}, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise ValueError(f"{program} can't write its man pages: {done.stderr.strip()}")
        pages = sorted(Path(folder, "man").glob("*.1"))
        if not 0 < len(pages) <= MOST_PAGES:
            raise ValueError(f"{program} wrote {len(pages)} man pages, expected 1 to {MOST_PAGES}")
        files = {f"share/man/man1/{page.name}": File(page.read_bytes()) for page in pages}
        for name, place in COMPLETIONS.items():
            files[place] = File(Path(folder, "completions", name).read_bytes())
        return files


def stripped(program: Path) -> bytes:
    """A program without its symbols."""
    with tempfile.TemporaryDirectory(prefix="chicane-dist-") as folder:
        small = Path(folder, "program")
        subprocess.run(
            ["strip", "--enable-deterministic-archives", "-o", small, program], check=True
        )
        return small.read_bytes()


def program_files(root: Path, program: Path, third_party: str, sbom: str) -> Files:
    """The files that every package has, with paths below its prefix."""
    documents = {
        "LICENSE": (root / "LICENSE").read_bytes(),
        "CHANGELOG.md": (root / "CHANGELOG.md").read_bytes(),
        "THIRD-PARTY-LICENSES.txt": third_party.encode(),
        "sbom.cdx.json": sbom.encode(),
        "chicane.service": (root / UNIT).read_bytes(),
        "options": (root / "packaging/debian/default").read_bytes(),
    }
    return {
        "bin/chicane": File(stripped(program), 0o755),
        **generated(program),
        **{f"share/doc/chicane/{name}": File(content) for name, content in documents.items()},
    }
