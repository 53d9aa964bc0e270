"""What a reward is told, and the reward that is given where nobody brings one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

from chicane.wire.sim import Size


class Thing(TypedDict):
    """An object of the world, as a reward sees it."""

    name: str
    type: str
    """Its kind: box, cylinder, sphere, cone, light or wall."""
    x: float
    y: float
    z: float
    yaw: float
    size: Size
    static: bool
    movable: bool


class Params(TypedDict):
    """What a reward is told after each step. Metres, seconds, radians."""

    x: float
    y: float
    heading: float
    """Where the car points, −π to π."""
    speed: float
    """Measured, ahead."""
    steering: float
    """Measured, + is left."""
    action: tuple[float, float]
    """Speed and steering as they were asked for."""
    progress: float
    """How much of the lap is done since the start of the episode, 0 to 1."""
    advance: float
    """Metres along the centre line in this step."""
    distance_from_center: float
    is_left_of_center: bool
    track_heading: float
    """Where the road leads here."""
    track_width: float
    track_length: float
    off_track: bool
    """Whether the car's middle is beside the road."""
    contacts: list[str]
    """Names of what the car touched in this step."""
    crashed: bool
    """Whether it touched anything."""
    lap_done: bool
    waypoints: list[tuple[float, float]]
    closest_waypoints: tuple[int, int]
    """Indices of those behind and ahead."""
    objects: list[Thing]
    lights: dict[str, str]
    """What each traffic light shows."""
    time: float
    """Simulated seconds since the start of the episode."""
    steps: int


Reward = Callable[[Params], float]


def default_reward(params: Params) -> float:
    """Metres along the road, ten for the lap, minus five for leaving it or touching something."""
    reward = params["advance"]
    if params["lap_done"]:
        reward += 10.0
    if params["off_track"] or params["crashed"]:
        reward -= 5.0
    return reward


def things(catalogue: dict[str, Any], poses: dict[str, Any]) -> list[Thing]:
    """The objects of the world where they are now."""
    out: list[Thing] = []
    for name, entry in catalogue.items():
        pose = poses.get(name) or entry["origin"]
        out.append(
            {
                "name": name,
                "type": entry["kind"],
                "x": pose["x"],
                "y": pose["y"],
                "z": pose["z"],
                "yaw": pose["yaw"],
                "size": entry["size"],
                "static": entry["static"],
                "movable": entry["movable"],
            }
        )
    return out
