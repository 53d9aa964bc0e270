"""A judging script for another robot. The simulator never runs it."""


def initialize(sim):
    pass


def evaluate(sim):
    sim.finish()
