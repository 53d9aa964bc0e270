"""The operations of the API that the test uses: statuses, error texts, and shapes of answers."""

import re
from dataclasses import dataclass, field
from typing import Any

from . import schemas
from .shapes import (
    Shape,
    anything,
    between,
    flag,
    listed,
    mapped,
    maybe,
    number,
    one_of,
    record,
    text,
    whole,
)

API = "/sim/api"
#: Allowed beginnings of an error text. An empty tuple allows any text of one line.
Texts = tuple[str, ...]

NOT_READY = "world not ready"
SWITCHING = "world switch in progress"
EVALUATING = "evaluation in progress"
YELLOW = "yellow transition in progress"
RUNNING = "already running"


@dataclass(frozen=True)
class Operation:
    """A method with a path."""

    name: str
    pattern: re.Pattern[str]
    #: Shape of the JSON answer. `None` if the answer is not JSON.
    answer: Shape | None
    #: Allowed error statuses with their texts.
    errors: dict[int, Texts] = field(default_factory=dict)
    #: Whether the path belongs to the robot's API, whose errors have another shape.
    robot: bool = False
    content_type: str = "application/json"


def ok(**more: Shape) -> Shape:
    return record({"ok": one_of(True)} | more)


def _make(method: str, path: str, answer: Shape | None, errors: dict[int, Texts], **more: Any):
    pattern = re.compile(re.escape(method) + " " + re.sub(r"<\w+>", "[^/]+", path))
    return Operation(f"{method} {path}", pattern, answer, errors, **more)


def _sim(
    method: str, path: str, answer: Shape | None, errors: dict[int, Texts] | None = None, **more
):
    return _make(method, API + path, answer, errors or {}, **more)


def _robot(
    method: str, path: str, answer: Shape | None, errors: dict[int, Texts] | None = None, **more
):
    return _make(method, path, answer, errors or {}, robot=True, **more)


_clock = {"sim_time": number, "real_time": number, "rtf": number, "paused": flag}
_overlay = {
    "text": text,
    "ttl": between(1, 3600),
    "size": between(0.5, 4),
    "remaining_s": number,
    "seq": whole,
}
_catalogue = {
    "type": one_of("object", "wall", "light"),
    "kind": text,
    "static": flag,
    "movable": flag,
}
_route = {"waypoints": listed(schemas.point)}
_sides = {"inner": listed(schemas.point), "outer": listed(schemas.point)}
_world = record(
    {
        "world": text,
        "world_id": schemas.world_id,
        "rev": schemas.rev,
        "display": text,
        "track": record({"route": maybe(record(_route, _sides)), "bounds": maybe(schemas.bounds)}),
        "objects": mapped(record(_catalogue | {"origin": mapped(number), "size": schemas.xyz})),
        "evaluation": flag,
        "yellow_s": number,
    }
)
_entry = record(
    {
        "name": text,
        "file": text,
        "display": text,
        "world_id": schemas.world_id,
        "size": schemas.point,
        "official": flag,
        "evaluation": flag,
        "deletable": flag,
    }
)
_model = {"name": text, "type": text, "x": number, "y": number, "z": number, "yaw": schemas.angle}
_commanded = record({"success": one_of(True), "value": number, "message": maybe(text)})
_project_fields = {"id": schemas.project_id, "revision": whole, "updated": text}
_project_entry = record(
    _project_fields
    | {"name": text, "display_name": text, "width": number, "height": number}
    | {"nodes": whole, "objects": whole, "errors": whole, "warnings": whole}
)
_project = record(
    _project_fields
    | {"document": mapped(anything), "files": listed(record({"name": text, "bytes": whole}))}
)
_finding = record({"rule": text, "severity": one_of("error", "warning"), "text": text})
_published = {"world_id": schemas.world_id, "link": text}
_none: Texts = ()
_bad = {400: _none}
_bad_robot = {422: _none, 409: (NOT_READY,)}
_loads = {409: (SWITCHING, EVALUATING), 422: _none}
_wait = {
    503: ("No odometry data", "No battery data", "No IMU data", "No scan data", "No camera data")
}
_value = {422: _none}
_no_project = {404: ("there is no project with this id",)}
_unbuildable = "the project has "
_no_run = {404: ("no record",), 409: ("this run has no journal",)}

