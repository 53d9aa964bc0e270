"""Writes a forged result over the picture of every viewer."""

from cheat import post

post("/overlay", {"text": "Ada: 3.8 s", "ttl": 100, "size": 3})
