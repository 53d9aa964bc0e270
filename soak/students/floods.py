"""A student's program that writes output without a pause."""

import sys

while True:
    sys.stdout.write("flood " * 50 + "\n")
    sys.stderr.write("and more\n")