OPERATIONS = [
    _sim(
        "GET",
        "/status",
        record(
            {
                "running": flag,
                "websocket": flag,
                "current": maybe(text),
                "switching": flag,
                "assets_version": whole,
                "version": text,
                "generation": text,
                "uptime_s": number,
            }
        ),
    ),
    _sim("GET", "/clock", record(_clock)),
    _sim("POST", "/clock", ok(**_clock, speed=number), _bad),
    _sim(
        "POST",
        "/step",
        record(schemas.state_fields),
        _bad | {409: (NOT_READY,), 503: ("too many commands are waiting",)},
    ),
    _sim("GET", "/pose", schemas.pose),
    _sim("POST", "/pose", ok(applied=one_of(True), pose=schemas.pose), _bad | {409: (NOT_READY,)}),
    _sim("POST", "/reset", ok(reset=listed(text, 1)), _bad | {409: (NOT_READY,)}),
    _sim(
        "POST",
        "/respawn",
        ok(world=text, inplace=flag),
        _bad | {409: (SWITCHING, EVALUATING)},
    ),
    _sim("GET", "/vehicle", record({"generation": text, "model_name": text, "mass": number})),
    _sim("GET", "/world", _world),
    _sim(
        "GET", "/route", record({"world": text} | _route, _sides), {404: ("route not available",)}
    ),
    _sim("GET", "/bounds", schemas.bounds, {404: ("bounds not available",)}),
    _sim(
        "GET",
        "/objects",
        record(
            {
                "world": text,
                "objects": listed(
                    record(_catalogue | {"name": text, "origin": anything, "current": schemas.pose})
                ),
            }
        ),
    ),
    _sim(
        "POST",
        "/models/<name>/pose",
        ok(applied=one_of(True), model=record(_model)),
        _bad
        | {
            403: (
                "use POST /pose for the vehicle",
                "racetrack cannot be moved",
                "wall cannot be moved",
                "scenery cannot be moved",
            ),
            404: ("model not found in world",),
            409: (NOT_READY,),
        },
    ),
    _sim("GET", "/traffic_lights", record({"world": text, "lights": listed(schemas.light)})),
    _sim(
        "POST",
        "/traffic_lights/<name>",
        ok(light=schemas.light),
        {
            400: ("state must be one of red, green",),
            404: ("light not found",),
            409: (YELLOW, NOT_READY),
        },
    ),
    _sim("GET", "/brightness", record({"value": between(0.2, 2)})),
    _sim("POST", "/brightness", ok(value=between(0.2, 2)), _bad),
    _sim("GET", "/overlay", record(_overlay)),
    _sim("POST", "/overlay", ok(**_overlay), _bad),
    _sim("GET", "/state", schemas.state),
    _sim(
        "GET",
        "/evaluation",
        record(
            {
                "version": whole,
                "config": record(
                    {
                        "description": text,
                        "better": one_of("lower", "higher"),
                        "time_limit_s": number,
                        "robot": text,
                    }
                ),
                "script": text,
            }
        ),
        {404: ("world has no evaluation",)},
    ),
    _sim(
        "POST",
        "/evaluation/start",
        ok(session=schemas.session),
        _bad
        | {
            404: ("world has no evaluation",),
            409: (NOT_READY, EVALUATING, RUNNING),
        },
    ),
    _sim("POST", "/evaluation/stop", ok(stopped=flag), _bad),
    _sim(
        "GET",
        "/evaluation/session",
        record({"active": flag, "session": maybe(schemas.session)}),
    ),
    _sim(
        "GET",
        "/evaluation/record",
        record(schemas.record_fields | {"events": listed(record({"time": number, "kind": text}))}),
        {404: ("no record",)},
    ),
    _sim(
        "GET",
        "/evaluation/records",
        record({"records": listed(record(schemas.record_fields)), "next": maybe(text)}),
        _bad,
    ),
    _sim("GET", "/evaluation/run", None, _no_run, content_type="application/octet-stream"),
    _sim("GET", "/evaluation/replay", None, _no_run, content_type="application/octet-stream"),
    _sim("GET", "/evaluation/replay/camera", None, _bad | _no_run, content_type="image/jpeg"),
    _sim(
        "GET",
        "/builder/projects",
        record({"projects": listed(_project_entry), "deleted": listed(_project_entry, 0, 20)}),
    ),
    _sim(
        "POST",
        "/builder/projects",
        _project,
        _bad | _no_project | {422: _none},
    ),
    _sim("GET", "/builder/projects/<id>", _project, _no_project),
    _sim(
        "PUT",
        "/builder/projects/<id>",
        record({"revision": whole, "updated": text, "errors": whole, "warnings": whole}),
        _bad | _no_project | {409: ("the project was changed meanwhile",), 422: _none},
    ),
    _sim("DELETE", "/builder/projects/<id>", record({"deleted": schemas.project_id}), _no_project),
    _sim("POST", "/builder/projects/<id>/restore", _project, _no_project),
    _sim("GET", "/builder/projects/<id>/thumbnail", None, _no_project, content_type="image/jpeg"),
    _sim(
        "GET",
        "/builder/projects/<id>/waypoints.npy",
        None,
        _no_project,
        content_type="application/octet-stream",
    ),
    _sim("GET", "/builder/projects/<id>/export", mapped(anything), _no_project),
    _sim(
        "GET",
        "/builder/projects/<id>/scene",
        record({"world_glb": text, "car_glb": text}),
        _no_project | {409: (_unbuildable,)},
    ),
    _sim(
        "GET",
        "/builder/projects/<id>/scene/<file>",
        None,
        {404: _none},
        content_type="model/gltf-binary",
    ),
    _sim(
        "POST",
        "/builder/projects/<id>/drive",
        ok(world=text),
        _no_project | {409: (SWITCHING, EVALUATING, _unbuildable), 422: _none},
    ),
    _sim(
        "POST",
        "/builder/projects/<id>/publish",
        record(_published | {"revision": whole}),
        _bad | _no_project | {409: (_unbuildable,)},
    ),
    _sim(
        "GET",
        "/builder/published",
        record(
            {
                "worlds": listed(
                    record(
                        _published
                        | {"name": text, "access": one_of("public", "unlisted", "private")}
                    )
                )
            }
        ),
    ),
    _sim(
        "GET",
        "/builder/templates",
        record({"templates": listed(record({"name": text, "script": text}), 1)}),
    ),
    _sim(
        "POST",
        "/builder/preview",
        record({"road": anything, "objects": anything, "findings": listed(_finding)}),
        _bad | _no_project | {422: _none},
    ),
    _sim(
        "POST",
        "/builder/script/check",
        record({"ok": flag, "errors": listed(record({"line": maybe(whole), "text": text}))}),
        _bad,
    ),
    _sim("GET", "/worlds", record({"worlds": listed(_entry, 1), "current": maybe(text)})),
    _sim(
        "POST",
        "/switch",
        ok(world=text),
        _loads
        | {
            400: ("invalid world file name", "invalid world_id", "give either world or world_id"),
            404: ("world not found", "world not installed"),
        },
    ),
    _sim(
        "GET",
        "/worldpub",
        record(
            {
                "world": text,
                "world_id": schemas.world_id,
                "rev": schemas.rev,
                "assets_rev": text,
                "cdn": text,
            }
        ),
    ),
    _sim(
        "POST",
        "/worlds/install",
        ok(world=text, name=text, rev=text, cached=flag, verified=flag),
        {400: ("invalid world_id",), 404: ("world not published",)},
    ),
    _sim(
        "DELETE",
        "/worlds/<name>",
        ok(deleted=text),
        {403: _none, 404: ("world not found",), 409: _none},
    ),
    _sim(
        "GET",
        "/worlds/<name>/waypoints.npy",
        None,
        {404: _none},
        content_type="application/octet-stream",
    ),
    _sim("GET", "/worlds/<name>/thumbnail.png", None, {404: _none}, content_type="image/png"),
    _sim(
        "GET",
        "/worlds/<name>/print.jpg",
        None,
        _bad | {404: _none, 503: _none},
        content_type="image/jpeg",
    ),
    _sim("GET", "/scene", record({"world": text, "world_glb": text, "car_glb": text})),
    _make("GET", "/sim/scene/<file>", None, {404: _none}, content_type="model/gltf-binary"),
    _make("GET", "/sim", None, {}, content_type="text/html"),
    *(
        _robot("GET", path, number)
        for path in ("/speed", "/steering", "/camera/pan", "/camera/tilt")
    ),
    *(
        _robot("POST", path, _commanded, _bad_robot)
        for path in ("/speed", "/steering", "/camera/pan", "/camera/tilt")
    ),
    _robot(
        "POST",
        "/drive",
        record(
            {
                "success": one_of(True),
                "value": record({"speed": number, "steering": number}),
                "message": maybe(text),
            }
        ),
        _bad_robot,
    ),
    _robot("GET", "/odom", schemas.odom, _wait),
    _robot("GET", "/imu", schemas.imu, _wait),
    _robot("GET", "/battery", schemas.battery, _wait),
    _robot("GET", "/lidar", schemas.lidar, _wait | _value),
    _robot("GET", "/camera", None, _wait | _value, content_type="image/jpeg"),
    _robot("GET", "/states", record({"cmd": mapped(number)}), _wait | _value),
    _robot(
        "POST",
        "/audio/play",
        record({"success": one_of(True), "id": text, "duration": number}),
        _bad_robot | {409: _none},
    ),
    _robot("POST", "/audio/stop", record({"success": one_of(True)}), _bad_robot | {404: _none}),
    _robot("POST", "/audio/volume", record({"success": one_of(True)}), _bad_robot | {404: _none}),
    _robot("GET", "/audio", record({"playing": listed(schemas.sound)})),
    _robot("GET", "/audio/file/<id>", None, {404: _none}, content_type="audio/"),
    _robot(
        "GET",
        "/info",
        record({"generation": text, "mode": one_of("sim"), "limits": mapped(number)}),
    ),
    _robot("GET", "/health", record({"status": text})),
]
