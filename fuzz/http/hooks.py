"""Keeps requests of the fuzzer from lasting: no stream, and no speed that is held for minutes."""

import schemathesis

# Simulated seconds.
SHORT = 0.02


@schemathesis.hook
def before_call(context, case, **kwargs):
    """Makes a request that would be right, and would last, a short one."""
    query = case.query
    if isinstance(query, dict) and str(query.get("stream")).lower() in ("true", "1"):
        query["stream"] = "false"
    body = case.body
    if isinstance(body, dict):
        duration = body.get("duration")
        if isinstance(duration, int | float) and SHORT < duration <= 600:
            body["duration"] = SHORT
