"""A judging script whose `evaluate` sleeps for 10 ms in each call."""

import time


def initialize(sim):
    pass


def evaluate(sim):
    time.sleep(0.01)
    if sim.state.time > 1:
        sim.record("slept")
        sim.finish()
