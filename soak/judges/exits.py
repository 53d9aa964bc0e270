"""Leaves by the back door."""

import os


def initialize(sim):
    pass


def evaluate(sim):
    if sim.state.time > 0.2:
        os._exit(3)
