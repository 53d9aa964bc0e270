"""Tests of the soak test, mainly of its checker: each rule has to detect its violations."""
