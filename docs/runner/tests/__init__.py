"""Tests of the runner: what it must find wrong, and what it must let pass."""
