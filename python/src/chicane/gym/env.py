"""The backend `http`: each step of an environment is one request to a paused simulator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from chicane._call import Call, Request, given, request
from chicane._client import Connection
from chicane.arrays import Observation, read
from chicane.errors import NotFound, ProtocolError
from chicane.gym.angles import micro
from chicane.gym.base import CarEnv, refuse_native_arguments, start_of
from chicane.gym.layout import scatter
from chicane.gym.observation import ObservationBuilder, ObservationKind
from chicane.gym.reward import Params, Reward, default_reward, things
from chicane.gym.track import NEAR_M, Track, TrackPosition
from chicane.program import Program
from chicane.sim import Sim
from chicane.wire import sim as wire

SETTLE_S = 0.1
"""The car stands at least this many simulated seconds, until all sensors have a reading."""
Step = tuple[Any, float, bool, bool, dict[str, Any]]


class HttpCarEnv(CarEnv):
    """An environment whose simulator is another process. See `CarEnv` for its arguments."""

    def __init__(
        self,
        world: str = "oval",
        observation: ObservationKind | Sequence[ObservationKind] = "state",
        *,
        reward: Reward | None = None,
        obstacles: bool = False,
        step_s: float = 0.1,
        time_limit_s: float = 60.0,
        laps: float = 1.0,
        max_speed: float = 1.5,
        normalised_actions: bool = False,
        random_start: bool = True,
        vary: wire.Vary | bool = False,
        camera_size: tuple[int, int] = (160, 120),
        beams: int | None = None,
        robot: str | None = None,
        render_mode: str | None = None,
        url: str | None = None,
        token: str | None = None,
        program: str | None = None,
        backend: str | None = None,
        **native_arguments: Any,
    ) -> None:
        """Starts a simulator, unless `url` is the address of a running one."""
        self._program: Program | None = None
        refuse_native_arguments(native_arguments)
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode must be 'rgb_array' or None, not {render_mode!r}")
        if not 0.005 <= step_s <= 10 or not laps > 0 or not time_limit_s > 0 or not max_speed > 0:
            raise ValueError(
                "step_s must be from 0.005 to 10; laps, time_limit_s and max_speed above 0"
            )
        self.metadata = type(self).metadata | {"render_fps": max(1, round(1 / step_s))}
        self.render_mode = render_mode
        if url is not None and robot is not None:
            raise ValueError("robot is for a simulator that is started here; url names another one")
        chosen = [] if robot is None else ["--robot", robot]
        started = url is None
        self._program = Program(world, arguments=chosen, program=program) if started else None
        try:
            self._sim = Sim(self._program.url if self._program else url, token=token)
            if url is not None and self._sim.status().get("current") != world:
                self._sim.switch(world)
            self._step_s = step_s
            self._vary = self._chosen_vary(world, vary)
            self._normalised = normalised_actions
            self._set_up(world, observation, obstacles, max_speed, camera_size, beams)
        except BaseException:
            self.close()
            raise
        self._reward = reward or default_reward
        self._settle_s = max(SETTLE_S, step_s)
        self._limit_s = time_limit_s
        self._laps = laps
        self._random_start = random_start
        self._begin(self._track.locate(*self._track.waypoints[0]))

    def _chosen_vary(self, world: str, vary: wire.Vary | bool) -> wire.Vary | None:
        if vary is False:
            return None
        if vary is not True:
            return vary
        try:
            config = self._sim.evaluation()["config"]
        except NotFound:
            config = {}
        own: wire.Vary | None = config.get("vary")
        if own is None:
            raise ValueError(f"the evaluation of {world!r} varies nothing: give vary a dictionary")
        return own

    def _set_up(
        self,
        world: str,
        observation: ObservationKind | Sequence[ObservationKind],
        obstacles: bool,
        max_speed: float,
        camera_size: tuple[int, int],
        beams: int | None,
    ) -> None:
        try:
            self._track = Track(self._sim.route(), max(NEAR_M, 4 * self._step_s))
        except NotFound:
            raise ValueError(f"the world {world!r} has no route: choose one with a road") from None
        self._catalogue: dict[str, Any] = dict(self._sim.world()["objects"])
        self._vehicle = self._sim.vehicle()
        limits = self._vehicle["limits"]
        self._limits = (min(max_speed, limits["speed"]), limits["steering"])
        fastest, lock = self._limits
        lowest, highest = np.array([[0.0, -lock], [fastest, lock]], np.float32)
        if self._normalised:
            lowest, highest = np.array([[-1.0, -1.0], [1.0, 1.0]], np.float32)
        self.action_space = spaces.Box(lowest, highest, dtype=np.float32)
        kinds: Sequence[ObservationKind] = (
            [observation] if isinstance(observation, str) else observation
        )
        pictured = "camera" in kinds
        self._observe = [kind for kind in ("camera", "lidar") if kind in kinds]
        if self.render_mode and not pictured:
            self._observe.append("camera")
        camera = self._vehicle["camera"]
        # If pictures are only rendered and not observed, they have the full size of the camera.
        self._camera = camera_size if pictured else (camera["width"], camera["height"])
        self._frame: NDArray[np.uint8] | None = None
        shape = self._sim.run(self._step_request(0.005, None)).arrays.get("camera")
        self._obstacles = obstacles
        self._builder = ObservationBuilder(
            kinds, self._vehicle, beams, shape.shape if shape else (1, 1, 3), obstacles
        )
        self.observation_space = self._builder.space

    # One step

    def step(self, action: NDArray[np.float32]) -> Step:
        """Drives with the given speed and steering for one step.

        Raises `ValueError` if the action is not two finite numbers. Values outside the action space
        are clamped.
        """
        return self.finish(self.begin(action))

    def begin(self, action: NDArray[np.float32]) -> tuple[Request[Observation], Connection]:
        """Sends the request of a step and returns without waiting for the result."""
        wanted = np.asarray(action, np.float32)
        numbers = wanted.tolist()
        if wanted.shape != (2,) or not all(map(math.isfinite, numbers)):
            raise ValueError(f"an action must be two numbers, speed and steering, not {action!r}")
        speed, steering = numbers
        fastest, lock = self._limits
        if self._normalised:
            speed, steering = (speed + 1.0) / 2.0 * fastest, steering * lock
        speed, steering = min(max(speed, 0.0), fastest), min(max(steering, -lock), lock)
        self._action = (micro(speed), micro(steering))
        sent = self._step_request(self._step_s, self._action)
        return sent, self._sim.send(sent)

    def finish(self, under_way: tuple[Request[Observation], Connection]) -> Step:
        """Waits for the step that `begin` started and returns its result."""
        stepped = self._sim.receive(*under_way)
        self._steps += 1
        params = self._params(stepped)
        terminated = params["lap_done"] or params["off_track"] or params["crashed"]
        truncated = not terminated and params["time"] >= self._limit_s - 1e-9
        ended = "time" if truncated else ""
        if terminated:
            ended = "collision" if params["crashed"] else "off_track"
            ended = ended if params["crashed"] or params["off_track"] else "lap"
        reward = float(self._reward(params))
        observed = self._observation(stepped, params)
        return observed, reward, terminated, truncated, self._info(params, ended)

    # An episode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Starts a new episode.

        `options={"start": 0.25}` places the car after a quarter of the lap. Without this option the
        start is random, or the first waypoint if `random_start` is false.
        """
        super().reset(seed=seed)
        start = start_of(options)
        drawn = float(self.np_random.random()) if self._random_start else 0.0
        along = self._track.length * (drawn if start is None else start)
        drawn_seed = int(self.np_random.random() * (1 << 53))
        self._sim.respawn(seed=drawn_seed, vary=self._vary)
        if not self._vary or not self._vary.get("lights"):
            self._set_lights_green()
        along, offset, turn = self._vary_start(along)
        if self._obstacles:
            for name, x, y, yaw in scatter(self._track, self._catalogue, along, self.np_random):
                self._sim.move_object(name, x=x, y=y, yaw=yaw)
        x, y, heading = self._track.at(along, offset)
        x, y, yaw = micro(x), micro(y), micro(heading + turn)
        self._sim.set_pose(x=x, y=y, yaw=yaw)
        stepped = self._sim.run(self._step_request(self._settle_s, (0.0, 0.0)))
        self._begin(self._track.locate(x, y))
        self._started_at = float(stepped.state.get("time") or 0.0)
        params = self._params(stepped)
        self._done_m = 0.0
        return self._observation(stepped, params), self._info(params | {"progress": 0.0}, "")

    def _set_lights_green(self) -> None:
        """Sets every light to green, because a respawn keeps the states of lights, and an episode
        must not depend on the last one.
        """
        for light in self._sim.lights()["lights"]:
            if light["state"] != "green":
                self._sim.set_light(light["name"], "green")

    def _vary_start(self, along: float) -> tuple[float, float, float]:
        """Returns the start of an episode: metres along the road, metres to the left of its centre
        line, and the turn of the car against the road in rad.

        The respawn has placed the car near the first waypoint, moved and turned as the seed says.
        This method computes this shift from the pose of the car, and adds the part along the road
        to `along`.
        """
        if not self._vary:
            return along, 0.0, 0.0
        self._catalogue = dict(self._sim.world()["objects"])
        if not self._vary.get("start"):
            return along, 0.0, 0.0
        pose = self._sim.pose()
        at = self._track.locate(pose["x"], pose["y"])
        turn = math.remainder(pose["yaw"] - at.heading, math.tau)
        return along + self._track.advance(0.0, at.along), at.offset, turn

    def _begin(self, position: TrackPosition) -> None:
        self._position = position
        self._done_m = 0.0
        self._steps = 0
        self._started_at = 0.0
        self._action = (0.0, 0.0)

    def render(self) -> NDArray[np.uint8] | None:
        """Returns the last picture of the car's camera, or None without a `render_mode`."""
        return self._frame if self.render_mode else None

    def close(self) -> None:
        """Closes the connections, and ends the simulator if this environment started it."""
        if hasattr(self, "_sim"):
            self._sim.close()
        if self._program is not None:
            self._program.close()

    # Requests and observations

    def _step_request(
        self, duration: float, drive: tuple[float, float] | None
    ) -> Request[Observation]:
        speed, steering = drive or (None, None)
        body = given(duration=duration, speed=speed, steering=steering)
        if self._observe:
            width, height = self._camera
            body |= {"observe": self._observe, "camera_width": width, "camera_height": height}
        accept = "application/octet-stream"
        return request("POST", "/sim/api/step", Call(body=body, accept=accept, read=read))

    def _params(self, stepped: Observation) -> Params:
        car = stepped.state.get("vehicle")
        if not car:
            raise ProtocolError("the simulator has no world any more")
        position = self._track.locate(car["x"], car["y"], self._position.behind)
        advance = self._track.advance(self._position.along, position.along)
        self._done_m += advance
        self._position = position
        progress = self._done_m / self._track.length
        return {
            "x": car["x"],
            "y": car["y"],
            "heading": car["yaw"],
            "speed": car["speed"],
            "steering": car["steering"],
            "action": self._action,
            "progress": progress,
            "advance": advance,
            "distance_from_center": abs(position.offset),
            "is_left_of_center": position.offset > 0,
            "track_heading": position.heading,
            "track_width": position.width_left + position.width_right,
            "track_length": self._track.length,
            "off_track": position.off_track,
            "contacts": stepped.touched,
            "crashed": bool(stepped.touched),
            "lap_done": progress >= self._laps,
            "waypoints": self._track.waypoints,
            "closest_waypoints": (
                position.behind,
                (position.behind + 1) % len(self._track.waypoints),
            ),
            "objects": things(self._catalogue, stepped.state["objects"]),
            "lights": {light["name"]: light["state"] for light in stepped.state["lights"]},
            "time": round(float(stepped.state.get("time") or 0.0) - self._started_at, 6),
            "steps": self._steps,
        }

    def _observation(self, stepped: Observation, params: Params) -> Any:
        car = stepped.state.get("vehicle")
        assert car
        if self.render_mode:
            self._frame = np.array(stepped["camera"])
        return self._builder.build(stepped, car, self._position, self._track, params["objects"])

    def _info(self, params: Any, ended: str) -> dict[str, Any]:
        return {
            "ended": ended,
            "progress": params["progress"],
            "time": params["time"],
            "speed": params["speed"],
            "distance_from_center": params["distance_from_center"],
        }


__all__ = ["CarEnv", "HttpCarEnv"]
