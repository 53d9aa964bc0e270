"""Tests of the comparison with other simulators. They need none of those simulators."""
