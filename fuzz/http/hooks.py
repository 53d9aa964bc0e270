"""Shortens requests of the fuzzer that would take long: streams, and speeds held for minutes."""

import schemathesis

# Longer durations are replaced by this duration, in simulated seconds.
SHORT_S = 0.02


@schemathesis.hook
def before_call(context, case, **kwargs):
    """Shortens a valid request. Invalid values stay, because they are rejected at once.

    Texts that are numbers become invalid in requests to the robot, see `not_a_number`.
    """
    query = case.query
    if isinstance(query, dict) and str(query.get("stream")).lower() in ("true", "1"):
        query["stream"] = "false"
    body = case.body
    if isinstance(body, dict):
        duration = body.get("duration")
        if isinstance(duration, int | float) and SHORT_S < duration <= 600:
            body["duration"] = SHORT_S
        if not case.path.startswith("/sim/api"):
            for name, value in body.items():
                body[name] = not_a_number(value)


def not_a_number(value):
    """Appends a character to a text that is a number, such as "1.5", so that the text is invalid.

    The robot's API accepts such a text in place of a number. The JSON schema of a number cannot
    express this, so the fuzzer would report an accepted text as an error.
    """
    try:
        float(value if isinstance(value, str) else "text")
    except ValueError:
        return value
    return value + "?"
