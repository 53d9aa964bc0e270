"""Takes memory until there is none."""


def initialize(sim):
    pass


def evaluate(sim):
    heap = []
    while True:
        heap.append(bytearray(8 << 20))
