"""A soak: a crowd of clients, viewers and evaluations on a real simulator, and a judge of what
they saw.
"""
