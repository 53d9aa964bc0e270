"""A judging script for another robot, so it is never run."""


def initialize(sim):
    pass


def evaluate(sim):
    sim.finish()
