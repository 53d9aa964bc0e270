"""Tests of the soak: of its checker above all, which must catch what it is there for."""
