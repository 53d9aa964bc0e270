"""A judging script that prints too much."""


def initialize(sim):
    pass


def evaluate(sim):
    for _ in range(5000):
        print("x" * 500)
