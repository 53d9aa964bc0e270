"""A judging script that ends its own process."""

import os


def initialize(sim):
    pass


def evaluate(sim):
    if sim.state.time > 0.2:
        os._exit(3)
