"""The evaluations of a soak test: judging scripts, student programs and allowed outcomes.

Any client may stop a session, so the outcome `stopped` is always allowed. During a session, clients
may also reset the world, move objects and pause simulated time.
"""

import json
import pathlib
from dataclasses import dataclass
from typing import Any

HERE = pathlib.Path(__file__).parent


@dataclass(frozen=True)
class Scenario:
    """A judging script, and its allowed outcomes in addition to `stopped`."""

    judge: str
    outcomes: tuple[str, ...]
    time_limit_s: int = 20
    #: Parts of the world that the script changes. The rules accept changes of these parts that no
    #: client made.
    touches: tuple[str, ...] = ()
    robot: str = "gen1"
    #: Whether the scenario is too slow for a short soak test.
    slow: bool = False


SCENARIOS = [
    Scenario("finishes", ("finished",)),
    Scenario("meddles", ("finished",), touches=("lights", "brightness", "overlay")),
    Scenario("holds", ("finished",), touches=("clock",)),
    Scenario("never", ("timeout",), time_limit_s=6),
    Scenario("raises", ("script_error",)),
    Scenario("spins", ("script_error",)),
    Scenario("sleeps", ("finished",)),
    Scenario("exits", ("script_error",)),
    Scenario("hoards", ("script_error",)),
    Scenario("forks", ("script_error",), slow=True),
    Scenario("floods", ("script_error",)),
    Scenario("unsupported", ("unsupported",), robot="gen9"),
]
STUDENTS = ["drives", "drives", "fails", "floods", "hides", "deaf", "talks", None, None]

_NODES = [
    (6.9, 3.0),
    (6.511, 3.975),
    (5.45, 4.689),
    (4.0, 4.95),
    (2.55, 4.689),
    (1.489, 3.975),
    (1.1, 3.0),
    (1.489, 2.025),
    (2.55, 1.311),
    (4.0, 1.05),
    (5.45, 1.311),
    (6.511, 2.025),
]


def oval(name: str) -> dict[str, Any]:
    """The parts that all projects of the soak test share: field, fence and track."""
    return {
        "version": 1,
        "name": name,
        "field": {"size": [8, 6], "ground": "grass"},
        "fence": {},
        "track": {"width": 0.6, "nodes": [{"x": x, "y": y} for x, y in _NODES]},
    }


def project(scenario: Scenario, folder: pathlib.Path) -> pathlib.Path:
    """Writes a project with the script of a scenario and returns its path."""
    name = f"soak_{scenario.judge}"
    folder.mkdir(parents=True, exist_ok=True)
    script = (HERE / "judges" / f"{scenario.judge}.py").read_text()
    (folder / f"{name}.py").write_text(script)
    config = {"time_limit_s": scenario.time_limit_s, "robot": scenario.robot}
    document = oval(name) | {
        "objects": [
            {"kind": "light", "name": "signal1", "x": 7.6, "y": 3.6, "yaw": -1.5708},
            {"kind": "light", "name": "signal2", "x": 0.4, "y": 3.6, "yaw": -1.5708},
            {"kind": "box", "name": "box1", "x": 0.6, "y": 0.6},
            {"kind": "cone", "name": "cone1", "x": 4, "y": 3},
        ],
        "evaluation": {"config": config, "script": f"{name}.py"},
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps(document))
    return path


def students(workspace: pathlib.Path, mark: str) -> dict[str, str]:
    """Copies the student programs into the workspace and returns a command for each.

    The file names start with `mark`. The soak test finds the programs' processes by `mark`.
    """
    commands = {}
    for source in sorted((HERE / "students").glob("*.py")):
        target = workspace / f"{mark}_{source.name}"
        target.write_text(source.read_text())
        commands[source.stem] = f"python3 {target.name}"
    return commands
