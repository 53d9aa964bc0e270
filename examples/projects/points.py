"""Judges a run by the driven distance in metres; longer is better."""

import math

last = None
metres = 0.0


def initialize(sim):
    sim.overlay("Drive as far as you can", 5, 1)


def evaluate(sim):
    global last, metres
    here = (sim.state.pose.x, sim.state.pose.y)
    if last is not None:
        metres += math.dist(last, here)
    last = here
    sim.record(round(metres, 2))
