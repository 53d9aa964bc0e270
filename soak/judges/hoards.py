"""A judging script that allocates memory until the limit."""


def initialize(sim):
    pass


def evaluate(sim):
    heap = []
    while True:
        heap.append(bytearray(8 << 20))
