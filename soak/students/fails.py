"""A student's program that ends with an error."""

import sys

print("this goes wrong", file=sys.stderr)
raise SystemExit(3)
