"""Proofs of the journal: a hundred runs of different kinds, and `kill -9` at random moments."""
