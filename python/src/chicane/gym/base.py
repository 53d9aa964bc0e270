"""The environments as users create them. A backend does the work.

The backend `native` simulates inside this process. The backend `http` steps a simulator over HTTP,
which it starts if no `url` is given. Both give the same bytes for the same seeds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

Backend = Literal["native", "http"]
HTTP_ARGUMENTS = ("url", "token", "program")
"""Arguments that only the backend `http` has."""
NATIVE_ARGUMENTS: dict[str, Any] = {
    "grey": False,
    "frame_stack": 1,
    "random_tracks": 0,
    "track_options": None,
    "render_camera": "car",
    "threads": None,
    "reuse_arrays": False,
    "batch_reward": None,
}
"""Arguments that only the backend `native` has, with their default values."""


def chosen_backend(arguments: Mapping[str, Any]) -> Backend:
    """The backend for the arguments of an environment.

    The default is `http` in each of these cases: an argument is only for `http`, a world is neither
    built-in nor a folder, or the native module is missing. Otherwise the default is `native`.
    Raises `ValueError` for an unknown backend.
    """
    backend = arguments.get("backend")
    if backend not in (None, "native", "http"):
        raise ValueError(f"backend must be 'native' or 'http', not {backend!r}")
    over_http = [name for name in HTTP_ARGUMENTS if arguments.get(name) is not None]
    if backend == "native" and over_http:
        raise ValueError(f"{over_http[0]} needs backend='http'")
    if backend is not None:
        return "native" if backend == "native" else "http"
    if over_http or not _native_knows(arguments.get("world", "oval")):
        return "http"
    return "native"


def _native_knows(world: Any) -> bool:
    try:
        from chicane import native
    except ImportError:
        return False
    names = [world] if isinstance(world, str) else list(world)
    # A name that is not the name of a built-in world may be the name of an installed world.
    return all(native.knows(name) for name in names)


def refuse_native_arguments(arguments: Mapping[str, Any]) -> None:
    """Raises an exception for an argument that an environment over HTTP does not have.

    Arguments of the backend `native` are accepted if they have their default values.
    """
    for name, value in arguments.items():
        if name not in NATIVE_ARGUMENTS:
            raise TypeError(f"unexpected argument {name!r}")
        if value != NATIVE_ARGUMENTS[name]:
            raise ValueError(
                f"{name} needs the native environment: leave out url, token, program and backend, "
                "and give a built-in world or the folder of a world"
            )


class CarEnv(gymnasium.Env[Any, NDArray[np.float32]]):
    """A car that is to drive along the centre line of a road.

    An action is an array of speed (m/s) and steering (rad, + is left).

    An episode is terminated when all laps are done, when the centre of the car leaves the road, or
    when the car touches something. An episode is truncated at its time limit. `info["ended"]` is
    the reason: `lap`, `off_track`, `collision` or `time`, or an empty string before the end.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012

    def __new__(cls, *positional: Any, **arguments: Any) -> CarEnv:
        """Chooses the class of the backend."""
        if cls is not CarEnv:
            return super().__new__(cls)
        named = dict(zip(("world", "observation"), positional, strict=False)) | arguments
        if chosen_backend(named) == "http":
            from chicane.gym.env import HttpCarEnv

            return super().__new__(HttpCarEnv)
        from chicane.gym.native_env import NativeCarEnv

        return super().__new__(NativeCarEnv)

    def __init__(self, *positional: Any, **arguments: Any) -> None:
        """Creates an environment.

        - `world`: name of a world with a route. The backend `native` also takes the path of the
          folder of a world.
        - `observation`: `state`, `lidar` or `camera`, or a list of several for a `Dict` space.
        - `reward`: a function of `Params`; default: `default_reward`.
        - `obstacles`: whether each episode places small objects at random on the road.
        - `step_s`: simulated seconds per step, 0.005 to 10.
        - `time_limit_s`: simulated seconds after which an episode is truncated.
        - `laps`: number of laps after which an episode is terminated.
        - `max_speed`: upper limit of the action's speed, m/s.
        - `normalised_actions`: whether both numbers of an action are from -1 to 1 instead of m/s
          and rad. The speed is then from standing to `max_speed`, and the steering from full lock
          on the right to full lock on the left.
        - `random_start`: whether each episode starts at a random point of the road.
        - `vary`: what the seed of an episode changes in the world, as in the config of an
          evaluation. True means what the world's own evaluation varies; default: nothing.
        - `camera_size`: largest width and height of the picture; the aspect ratio is kept.
        - `beams`: number of lidar beams. It has to divide the number of beams of the car's lidar;
          default: all beams.
        - `robot`: the robot generation, or the path of a profile file; default: `gen1`.
        - `render_mode`: `rgb_array` or None.
        - `backend`: `native` or `http`; default: `native` if the other arguments allow it.

        Only for the backend `native`:

        - `grey`: whether the observed picture has one channel of grey.
        - `frame_stack`: number of frames in one observation, in a first dimension of their own. The
          newest is the last.
        - `random_tracks`: number of random tracks, of which each episode draws one; 0 for `world`.
        - `track_options`: a dictionary with `field` (width and height in m), `width` of the road in
          m, and `tightness` of the bends from 0 to 1, for random tracks.
        - `render_camera`: `car`, or `chase` for a view from behind the car.
        - `batch_reward`: a function of a dictionary of arrays, see `chicane.gym.BatchParams`.

        Only for the backend `http`:

        - `url`, `token`: address and token of a running simulator that no other client uses.
        - `program`: path of the program to start; default: see `chicane.Program`.

        Raises `ValueError` for an invalid argument, `ProgramError` if a simulator does not start.
        """
        raise NotImplementedError


