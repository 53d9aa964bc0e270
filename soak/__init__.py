"""A soak test: clients, viewers, builders, replays and evaluations use a simulator together.

A class is graded beside the simulator.

A checker then tests the recorded history against the rules of the API.
"""
