"""Prints the name of every variable, and looks for secrets of the teacher."""

import os

from cheat import note

for name, value in os.environ.items():
    note("hunter2" in value, f"variable {name}")
