"""The other simulators, from PyPI, in an environment of their own, pinned by `requirements.txt`."""

import hashlib
import subprocess
import sys
import venv
from pathlib import Path

_WANTED = Path(__file__).with_name("requirements.txt")


def prepare(folder: Path, tell) -> str:
    """Makes it, or makes it anew when the pins changed; gives its Python."""
    python, mark = folder / "bin" / "python", folder / "pins"
    wanted = hashlib.sha256(_WANTED.read_bytes() + sys.version.encode()).hexdigest()
    if mark.exists() and mark.read_text() == wanted:
        return str(python)
    tell("installing the other simulators from PyPI, once (some 150 MB)")
    venv.create(folder, with_pip=True, clear=True)
    # Every package is named with its version: nothing is left to be chosen on the day.
    words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    words += ["-r", str(_WANTED)]
    if subprocess.run([str(python), *words], check=False).returncode != 0:
        raise SystemExit(
            "bench: the other simulators could not be installed: is PyPI or a mirror in reach?"
        )
    mark.write_text(wanted)
    return str(python)


_SHOWN = {
    "mujoco": "MuJoCo",
    "pybullet": "PyBullet",
    "gymnasium": "Gymnasium",
    "highway-env": "highway-env",
    "metadrive-simulator": "MetaDrive",
}


def versions(file: Path = _WANTED) -> dict:
    """What is compared with, by the pins."""
    pins = (line.partition("==") for line in file.read_text().splitlines() if "==" in line)
    found = ((name.partition("[")[0].strip().lower(), version) for name, _, version in pins)
    return {_SHOWN[n]: v.split()[0].rstrip(";") for n, v in found if n in _SHOWN}
