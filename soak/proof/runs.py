"""Makes runs of ten kinds in one data folder."""

import json
import pathlib
import random
import re
from collections.abc import Callable

from .program import ProofError, Simulator, chicane, records, succeed

PROGRAMS = pathlib.Path(__file__).parent / "programs"
ROOT = pathlib.Path(__file__).resolve().parents[2]
WORLDS = ("oval", "technical", "slalom", "town", "riverside")


class Series:
    """Makes the runs of a series; `number` is different for each run of a kind."""

    def __init__(self, program: str, folder: pathlib.Path) -> None:
        self.program, self.folder, self.data = program, folder, folder / "data"
        self.workspace = folder / "workspace"
        self.workspace.mkdir(parents=True)
        for name in ("lidar.py", "lockstep.py", "crash.py"):
            (self.workspace / name).write_bytes((PROGRAMS / name).read_bytes())
        self.acting = self.project("acting", (PROGRAMS / "acts.py").read_text())
        self.installed = self.install()

    def kinds(self) -> dict[str, Callable[[int], None]]:
        """The kinds of runs by name."""
        return {
            "lockstep": lambda number: self.command(number, f"python3 lockstep.py {number}"),
            "virtual time": lambda number: self.command(number, f"python3 lidar.py {number}"),
            "real time": lambda number: self.command(
                number, f"python3 lidar.py {number}", "--pace", "real", "--speed", "4"
            ),
            "a crash": lambda number: self.command(number, f"python3 crash.py {number}"),
            "a timeout": self.timeout,
            "a drive file": self.drive,
            "a judge that acts": self.acts,
            "an installed world": self.in_installed_world,
            "another car": self.other_car,
            "clicks in the viewer": self.clicks,
        }

    def project(self, name: str, script: str) -> str:
        """Writes a copy of the oval with another judging script, and returns its path."""
        document = json.loads((ROOT / "worlds/oval.json").read_text())
        config = {"description": name, "better": "higher", "time_limit_s": 20, "robot": "gen1"}
        document |= {"name": name, "evaluation": {"config": config, "script": f"{name}.py"}}
        (self.folder / f"{name}.py").write_text(script)
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(document))
        return str(path)

    def install(self) -> str:
        """Publishes the oval, installs it into the data folder and returns its id."""
        data = ["--data-dir", str(self.data)]
        published = succeed(self.program, "publish", str(ROOT / "worlds/oval.json"), *data)
        found = re.search(r"\b[0-9a-f]{32}\b", published)
        if found is None:
            raise ProofError(f"chicane publish printed no id: {published}")
        succeed(self.program, "worlds", "install", found[0], *data)
        return found[0]

    def evaluate(self, number: int, *arguments: str) -> None:
        """Runs `chicane evaluate`. Accepts any exit status, because it depends on the outcome."""
        seed = ["--seed", str(number), "--data-dir", str(self.data)]
        if "--time-limit" not in arguments:
            seed += ["--time-limit", "6"]
        done = chicane(self.program, "evaluate", "--json", *arguments, *seed)
        if not done.stdout.strip():
            raise ProofError(f"{arguments}: {done.stderr}")

    def command(self, number: int, command: str, *more: str) -> None:
        world = WORLDS[number % len(WORLDS)]
        where = ["--world", world, "--workspace", str(self.workspace)]
        self.evaluate(number, *where, "--command", command, *more)

    def timeout(self, number: int) -> None:
        self.evaluate(number, "--world", "oval", "--time-limit", str(1 + number / 10))

    def drive_file(self, number: int) -> str:
        """Writes a drive file with random commands."""
        chance = random.Random(number)
        rows = [
            f"{0.4 * row:.1f}, {chance.uniform(-0.3, 1.5):.3f}, {chance.uniform(-0.4, 0.4):.3f}"
            for row in range(12)
        ]
        path = self.folder / f"drive{number}.csv"
        path.write_text("\n".join(rows) + "\n")
        return str(path)

    def drive(self, number: int) -> None:
        world = WORLDS[(number + 1) % len(WORLDS)]
        self.evaluate(number, "--world", world, "--drive", self.drive_file(number))

    def acts(self, number: int) -> None:
        self.evaluate(number, "--world", self.acting, "--drive", self.drive_file(number))

    def in_installed_world(self, number: int) -> None:
        self.evaluate(number, "--world", self.installed, "--drive", self.drive_file(number))

    def other_car(self, number: int) -> None:
        """Drives a car with another lidar.

        Its profile still has the generation `gen1`, because the world requires it.
        """
        profile = json.loads((ROOT / "vehicles/gen1.json").read_text())
        profile["lidar"]["beams"] = 360 + 8 * number
        path = self.folder / f"car{number}.json"
        path.write_text(json.dumps(profile))
        robot = ["--robot", str(path)]
        self.evaluate(number, "--world", "oval", *robot, "--drive", self.drive_file(number))

    def clicks(self, number: int) -> None:
        """Moves a box, sets the brightness and pauses as a person would, while a program drives."""
        arguments = ["--world", "oval", "--workspace", str(self.workspace)]
        simulator = Simulator(self.program, self.data, *arguments)
        try:
            simulator.start(f"python3 lidar.py {number}")
            simulator.elapsed(0.0)
            chance = random.Random(number)
            for _ in range(5):
                x, y = chance.uniform(1, 7), chance.uniform(1, 5)
                simulator.ask("/sim/api/models/box1/pose", {"x": x, "y": y})
                simulator.ask("/sim/api/brightness", {"value": chance.uniform(0.5, 1.5)})
                simulator.ask("/sim/api/clock", {"paused": chance.random() < 0.3})
            simulator.ask("/sim/api/clock", {"paused": False})
            simulator.elapsed(1.0)
            simulator.ask("/sim/api/evaluation/stop", {})
            session = "/sim/api/evaluation/session"
            simulator.until("end of the session", session, lambda answer: not answer["active"])
        finally:
            simulator.kill()


def export(program: str, data: pathlib.Path, folder: pathlib.Path) -> list[pathlib.Path]:
    """Exports every run of a data folder into another folder."""
    folder.mkdir(parents=True)
    files = []
    for record in records(program, data):
        file = folder / f"{record['session']}.chicane"
        arguments = ["--run", record["session"], "-o", str(file), "--data-dir", str(data)]
        succeed(program, "records", "export", *arguments)
        files.append(file)
    return files


def falsify(files: list[pathlib.Path], folder: pathlib.Path, count: int) -> None:
    """Writes copies of runs. In each copy, one random bit is changed."""
    folder.mkdir(parents=True)
    chance = random.Random(count)
    for number in range(count):
        content = bytearray(files[number % len(files)].read_bytes())
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        (folder / f"{number}.chicane").write_bytes(content)
