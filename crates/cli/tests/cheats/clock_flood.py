"""Floods the record with commands, so that a later teleport is no longer recorded."""

from cheat import API, post, request

refused = sum(request(API + "/clock", {"paused": True}, "POST")[0] == 403 for _ in range(3000))
print("refused" if refused == 3000 else "gained", 3000, "clock commands")
post("/pose", {"x": 0, "y": 0})
