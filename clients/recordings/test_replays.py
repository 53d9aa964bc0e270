"""Compares the MCAP file of a replayed run with the recording that was made during the run."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from drive import TICK_NS
from mcap.reader import make_reader
from rosbags.highlevel import AnyReader
from simulator import Simulator, wait_for

SCRIPT = """
def evaluate(sim):
    if sim.state.time >= 1 and sim.state.brightness == 1:
        sim.set_brightness(0.5)
        sim.overlay("half as bright")
    if sim.state.time >= 2:
        sim.record(round(sim.state.time, 2))
        sim.finish()
"""
# Keys of the state that a replay does not know. The epoch also counts the movements of the car
# before the run. The other keys describe the session, its program, the real-time factor and pauses
# of the simulator that made the recording.
OWN_KEYS = ("epoch", "rtf", "evaluation", "run", "paused")


def messages_of(file: Path, first_ns: int = 0, last_ns: int = 2**62) -> dict[tuple, bytes]:
    """The messages of a file by topic and time, without those of `/sim/epoch`."""
    with file.open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True)
        return {
            (channel.topic, message.log_time): message.data
            for _, channel, message in reader.iter_messages()
            if channel.topic != "/sim/epoch" and first_ns <= message.log_time <= last_ns
        }


class Replays(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        script = cls.folder / "judge.py"
        script.write_text(SCRIPT)
        recorded = cls.folder / "recorded"
        # The recorder skips images that the machine can't draw in time, so simulated time runs at a
        # quarter of real time.
        options = ["--world", "technical", "--speed", "0.25", "--judge-script", str(script)]
        simulator = Simulator(*options, "--record", str(recorded))
        cls.addClassCleanup(simulator.close)
        simulator.post("/sim/api/evaluation/start", {"seed": 3, "time_limit_s": 60})
        evaluation = lambda: simulator.get("/sim/api/state")["evaluation"]  # noqa: E731
        wait_for("the run", lambda: evaluation()["phase"] == "running")
        simulator.post("/speed", {"value": 0.6})
        simulator.post("/steering", {"value": 0.1})
        wait_for("the end of the session", lambda: not evaluation()["active"])
        cls.record = simulator.get("/sim/api/evaluation/record")
        run = cls.folder / "run.chicane"
        run.write_bytes(simulator.request("/sim/api/evaluation/run?session=last"))
        simulator.stop()
        cls.live = max(recorded.glob("*.mcap"))
        cls.replayed = cls.folder / "replayed.mcap"
        program = os.environ["CHICANE_PROGRAM"]
        subprocess.run([program, "replay", run, "--mcap", cls.replayed], check=True, timeout=120)

    def test_every_message_is_that_of_the_run(self):
        replayed = messages_of(self.replayed)
        last = max(time for _, time in replayed)
        self.assertGreaterEqual(last, 2e9)
        live = messages_of(self.live, last_ns=last)
        self.assertEqual(sorted(live), sorted(replayed))
        for (topic, time), data in replayed.items():
            if topic == "/sim/state":
                mine, other = (
                    {key: value for key, value in json.loads(state).items() if key not in OWN_KEYS}
                    for state in (data, live[topic, time])
                )
                self.assertEqual(mine, other, f"{topic} at tick {time // TICK_NS}")
            else:
                self.assertEqual(data, live[topic, time], f"{topic} at tick {time // TICK_NS}")
        images = [data for (topic, _), data in replayed.items() if topic.endswith("compressed")]
        self.assertGreater(len(images), 20)

    def test_rosbags_reads_the_replay(self):
        with AnyReader([self.replayed]) as reader:
            beams = [
                len(reader.deserialize(data, connection.msgtype).ranges)
                for connection, _, data in reader.messages()
                if connection.topic == "/scan"
            ]
        self.assertGreater(len(beams), 10)
        self.assertEqual(len(set(beams)), 1)

    def test_the_file_names_the_session(self):
        with self.replayed.open("rb") as stream:
            (about,) = make_reader(stream).iter_metadata()
        self.assertEqual(about.metadata["session"], self.record["session"])
        self.assertEqual(about.metadata["outcome"], "finished")


if __name__ == "__main__":
    unittest.main()
