"""Fails in the middle."""


def initialize(sim):
    pass


def evaluate(sim):
    if sim.state.time > 0.3:
        raise ValueError("as planned")
