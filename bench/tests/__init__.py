"""Tests of what compares us with others: no other simulator is needed for them."""
