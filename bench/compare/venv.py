"""Installs the other simulators from PyPI in a venv. `requirements.txt` pins their versions."""

import hashlib
import subprocess
import sys
import venv
from pathlib import Path

_WANTED = Path(__file__).with_name("requirements.txt")


def prepare(folder: Path, progress) -> str:
    """Creates the venv, or recreates it if the pins changed. Returns the path of its Python."""
    python, mark = folder / "bin" / "python", folder / "pins"
    wanted = hashlib.sha256(_WANTED.read_bytes() + sys.version.encode()).hexdigest()
    if mark.exists() and mark.read_text() == wanted:
        return str(python)
    progress("installing the other simulators from PyPI (once, about 150 MB)")
    venv.create(folder, with_pip=True, clear=True)
    # With --no-deps pip installs only the packages that requirements.txt pins.
    words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    words += ["-r", str(_WANTED)]
    if subprocess.run([str(python), *words], check=False).returncode != 0:
        raise SystemExit(
            "bench: cannot install the other simulators: check the connection to PyPI or a mirror"
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
    """Names and versions of the other simulators, from the pins."""
    pins = (line.partition("==") for line in file.read_text().splitlines() if "==" in line)
    found = ((name.partition("[")[0].strip().lower(), version) for name, _, version in pins)
    return {_SHOWN[n]: v.split()[0].rstrip(";") for n, v in found if n in _SHOWN}
