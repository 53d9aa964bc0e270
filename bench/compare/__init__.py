"""Compares Chicane with other simulators: the same work in one run, in turns, on one machine.

A contest is one comparison, such as "reset". Its contenders are programs that do the same work.
"""
