"""Makes the submissions of a class: good, bad, crashing, hanging and cheating ones.

usage: make_class.py <folder> [--six] [--roster <file>]

`--six` makes six submissions instead of thirty. The files do not depend on time or machine, so the
same class has the same grades.
"""

import argparse
import csv
import io
import os
import pathlib
import zipfile

EXAMPLES = pathlib.Path(__file__).resolve().parents[4] / "examples"
DRIVER = (EXAMPLES / "lap_by_route.py").read_text()

CRASH = """\
import sys
print("<script>alert('report')</script> =HYPERLINK(1)")
print("about to fail: \\x1b[2J \\u202e", file=sys.stderr)
import a_module_that_nobody_has
"""
HANG_SLEEP = "import time\nprint('waiting', flush=True)\ntime.sleep(10**6)\n"
HANG_COMPUTE = "n = 0\nwhile True:\n    n += 1\n"
FLOOD = "for i in range(200_000):\n    print('line', i)\nraise SystemExit(3)\n"
CHEAT = """\
import json, os, urllib.request
url = os.environ["CHICANE_URL"]
def post(path, **body):
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url + path, json.dumps(body).encode(), headers)
    try:
        return urllib.request.urlopen(request).status
    except urllib.error.HTTPError as error:
        return error.code
for x in range(3):
    print("teleport:", post("/sim/api/pose", x=1 + x, y=1, yaw=0))
"""


def changed(old: str, new: str) -> str:
    """Returns the program that drives a lap, with `new` instead of the only occurrence of `old`."""
    if DRIVER.count(old) != 1:
        raise ValueError(f"lap_by_route.py must have {old!r} once")
    return DRIVER.replace(old, new)


HALF_WAY = changed("while driven < length + 1:", "while driven < length / 2:")
HALF_WAY += "raise ValueError('half')\n"


def driver(speed: float) -> str:
    """A program that drives a lap at this speed."""
    return changed("SPEED = 0.8 ", f"SPEED = {speed} ")


def packed(files: dict[str, bytes | str], links: dict[str, str] | None = None) -> bytes:
    """A zip file with these files, and with symbolic links by name and target."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
        for name, target in (links or {}).items():
            entry = zipfile.ZipInfo(name)
            entry.create_system, entry.external_attr = 3, 0o120777 << 16
            archive.writestr(entry, target)
    return out.getvalue()


def moodle(folder: pathlib.Path, name: str, number: int, files: dict[str, bytes | str]) -> None:
    """Writes a submission to a folder that is named as Moodle names such folders."""
    to = folder / f"{name}_{number}_assignsubmission_file_"
    for file, content in files.items():
        path = to / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def six(folder: pathlib.Path) -> None:
    """Makes six submissions: fast, slow, crashing, cheating, without a program, and a zip bomb."""
    moodle(folder, "Ada Lovelace", 101, {"main.py": driver(0.9)})
    (folder / "hoppergrace_LATE_102_5001_race.zip").write_bytes(
        packed({"race/main.py": driver(0.7)})
    )
    moodle(folder, "=Crash & Co <b>", 103, {"main.py": CRASH})
    moodle(folder, "李雷", 104, {"cheat.py": CHEAT, "run.toml": 'command = "python3 cheat.py"\n'})
    moodle(folder, "No Program", 105, {"readme.txt": "see main.py"})
    moodle(folder, "Zip Bomb", 106, {"work.zip": packed({"main.py": b"\n" * (40 << 20)})})


def thirty(folder: pathlib.Path) -> None:
    """Makes the submissions of thirty students."""
    six(folder)
    names = [
        "Émilie du Châtelet",
        "Σοφία Κοβαλέφσκαγια",
        "محمد الخوارزمي",
        "Ṣrīnivāsa Rāmānujan",
        "O'Neil, Shaquille",
    ]
    for i, name in enumerate(names):
        moodle(folder, name, 110 + i, {"main.py": driver(0.6 + 0.08 * i)})
    for i, name in enumerate(["noetheremmy", "turingalan", "johnsonkatherine", "gausscarl"]):
        (folder / f"{name}_{120 + i}_{6000 + i}_main.py").write_text(driver(0.65 + 0.1 * i))
    for i, name in enumerate(["mary_jackson", "edsger_dijkstra", "barbara_liskov"]):
        files = {
            "project/drive.py": driver(0.72 + 0.07 * i),
            "project/run.toml": 'command = "python3 drive.py"\n',
        }
        (folder / f"{name}.zip").write_bytes(packed({**files, "__MACOSX/._drive.py": b"\0"}))
    moodle(folder, "Too Fast", 130, {"main.py": driver(2.4)})
    moodle(folder, "Half Way", 131, {"main.py": HALF_WAY})
    moodle(folder, "Syntax Error", 132, {"main.py": "def drive(:\n"})
    moodle(folder, "Sleeping", 133, {"main.py": HANG_SLEEP})
    moodle(folder, "Computing", 134, {"main.py": HANG_COMPUTE})
    moodle(folder, "Output Flood", 135, {"main.py": FLOOD})
    moodle(
        folder, "Bad Toml", 136, {"main.py": driver(0.8), "run.toml": "command = python3 main.py\n"}
    )
    moodle(folder, "Broken Zip", 137, {"work.zip": packed({"main.py": driver(0.8)})[:-40]})
    moodle(
        folder,
        "Zip Slip",
        138,
        {"work.zip": packed({"main.py": driver(0.8), "../../evil.py": "x"})},
    )
    moodle(folder, "Link Out", 139, {"main.py": driver(0.8)})
    os.symlink("/etc/passwd", folder / "Link Out_139_assignsubmission_file_" / "data.txt")
    (folder / "same_name.zip").write_bytes(packed({"main.py": driver(0.8)}))
    (folder / "Same Name.py").write_text(driver(0.8))


def roster(file: pathlib.Path, number: int) -> None:
    """Writes a list of students as Moodle exports it.

    If `number` is greater than 6, the list also has a student without a submission.
    """
    rows = [
        ("Participant 101", "Ada Lovelace", "ada@example.org", "A"),
        ("Participant 104", "李雷", "li@example.org", "B"),
    ]
    rows.append(("", "Hopper, Grace", "grace@example.org", "A"))
    rows.append(("Participant 103", "=Crash & Co <b>", "=cmd|' /C calc'!A0", "B"))
    rows.append(("Participant 105", "No Program", "no@example.org", "B"))
    rows.append(("Participant 106", "Zip Bomb", "zip@example.org", "B"))
    if number > 6:
        rows.append(("Participant 199", "Absent Student", "absent@example.org", "A"))
    with file.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([("Identifier", "Full name", "Email address", "Section"), *rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--six", action="store_true")
    parser.add_argument("--roster", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True)
    six(arguments.folder) if arguments.six else thirty(arguments.folder)
    if arguments.roster:
        roster(arguments.roster, 6 if arguments.six else 30)


if __name__ == "__main__":
    main()
