"""Selects the parts of answers that rules need. The history keeps only these parts."""

import hashlib
import json
from typing import Any

BUILDER = "/sim/api/builder"
_STATE = ("world", "current", "switching", "transition", "time", "paused", "rtf", "brightness")
_HEAVY = {
    "track",
    "objects",
    "ranges",
    "script",
    "events",
    "log",
    "waypoints",
    "inner",
    "outer",
    "lidar",
    "panel",
    "camera",
    "sensors",
}


def lights(listed: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Name of each light → [state, seconds of yellow left]."""
    return {light["name"]: [light["state"], light.get("yellow_left")] for light in listed}


def state(full: dict[str, Any]) -> dict[str, Any]:
    """The part of a state that the history keeps."""
    kept = {key: full[key] for key in _STATE if key in full}
    kept["overlay_seq"] = full["overlay_seq"]
    kept["evaluation"] = full["evaluation"]
    kept["run"] = full["run"]
    kept["lights"] = lights(full["lights"])
    return kept


def digest(value: Any) -> str:
    """A short hash of a JSON value. 1 and 1.0 have the same hash; the order of keys is ignored."""
    text = json.dumps(_floats(value), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_floats(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def body(path: str, full: Any) -> Any:
    """The part of a request body that the history keeps. A document is replaced by its hash."""
    if path.startswith(BUILDER) and isinstance(full, dict) and "document" in full:
        return full | {"document": digest(full["document"])}
    return full


def _of_builder(path: str, full: Any) -> Any:
    """The part of an answer of the world builder that the history keeps."""
    if not isinstance(full, dict) or ("error" in full and "document" not in full):
        return full
    if path.endswith("/export"):
        return {"digest": digest(full)}
    if "document" in full:
        return full | {"document": digest(full["document"])}
    if path == BUILDER + "/preview" and "findings" in full:
        severities = [finding["severity"] for finding in full["findings"]]
        counts = {f"{kind}s": severities.count(kind) for kind in ("error", "warning")}
        return {"digest": digest(full)} | counts
    if path == BUILDER + "/projects" and "projects" in full:
        return {key: [entry["id"] for entry in full[key]] for key in ("projects", "deleted")}
    if path == BUILDER + "/published" and "worlds" in full:
        return {"worlds": [world["world_id"] for world in full["worlds"]]}
    return _shortened(full)


def answer(path: str, full: Any) -> Any:
    """The part of an answer that the history keeps."""
    if path.startswith(BUILDER):
        return _of_builder(path, full)
    if path in ("/sim/api/state", "/sim/api/step") and isinstance(full, dict) and "time" in full:
        return state(full)
    if path == "/sim/api/traffic_lights" and isinstance(full, dict) and "lights" in full:
        return {"world": full["world"], "lights": lights(full["lights"])}
    if path == "/sim/api/worlds" and isinstance(full, dict) and "worlds" in full:
        return {"worlds": [w["name"] for w in full["worlds"]], "current": full["current"]}
    if path == "/sim/api/evaluation/records" and isinstance(full, dict) and "records" in full:
        return {"records": [r["session"] for r in full["records"]], "next": full.get("next")}
    if (
        path.startswith("/sim/api/evaluation/record")
        and isinstance(full, dict)
        and "events" in full
    ):
        story = [e for e in full["events"] if e["kind"] in ("start", "phase", "end")]
        logs = sum(e["kind"] == "log" for e in full["events"])
        return full | {"events": story, "logs": logs}
    return _shortened(full)


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: "…" if key in _HEAVY and v else _shortened(v) for key, v in value.items()}
    if isinstance(value, list) and len(value) > 40:
        return [*map(_shortened, value[:3]), f"… {len(value)} in all"]
    if isinstance(value, list):
        return [_shortened(v) for v in value]
    return value
