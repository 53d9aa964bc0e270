"""A judging script that raises an exception after 0.3 s."""


def initialize(sim):
    pass


def evaluate(sim):
    if sim.state.time > 0.3:
        raise ValueError("as planned")
