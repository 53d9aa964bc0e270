"""Starts a session of its own with easier rules, and sends true and invented session ids."""

import json
import os

from cheat import API, post, request

own = os.environ["CHICANE_SESSION"]
post("/evaluation/start", {"command": "true", "time_limit_s": 1, "student": "Ada"})
for session in (own, "0" * 32, f"{own}' OR 1=1 --"):
    headers = {"X-Chicane-Session": session, "Chicane-Session": session}
    post("/pose", {"x": 0, "y": 0, "session": session}, headers=headers)
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        body = {"session": session, "record": 1.0}
        status, _ = request(API + "/evaluation/record", body, method)
        print("gained" if status == 200 else "refused", method, "record", status)
record = json.loads(request(f"{API}/evaluation/record?session={own}")[1])
print("gained" if record.get("record") is not None else "refused", "a record", record.get("record"))
