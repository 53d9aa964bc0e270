"""The Debian package: a service with its own user. It can be written without Debian's tools."""

import hashlib
from pathlib import Path

from .archive import File, Files, ar, gz, tar, xz

UNIT = "packaging/chicane.service"
SCRIPTS = ("postinst", "prerm", "postrm")
OPTIONS = "etc/default/chicane"
DESCRIPTION = """\
Description: robot-car simulator for teaching and grading
 Chicane simulates a small robot car with camera, lidar, IMU and odometry on a track. Students
 program the car, judging scripts of a teacher judge the runs, and everyone can watch in a browser.
 .
 The package has the program, and a service that runs it as the user chicane."""


def control(version: str, glibc: str, size: int) -> str:
    """The control file. `glibc` is the oldest usable version, `size` is in bytes."""
    fields = {
        "Package": "chicane",
        "Version": version,
        "Architecture": "amd64",
        "Maintainer": "The authors of Chicane <chicane@localhost>",
        "Installed-Size": str(-(-size // 1024)),
        "Depends": f"libc6 (>= {glibc}), libgcc-s1, adduser, apt, ca-certificates",
        "Recommends": "python3, slirp4netns",
        "Section": "science",
        "Priority": "optional",
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items()) + DESCRIPTION + "\n"


def service_files(root: Path, below: Files) -> Files:
    """The files of the package. `below` has the program's files, with paths relative to `/usr`."""
    files: Files = {}
    for path, file in below.items():
        if path in ("share/doc/chicane/chicane.service", "share/doc/chicane/options"):
            continue  # The package installs these two files at other paths, see below.
        # As in all Debian packages, man pages and long texts are compressed. For zsh, Debian has a
        # separate folder for the completions of packages.
        if path.startswith("share/man/") or path.endswith("/CHANGELOG.md"):
            files[f"usr/{path}.gz"] = File(gz(file.content))
        elif path.startswith("share/zsh/site-functions/"):
            files[f"usr/{path.replace('site-functions', 'vendor-completions')}"] = file
        else:
            files[f"usr/{path}"] = file
    licence = files.pop("usr/share/doc/chicane/LICENSE").content
    files["usr/share/doc/chicane/copyright"] = File(copyright_text(licence))
    files["usr/lib/systemd/system/chicane.service"] = File((root / UNIT).read_bytes())
    # Only root may read the file with the options, because it may contain tokens.
    files[OPTIONS] = File((root / "packaging/debian/default").read_bytes(), 0o600)
    return files


def copyright_text(licence: bytes) -> bytes:
    """The file `copyright`, which each Debian package has."""
    head = "Chicane, a robot-car simulator for teaching and grading.\n"
    more = "The licences of the libraries in the program are in THIRD-PARTY-LICENSES.txt.\n\n"
    return (head + more).encode() + licence


def package(root: Path, version: str, glibc: str, below: Files, epoch: int) -> bytes:
    """The bytes of the package."""
    files = service_files(root, below)
    size = sum(len(file.content) for file in files.values())
    sums = [f"{hashlib.md5(files[path].content).hexdigest()}  {path}\n" for path in sorted(files)]
    about = {
        "control": File(control(version, glibc, size).encode()),
        "md5sums": File("".join(sums).encode()),
        "conffiles": File(f"/{OPTIONS}\n".encode()),
        **{name: File((root / "packaging/debian" / name).read_bytes(), 0o755) for name in SCRIPTS},
    }
    members = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.xz", xz(tar(about, epoch, "./"))),
        ("data.tar.xz", xz(tar(files, epoch, "./"))),
    ]
    return ar(members, epoch)
