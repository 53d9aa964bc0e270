"""The parameters of a reward function, and the default reward function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Size(TypedDict):
    """Edge lengths of a box in metres.

    A copy of the class in `chicane.wire.sim`. That module is not imported here, because its import
    takes a third of the time of NumPy's import.
    """

    x: float
    y: float
    z: float


class Thing(TypedDict):
    """An object of the world, as a reward function receives it. Metres and radians."""

    name: str
    """Name of the object, unique in the world."""
    type: str
    """Kind of the object: box, cylinder, sphere, cone, light or wall."""
    x: float
    y: float
    z: float
    yaw: float
    size: Size
    """Full extents of the object's own bounding box."""
    static: bool
    """Whether physics never moves the object."""
    movable: bool
    """Whether a client may move the object."""


class Params(TypedDict):
    """The parameters of a reward function after each step. Metres, seconds, radians."""

    x: float
    y: float
    heading: float
    """Yaw of the car, −π to π."""
    speed: float
    """Measured speed, + is forwards."""
    steering: float
    """Measured steering angle, + is left."""
    action: tuple[float, float]
    """Speed and steering of the action, after clamping."""
    progress: float
    """Distance along the centre line since the start of the episode, in laps."""
    advance: float
    """Metres along the centre line in this step. Negative if the car drove backwards."""
    distance_from_center: float
    """Distance of the car's centre from the centre line."""
    is_left_of_center: bool
    """Whether the car's centre is on the left of the centre line."""
    track_heading: float
    """Direction of the road at the car."""
    track_width: float
    """Width of the road at the car. Infinite if the route has no borders."""
    track_length: float
    """Length of the centre line."""
    off_track: bool
    """Whether the car's centre is outside the road."""
    contacts: list[str]
    """Names of the objects that the car touched in this step."""
    crashed: bool
    """Whether the car touched an object in this step."""
    lap_done: bool
    """Whether the car has driven all laps of the episode."""
    waypoints: list[tuple[float, float]]
    """Points of the centre line, without a repeated first point."""
    closest_waypoints: tuple[int, int]
    """Indices of the waypoints behind and ahead of the car."""
    objects: list[Thing]
    """All objects of the world."""
    lights: dict[str, str]
    """State of each traffic light by name: red, yellow or green."""
    time: float
    """Simulated seconds since the start of the episode."""
    steps: int
    """Number of steps since the start of the episode."""


Reward = Callable[[Params], float]
"""A reward function. The environment calls it once per step."""


class BatchParams(TypedDict):
    """The parameters of a reward function for a batch. Each array has a row per environment.

    The parameters are those of `Params`. Metres, seconds, radians.
    """

    x: Floats
    y: Floats
    heading: Floats
    speed: Floats
    steering: Floats
    action: Floats
    """Speed and steering of the actions, after clamping: two columns."""
    progress: Floats
    advance: Floats
    distance_from_center: Floats
    is_left_of_center: Bools
    track_heading: Floats
    track_width: Floats
    track_length: Floats
    off_track: Bools
    crashed: Bools
    lap_done: Bools
    closest_waypoint: NDArray[np.int64]
    """Index of the waypoint behind the car."""
    time: Floats
    steps: NDArray[np.int64]


BatchReward = Callable[[BatchParams], Floats]
"""A reward function for a batch: returns one number for each environment."""


def default_reward(params: Params) -> float:
    """Returns the metres along the road in this step.

    Ten is added when the lap is done. Leaving the road or touching an object costs five.
    """
    reward = params["advance"]
    if params["lap_done"]:
        reward += 10.0
    if params["off_track"] or params["crashed"]:
        reward -= 5.0
    return reward


def things(catalogue: dict[str, Any], poses: dict[str, Any]) -> list[Thing]:
    """The objects of the world with their current poses."""
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
