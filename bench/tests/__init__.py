"""Tests of the comparison with other simulators. They run without those simulators."""
