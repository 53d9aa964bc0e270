"""Never comes back from a call."""


def initialize(sim):
    pass


def evaluate(sim):
    while sim.state.time > 0.2:
        pass
