"""Chicane beside other simulators: the same work, in turns, in one run on one machine."""
