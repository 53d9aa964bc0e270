"""Judges nothing: the record is a checksum of the exact pose at every observation."""

import struct
import zlib


def initialize(sim):
    sim.sum = 0


def evaluate(sim):
    pose = sim.state.pose
    exact = struct.pack("<4d", sim.state.time, pose.x, pose.y, pose.yaw)
    sim.sum = zlib.crc32(exact, sim.sum)
    sim.record({"checksum": sim.sum, "time_s": sim.state.time, "x": pose.x, "y": pose.y})
    if sim.state.run.exit_code is not None:
        sim.finish()
