"""The part that one native environment and a vector of them have in common."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray

from chicane import native
from chicane.gym.base import start_of
from chicane.gym.observation import ObservationBuilder, ObservationKind
from chicane.gym.reward import BatchParams, Params, Thing

if TYPE_CHECKING:
    from chicane.wire import sim as wire

Array = NDArray[Any]
Floats = NDArray[np.float64]
ROW = {name: row for row, name in enumerate(native.NUMBERS)}
ENDS = np.array(native.ENDS, dtype=object)
INFO = ("progress", "time", "speed", "distance_from_center")
"""Numbers that are part of an environment's info."""
FLAGS = ("is_left_of_center", "off_track", "crashed", "lap_done")
"""Numbers that are truth values."""


class NativeBatch:
    """Environments inside this process, with their arrays and spaces.

    Several methods take or return `numbers`: an array with a row for each entry of
    `native.NUMBERS` and a column for each environment.
    """

    def __init__(
        self,
        num_envs: int,
        autoreset: bool,
        world: str | Sequence[str] = "oval",
        observation: ObservationKind | Sequence[ObservationKind] = "state",
        *,
        obstacles: bool = False,
        step_s: float = 0.1,
        time_limit_s: float = 60.0,
        laps: float = 1.0,
        max_speed: float = 1.5,
        normalised_actions: bool = False,
        random_start: bool = True,
        vary: wire.Vary | bool = False,
        camera_size: tuple[int, int] = (160, 120),
        grey: bool = False,
        beams: int | None = None,
        frame_stack: int = 1,
        random_tracks: int = 0,
        track_options: dict[str, Any] | None = None,
        robot: str | None = None,
        render_mode: str | None = None,
        render_camera: str = "car",
        threads: int | None = None,
        reuse_arrays: bool = False,
    ) -> None:
        """The arguments are those of `CarEnv` and `VectorCarEnv`."""
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode must be 'rgb_array' or None, not {render_mode!r}")
        if render_camera not in ("car", "chase"):
            raise ValueError(f"render_camera must be 'car' or 'chase', not {render_camera!r}")
        if num_envs < 1:
            raise ValueError(f"num_envs must be 1 or more, not {num_envs}")
        if threads is not None and threads < 1:
            raise ValueError(f"threads must be 1 or more, not {threads}")
        if random_tracks < 0:
            raise ValueError(f"random_tracks must be 0 or more, not {random_tracks}")
        kinds: Sequence[ObservationKind] = (
            [observation] if isinstance(observation, str) else list(observation)
        )
        if track_options is not None and not isinstance(track_options, Mapping):
            raise TypeError(f"track_options must be a dictionary, not {track_options!r}")
        if threads is None:
            processors = os.cpu_count() or 1
            # A picture is drawn on all threads, even if there is only one environment.
            threads = processors if "camera" in kinds else min(num_envs, processors)
        known = {f"track_{name}": value for name, value in (track_options or {}).items()}
        self._batch = native.Batch(
            num_envs,
            threads,
            worlds=[world] if isinstance(world, str) else list(world),
            observation=kinds,
            obstacles=obstacles,
            step_s=step_s,
            time_limit_s=time_limit_s,
            laps=laps,
            max_speed=max_speed,
            normalised_actions=normalised_actions,
            random_start=random_start,
            vary=_vary_text(vary),
            camera_size=tuple(camera_size),
            grey=grey,
            beams=beams,
            frame_stack=frame_stack,
            random_tracks=random_tracks,
            robot=robot,
            autoreset=autoreset,
            rendered=render_mode is not None,
            **known,
        )
        self.num_envs = num_envs
        self._reuse = reuse_arrays
        self._kinds = kinds
        self._about = self._batch.about()
        self._view = render_camera
        # A rendered picture has the size of the observed one, or the full size of the camera if no
        # picture is observed.
        height, width, _ = self._about["camera"]
        self._picture = (width, height) if "camera" in kinds else tuple(self._about["picture"])
        self.action_space = self._action_space(normalised_actions)
        self.observation_space = self._observation_space(beams, obstacles, frame_stack)
        self._arrays: tuple[dict[str, Array], Floats] | None = None

    def _action_space(self, normalised: bool) -> spaces.Space[NDArray[np.float32]]:
        fastest, lock = self._about["max_speed"], self._about["max_steering"]
        if normalised:
            return spaces.Box(-1.0, 1.0, (2,), np.float32)
        lowest, highest = np.array([[0.0, -lock], [fastest, lock]], np.float32)
        return spaces.Box(lowest, highest, dtype=np.float32)

    def _observation_space(
        self, beams: int | None, obstacles: bool, frame_stack: int
    ) -> spaces.Space[Any]:
        lidar: Any = {"beams": self._about["beams"], "range_max": self._about["range_max"]}
        vehicle: Any = {"lidar": lidar}
        picture = tuple(self._about["camera"])
        space = ObservationBuilder(self._kinds, vehicle, beams, picture, obstacles).space
        single: dict[str, spaces.Space[Any]] = {self._kinds[0]: space}
        if isinstance(space, spaces.Dict):
            single = dict(space.spaces)
        if frame_stack > 1:
            single = {kind: _stacked(box, frame_stack) for kind, box in single.items()}
        self._shapes: dict[str, tuple[int, ...]] = {k: box.shape or () for k, box in single.items()}
        return single[self._kinds[0]] if len(single) == 1 else spaces.Dict(single)

    # Episodes

    def seed(self, car: int, random: np.random.Generator) -> None:
        """Gives the generator of an environment the state of `random`."""
        state = random.bit_generator.state["state"]
        self._batch.seed(car, b"".join(state[k].to_bytes(16, "little") for k in ("state", "inc")))

    def seed_from(self, car: int, seed: int | None) -> None:
        """Seeds the generator of an environment as Gymnasium does."""
        self.seed(car, seeding.np_random(seed)[0])

    def is_seeded(self, car: int) -> bool:
        """Whether an environment has a generator."""
        return self._batch.generator(car) is not None

    def take_random(self, car: int, random: np.random.Generator) -> None:
        """Gives `random` the current state of an environment's generator."""
        left = self._batch.generator(car)
        assert left is not None
        state: Any = random.bit_generator.state
        number, increment = (int.from_bytes(part, "little") for part in (left[:16], left[16:]))
        state["state"] = {"state": number, "inc": increment}
        random.bit_generator.state = state

    def reset(self, options: dict[str, Any] | None) -> tuple[dict[str, Array], Floats]:
        """Starts an episode in each environment. Returns observations and numbers."""
        start = start_of(options)
        made, numbers = self._new_arrays()
        self._batch.reset(start, *self._in_order(made), numbers)
        return made, numbers

    def step(self, actions: Any) -> tuple[dict[str, Array], Floats]:
        """Steps each environment. Returns observations and numbers."""
        wanted = np.ascontiguousarray(actions, np.float32)
        if wanted.shape != (self.num_envs, 2):
            raise ValueError(
                f"an action must be two numbers, speed and steering, for each of {self.num_envs} "
                f"environments; the array has the shape {wanted.shape}"
            )
        made, numbers = self._new_arrays()
        self._batch.step(wanted, *self._in_order(made), numbers)
        return made, numbers

    def observe(self) -> tuple[dict[str, Array], Floats]:
        """The current observations and numbers."""
        made, numbers = self._new_arrays()
        self._batch.observe(*self._in_order(made), numbers)
        return made, numbers

    def _new_arrays(self) -> tuple[dict[str, Array], Floats]:
        if self._arrays is not None:
            return self._arrays
        made = {
            kind: np.empty((self.num_envs, *shape), np.uint8 if kind == "camera" else np.float32)
            for kind, shape in self._shapes.items()
        }
        arrays = (made, np.empty((len(native.NUMBERS), self.num_envs), np.float64))
        if self._reuse:
            self._arrays = arrays
        return arrays

    def _in_order(self, made: dict[str, Array]) -> tuple[Array | None, Array | None, Array | None]:
        return made.get("state"), made.get("lidar"), made.get("camera")

    # Results

    def observations(self, made: dict[str, Array]) -> Any:
        """The batched observations: an array, or a dictionary of several."""
        return made[self._kinds[0]] if len(made) == 1 else made

    def params(self, car: int, numbers: Floats) -> Params:
        """The parameters of a reward function for one environment."""
        things, contacts, lights, waypoints = self._batch.details(car)
        one: dict[str, Any] = dict(zip(native.NUMBERS, numbers[:, car].tolist(), strict=True))
        behind = int(one["closest_waypoint"])
        return {
            "x": one["x"],
            "y": one["y"],
            "heading": one["heading"],
            "speed": one["speed"],
            "steering": one["steering"],
            "action": (one["action_speed"], one["action_steering"]),
            "progress": one["progress"],
            "advance": one["advance"],
            "distance_from_center": one["distance_from_center"],
            "is_left_of_center": bool(one["is_left_of_center"]),
            "track_heading": one["track_heading"],
            "track_width": one["track_width"],
            "track_length": one["track_length"],
            "off_track": bool(one["off_track"]),
            "contacts": contacts,
            "crashed": bool(one["crashed"]),
            "lap_done": bool(one["lap_done"]),
            "waypoints": [(x, y) for x, y in waypoints],
            "closest_waypoints": (behind, (behind + 1) % len(waypoints)),
            "objects": [_thing(*thing) for thing in things],
            "lights": dict(lights),
            "time": one["time"],
            "steps": int(one["steps"]),
        }

    def batch_params(self, numbers: Floats) -> BatchParams:
        """The parameters of a reward function for all environments."""
        params: dict[str, Any] = {name: numbers[row] for name, row in ROW.items()}
        for name in FLAGS:
            params[name] = params[name] != 0.0
        for name in ("closest_waypoint", "steps"):
            params[name] = params[name].astype(np.int64)
        speed, steering = params.pop("action_speed"), params.pop("action_steering")
        params["action"] = np.stack([speed, steering], axis=1)
        for name in ("reward", "terminated", "truncated", "ended"):
            del params[name]
        return params  # type: ignore[return-value]

    def render(self, car: int) -> NDArray[np.uint8]:
        """A picture of one environment."""
        width, height = self._picture
        picture = np.empty((height, width, 3), np.uint8)
        self._batch.draw(car, self._view, (width, height), picture)
        return picture

    def save(self, car: int) -> bytes:
        """The state of one environment."""
        return self._batch.save(car)

    def restore(self, car: int, state: bytes) -> None:
        """Restores one environment."""
        self._batch.restore(car, state)

    def close(self) -> None:
        """Frees the environments."""
        self._batch.close()


def _vary_text(vary: wire.Vary | bool) -> str | None:
    if vary is True:
        return "own"
    return json.dumps(vary) if vary else None


def _stacked(space: spaces.Space[Any], count: int) -> spaces.Space[Any]:
    assert isinstance(space, spaces.Box)
    low, high = (np.repeat(bound[None], count, axis=0) for bound in (space.low, space.high))
    return spaces.Box(low, high, dtype=space.dtype.type)


def _thing(
    name: str,
    kind: str,
    pose: list[float],
    size: list[float],
    static: bool,
    movable: bool,
) -> Thing:
    x, y, z, yaw = pose
    return {
        "name": name,
        "type": kind,
        "x": x,
        "y": y,
        "z": z,
        "yaw": yaw,
        "size": {"x": size[0], "y": size[1], "z": size[2]},
        "static": static,
        "movable": movable,
    }
