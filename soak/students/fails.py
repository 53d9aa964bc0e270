"""Ends with an error of its own."""

import sys

print("this goes wrong", file=sys.stderr)
raise SystemExit(3)
