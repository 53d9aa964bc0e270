"""The Debian package has its parts in the right form, and dpkg-deb reads it."""

import io
import lzma
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

from release import deb
from release.archive import File

ROOT = Path(__file__).resolve().parents[2]
BELOW = {
    "bin/chicane": File(b"\x7fELF", 0o755),
    "share/man/man1/chicane.1": File(b".TH chicane 1\n"),
    "share/zsh/site-functions/_chicane": File(b"#compdef chicane\n"),
    "share/doc/chicane/LICENSE": File(b"Apache\n"),
    "share/doc/chicane/CHANGELOG.md": File(b"# Changes\n"),
    "share/doc/chicane/chicane.service": File(b"[Unit]\n"),
    "share/doc/chicane/options": File(b""),
}


def members(package):
    """The files of an ar archive."""
    found, at = {}, 8
    while at < len(package):
        name, size = package[at : at + 16].decode().strip(), int(package[at + 48 : at + 58])
        found[name] = package[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
    return found


class Package(unittest.TestCase):
    def setUp(self):
        self.package = deb.package(ROOT, "0.1.0", "2.34", BELOW, 1_700_000_000)

    def archive(self, name):
        content = lzma.decompress(members(self.package)[name])
        return tarfile.open(fileobj=io.BytesIO(content))

    def test_same_input_gives_the_same_bytes(self):
        again = deb.package(ROOT, "0.1.0", "2.34", dict(reversed(BELOW.items())), 1_700_000_000)
        self.assertEqual(again, self.package)

    def test_members_are_in_the_order_that_dpkg_requires(self):
        names = list(members(self.package))
        self.assertEqual(names, ["debian-binary", "control.tar.xz", "data.tar.xz"])

    def test_control_names_the_needed_libraries_and_the_conffile(self):
        with self.archive("control.tar.xz") as archive:
            control = archive.extractfile("./control").read().decode()
            self.assertIn("Depends: libc6 (>= 2.34),", control)
            self.assertEqual(archive.extractfile("./conffiles").read(), b"/etc/default/chicane\n")
            for script in deb.SCRIPTS:
                self.assertEqual(archive.getmember(f"./{script}").mode, 0o755)

    def test_files_are_where_debian_has_them(self):
        with self.archive("data.tar.xz") as archive:
            names = {member.name: member for member in archive if member.isfile()}
        self.assertEqual(
            sorted(names),
            [
                "./etc/default/chicane",
                "./usr/bin/chicane",
                "./usr/lib/systemd/system/chicane.service",
                "./usr/share/doc/chicane/CHANGELOG.md.gz",
                "./usr/share/doc/chicane/copyright",
                "./usr/share/man/man1/chicane.1.gz",
                "./usr/share/zsh/vendor-completions/_chicane",
            ],
        )
        self.assertEqual(names["./etc/default/chicane"].mode, 0o600)

    @unittest.skipUnless(shutil.which("dpkg-deb"), "needs dpkg-deb")
    def test_dpkg_reads_the_package(self):
        with tempfile.NamedTemporaryFile(suffix=".deb") as file:
            file.write(self.package)
            file.flush()
            command = ["dpkg-deb", "--field", file.name, "Package", "Version", "Architecture"]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        self.assertEqual(said, "Package: chicane\nVersion: 0.1.0\nArchitecture: amd64\n")


class Sources(unittest.TestCase):
    def test_scripts_are_valid_shell(self):
        scripts = [ROOT / "packaging/debian" / name for name in deb.SCRIPTS]
        scripts += [ROOT / "packaging/try", ROOT / "packaging/container/entrypoint"]
        scripts += sorted((ROOT / "packaging/trial").glob("*.sh"))
        for script in scripts:
            with self.subTest(script.name):
                done = subprocess.run(["sh", "-n", script], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_documentation_shows_the_unit_as_it_is_installed(self):
        page = (ROOT / "docs/operators.md").read_text()
        shown = re.search(r"```ini\n(\[Unit\].*?)```", page, re.DOTALL)
        self.assertIsNotNone(shown)
        self.assertEqual(shown[1], (ROOT / deb.UNIT).read_text())

    def test_the_unit_allows_what_jails_need(self):
        unit = (ROOT / deb.UNIT).read_text()
        settings = dict(re.findall(r"^(\w+)=(.*)$", unit, re.MULTILINE))
        self.assertEqual((settings["Delegate"], settings["User"]), ("yes", "chicane"))
        for name in (
            "RestrictNamespaces",
            "ProtectHostname",
            "ProtectControlGroups",
            "PrivateUsers",
        ):
            self.assertNotIn(name, settings)


if __name__ == "__main__":
    unittest.main()
