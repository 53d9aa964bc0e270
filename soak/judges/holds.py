"""A judging script that pauses the world, resumes it, and finishes."""


def initialize(sim):
    sim.held = 0


def evaluate(sim):
    if sim.state.time >= 0.5 and sim.held == 0:
        sim.pause(True)
    if sim.state.paused:
        sim.held += 1
        if sim.held >= 3:
            sim.pause(False)
    if sim.state.time > 1.5:
        sim.record(sim.held)
        sim.finish()
