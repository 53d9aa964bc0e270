"""A judging script whose functions take long."""

import time


def initialize(sim):
    pass


def evaluate(sim):
    time.sleep(0.01)
    if sim.state.time > 1:
        sim.record("slept")
        sim.finish()
