"""Compares Chicane with other simulators. All of them do the same work, in turns, on one machine.

A contest is one comparison, such as "reset". Its contenders are programs that do the same work.
"""
