"""Tests of the runner with correct and incorrect pages."""
