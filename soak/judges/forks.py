"""A judging script that starts processes until the limit."""

import os
import time


def initialize(sim):
    pass


def evaluate(sim):
    while True:
        if os.fork() == 0:
            time.sleep(60)
