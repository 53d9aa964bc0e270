"""The shapes of the objects in answers and events."""

import math

from .shapes import (
    Shape,
    anything,
    between,
    either,
    flag,
    listed,
    mapped,
    matches,
    maybe,
    number,
    one_of,
    record,
    text,
    whole,
    without,
)

HEX32 = r"[0-9a-f]{32}"
PHASES = ("initializing", "starting", "running", "ended")
OUTCOMES = ("finished", "timeout", "script_error", "stopped", "unsupported")

angle = between(-math.pi - 1e-5, math.pi + 1e-5)
pose_fields = {
    "x": number,
    "y": number,
    "z": number,
    "roll": angle,
    "pitch": angle,
    "yaw": angle,
    "q": listed(number, 4, 4),
}
pose = record(pose_fields)
xyz = record({"x": number, "y": number, "z": number})
point = listed(number, 2, 2)
bounds = record({"minX": number, "maxX": number, "minY": number, "maxY": number})
world_id = maybe(matches(HEX32))
project_id = matches(r"[0-9a-f]{16}")
rev = maybe(matches(r"[0-9a-z]{8,24}"))

_light_fields = {
    "name": text,
    "x": number,
    "y": number,
    "yaw": angle,
    "builtin": one_of(True),
}
_panel = {"panel": record({"px": number, "pz": number, "pitch": number, "lamp_r": number})}
#: A light has `yellow_left` only in the yellow phase.
light: Shape = either(
    without(record(_light_fields | {"state": one_of("red", "green")}, _panel), "yellow_left"),
    record(_light_fields | {"state": one_of("yellow"), "yellow_left": between(0, 60)}, _panel),
)

run = record({"running": flag, "exit_code": maybe(whole)})
state_fields = {
    "world": maybe(text),
    "current": maybe(text),
    "running": flag,
    "websocket": flag,
    "switching": flag,
    "transition": maybe(
        record(
            {
                "kind": one_of("boot", "switch", "respawn", "install"),
                "target": matches(r".+\.world"),
                "progress": between(0, 1),
            }
        )
    ),
    "time": number,
    "paused": flag,
    "rtf": number,
    "vehicle": record(pose_fields | {"speed": number, "steering": number}),
    "contacts": listed(text),
    "objects": mapped(pose),
    "lights": listed(light),
    "overlay": text,
    "overlay_size": between(0.5, 4),
    "overlay_seq": whole,
    "brightness": between(0.2, 2.0),
    "run": run,
    "evaluation": record({"active": flag, "session": maybe(text), "phase": maybe(one_of(*PHASES))}),
}
state = record(state_fields)

session = record(
    {
        "id": text,
        "world": text,
        "world_id": world_id,
        "rev": rev,
        "phase": one_of(*PHASES),
        "outcome": maybe(one_of(*OUTCOMES)),
        "record": anything,
        "reason": maybe(text),
        "better": one_of("lower", "higher"),
        "command": maybe(text),
        "time_limit_s": number,
        "seed": whole,
        "started_at": matches(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"),
        "elapsed_s": number,
        "run": run,
        "log": listed(text, 0, 200),
    }
)
record_fields = {
    "session": text,
    "outcome": maybe(one_of(*OUTCOMES)),
    "record": anything,
    "reason": maybe(text),
    "better": one_of("lower", "higher"),
    "world": text,
    "world_id": world_id,
    "rev": rev,
    "command": maybe(text),
    "time_limit_s": number,
    "seed": whole,
    "started_at": text,
    "ended_at": maybe(text),
    "elapsed_s": number,
    "judge": record({"sha256": matches(r"[0-9a-f]{64}"), "observations": whole, "wait_s": number}),
}

_of_kind = {
    "start": {"world": text, "command": maybe(text), "time_limit_s": number},
    "phase": {"phase": one_of(*PHASES)},
    "record": {"record": anything},
    "log": {"line": text},
    "end": {"outcome": one_of(*OUTCOMES), "record": anything, "reason": maybe(text)},
}
evaluation_event: Shape = either(
    *(
        record({"kind": one_of(kind), "session": text, "time": number} | fields)
        for kind, fields in _of_kind.items()
    ),
    # This event replaces the log lines that exceed the limit.
    record({"kind": one_of("truncated"), "session": text, "time": number}),
)
run_event: Shape = either(
    record({"phase": one_of("start"), "command": text}),
    record({"phase": one_of("log"), "stream": one_of("stdout", "stderr"), "line": text}),
    record({"phase": one_of("log"), "stream": text, "truncated": one_of(True)}),
    record({"phase": one_of("exit"), "exit_code": whole}),
)
EVENTS = {"state": state, "evaluation": evaluation_event, "run": run_event}

#: Events of a project of the world builder.
PROJECT_EVENTS = {
    "revision": record({"revision": whole, "editor": maybe(text)}),
    "editors": record({"count": whole}),
    "deleted": record({}),
}

odom = record(
    {
        "position": xyz,
        "orientation": record({"yaw": number, "quaternion": mapped(number)}),
        "velocity": record({"linear": number, "angular": number}),
        "frame_id": one_of("odom"),
    }
)
imu = record({"acceleration": xyz, "gyro": xyz, "orientation": mapped(number)})
battery = record(
    {"voltage": number, "percentage": number, "current": number, "charging": flag, "present": flag}
)
lidar = record(
    {
        "step": between(0.5, 30),
        "count": whole,
        "range_min": number,
        "range_max": number,
        "ranges": mapped(maybe(number)),
        "meta": mapped(anything),
    }
)
sound = record({"id": text, "kind": text, "volume": between(0, 1), "position": number})
