"""Writes as fast as it can."""

import sys

while True:
    sys.stdout.write("flood " * 50 + "\n")
    sys.stderr.write("and more\n")
