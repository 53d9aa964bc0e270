"""A soak test: many clients, viewers and evaluations use a real simulator at the same time.

A checker then tests the recorded history against the rules of the API.
"""