class VectorCarEnv(VectorEnv[Any, NDArray[np.float32], NDArray[Any]]):
    """A vector of `num_envs` environments `CarEnv`.

    After the end of an episode, the next step resets that environment and ignores its action.
    """

    def __new__(cls, num_envs: int = 2, **arguments: Any) -> VectorCarEnv:
        """Chooses the class of the backend."""
        if cls is not VectorCarEnv:
            return super().__new__(cls)
        if chosen_backend(arguments) == "http":
            from chicane.gym.vector import HttpVectorCarEnv

            return super().__new__(HttpVectorCarEnv)
        from chicane.gym.native_vector import NativeVectorCarEnv

        return super().__new__(NativeVectorCarEnv)

    def __init__(self, num_envs: int = 2, **arguments: Any) -> None:
        """Creates the environments. `arguments` are those of `CarEnv`, except `url`.

        Further arguments for the backend `native`:

        - `world`: also a list of worlds; environment i has world i modulo their number.
        - `threads`: number of threads; default: one per processor, and not more than environments
          unless they observe the camera.
        - `reuse_arrays`: whether every step returns the same arrays with new content. This saves
          their allocation, but a caller has to copy what it keeps.

        Raises `ValueError` for an invalid argument, `ProgramError` if a simulator does not start.
        """
        raise NotImplementedError


def start_of(options: Mapping[str, Any] | None) -> float | None:
    """The start that the options of a reset name, in laps. None if they name none.

    Raises `TypeError` or `ValueError` for other options than a dictionary with a finite number.
    """
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(f"options must be a dictionary, not {type(options).__name__}")
    start = (options or {}).get("start")
    if start is None:
        return None
    if not math.isfinite(start):
        raise ValueError("options: start must be a finite number of laps")
    return float(start)


def seeds_of_vector(seed: int | Sequence[int | None] | None, count: int) -> Sequence[int | None]:
    """The seed of each environment of a vector.

    A single number is the seed of the first environment, and each further environment gets the next
    number.
    """
    seeds: Sequence[int | None]
    if seed is None or isinstance(seed, (int, np.integer)):
        seeds = [None if seed is None else int(seed) + i for i in range(count)]
    else:
        seeds = seed
    if len(seeds) != count:
        raise ValueError(f"seed must have {count} numbers, not {len(seeds)}")
    return seeds
