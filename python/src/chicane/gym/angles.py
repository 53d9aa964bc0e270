"""Trigonometry for the geometry of a road.

The functions of the native module give the same bits on every machine, and the native environments
use them. Where that module is missing, the functions of Python's `math` are used.
"""

import math

try:
    from chicane.native import atan2, cos, sin
except ImportError:
    from math import atan2, cos, sin


def micro(value: float) -> float:
    """Returns the nearest millionth.

    A command is rounded in this way, because a number with few digits has an exact JSON text.
    """
    return math.floor(value * 1e6 + 0.5) / 1e6


__all__ = ["atan2", "cos", "micro", "sin"]
