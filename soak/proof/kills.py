"""`kill -9` of a simulator at random moments of judged runs."""

import pathlib
import random
import re

from .program import ProofError, Simulator, chicane, records, succeed

#: The judging script records the time of each observation.
SCRIPT = """
def initialize(sim):
    pass


def evaluate(sim):
    sim.record(round(sim.state.time, 2))
    print('at', round(sim.state.time, 2), round(sim.state.pose.x, 4))
"""
VERIFIED = re.compile(r"^verified +\S+: ([0-9.]+) s")


def kill_at_random_moments(program: str, folder: pathlib.Path, world: str, count: int) -> list[str]:
    """Kills a simulator `count` times and returns a line for each kill."""
    chance = random.Random(count)
    return [killed(program, folder, world, number, chance) for number in range(count)]


def killed(
    program: str, folder: pathlib.Path, world: str, number: int, chance: random.Random
) -> str:
    """Kills one simulator, starts it again, and verifies the run up to its last stored second.

    Returns a line for the output. Raises `ProofError` if the run is not verified, or if more than
    its last second is lost.
    """
    data = folder / f"killed{number}"
    simulator = Simulator(program, data, "--world", world, "--speed", "4")
    moment = chance.uniform(0, 12)
    try:
        simulator.start("sleep 1000")
        simulator.elapsed(moment)
        simulator.ask("/speed", {"value": 0.5})
        simulator.ask("/steering", {"value": chance.uniform(-0.3, 0.3)})
        simulator.elapsed(moment + chance.uniform(0, 0.5))
    finally:
        simulator.kill()
    Simulator(program, data, "--world", world).kill()
    record = records(program, data)[0]
    if record["reason"] != "simulator restarted":
        raise ProofError(f"kill {number}: the record says {record['outcome']}, {record['reason']}")
    file = folder / f"killed{number}.chicane"
    succeed(
        program,
        "records",
        "export",
        "--run",
        record["session"],
        "-o",
        str(file),
        "--data-dir",
        str(data),
    )
    verified = chicane(program, "verify", str(file))
    found = VERIFIED.match(verified.stdout)
    if verified.returncode != 0 or found is None:
        raise ProofError(f"kill {number} at {moment:.2f} s: {verified.stdout}{verified.stderr}")
    if float(found[1]) < moment - 1:
        raise ProofError(f"kill {number}: {found[1]} s are verified of {moment:.2f} s")
    return f"killed after {moment:.2f} s, verified {found[1]} s"
