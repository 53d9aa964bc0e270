"""A judging script that finishes after half a second."""


def initialize(sim):
    pass


def evaluate(sim):
    sim.record(sim.state.time)
    if sim.state.time >= 0.5:
        sim.finish()
