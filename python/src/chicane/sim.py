"""Clients of the simulator's web API, `/sim/api`. A physical car does not have this API."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from chicane import arrays
from chicane._aclient import AsyncClient
from chicane._call import Procedure, read_bytes, request
from chicane._client import Client
from chicane._feeds import Event, events
from chicane._operation import Call, given, operation, sequence, streamed
from chicane.arrays import Observation
from chicane.errors import Timeout

if TYPE_CHECKING:
    from chicane.wire import sim as wire

Sensor = Literal["camera", "lidar", "imu", "odom"]
LOADING_S = 60.0
"""Seconds that are added to the timeout of requests that load a world."""


class SimOperations:
    """The methods of `Sim` and `AsyncSim`.

    Units are metres, seconds and radians. Yaw is counter-clockwise from +x. A value whose argument
    is left out stays unchanged, unless a method says otherwise.

    All methods raise `ApiError` if the simulator refuses the request: `BadRequest` for an invalid
    value, `NotFound` for an unknown name or if no world is loaded, `Conflict` if the request does
    not fit the current state. They raise `ConnectError` or `Timeout` if there is no answer.

    In a judged run, a method that the evaluation does not allow raises `JudgedRun` and changes
    nothing. By default the judged program may read the state and the world, call `step` and
    `observe`, and stop the evaluation. It may never read recordings, runs, submissions, projects or
    the workspace.
    """

    # State and time

    @operation("GET", "/sim/api/status")
    def status(self) -> Call[wire.Status]:
        """Returns whether a world runs, and its name."""
        return Call()

    @operation("GET", "/sim/api/state")
    def state(self) -> Call[wire.State]:
        """Returns everything that changes (car, objects, lights, run), at one simulated time."""
        return Call()

    @streamed("/sim/api/events", events)
    def events(self) -> Call[Event]:
        """Yields the events `state`, `run` and `evaluation` as they happen.

        After a lost connection the stream reconnects and continues after the last event.
        """
        return Call(accept="text/event-stream")

    @operation("GET", "/sim/api/clock")
    def clock(self) -> Call[wire.Clock]:
        """Returns simulated time, real time and the real-time factor."""
        return Call()

    @operation("POST", "/sim/api/clock")
    def set_clock(
        self, *, paused: bool | None = None, speed: float | None = None
    ) -> Call[wire.ClockChanged]:
        """Pauses or resumes simulated time, and sets its pace.

        `speed` is the real-time factor, 0.05 to 100; 0 means as fast as the machine can.
        """
        return Call(body=given(paused=paused, speed=speed))

    @operation("POST", "/sim/api/step")
    def step(
        self,
        steps: int | None = None,
        *,
        duration: float | None = None,
        speed: float | None = None,
        steering: float | None = None,
        observe: Iterable[Sensor] = (),
        camera_width: int | None = None,
        camera_height: int | None = None,
    ) -> Call[wire.Stepped]:
        """Pauses the world, advances it and returns the new state.

        `steps`: number of ticks of 5 ms, by default 1. `duration`: simulated seconds, instead of
        `steps`.
        `speed` (m/s) and `steering` (rad) drive the car during the step. `observe` names sensors
        whose readings the result contains. `camera_width` and `camera_height` are upper limits of
        the picture in pixels.
        """
        body = given(
            steps=steps,
            duration=duration,
            speed=speed,
            steering=steering,
            observe=list(observe) or None,
            camera_width=camera_width,
            camera_height=camera_height,
        )
        return Call(body=body, longer=stepping_s(body))

    @operation("POST", "/sim/api/step")
    def observe(
        self,
        steps: int | None = None,
        *,
        duration: float | None = None,
        speed: float | None = None,
        steering: float | None = None,
        observe: Iterable[Sensor] = (),
        camera_width: int | None = None,
        camera_height: int | None = None,
    ) -> Call[Observation]:
        """Like `step`, but returns the readings as raw arrays: `numpy.asarray(result["lidar"])`."""
        body = given(
            steps=steps,
            duration=duration,
            speed=speed,
            steering=steering,
            observe=list(observe) or None,
            camera_width=camera_width,
            camera_height=camera_height,
        )
        accept = "application/octet-stream"
        return Call(body=body, accept=accept, read=arrays.read, longer=stepping_s(body))

    # Vehicle

    @operation("GET", "/sim/api/pose")
    def pose(self) -> Call[wire.Pose]:
        """Returns the true pose of the car."""
        return Call()

    @operation("POST", "/sim/api/pose")
    def set_pose(
        self, *, x: float | None = None, y: float | None = None, yaw: float | None = None
    ) -> Call[wire.Placed]:
        """Places the car on the ground, upright and at rest."""
        return Call(body=given(x=x, y=y, yaw=yaw))

    @operation("POST", "/sim/api/reset")
    def reset(self) -> Call[wire.ResetDone]:
        """Moves the car and all movable objects back to their start, and turns all lights green.

        Simulated time continues. Call `respawn` to start simulated time again from 0.
        """
        return Call()

    @operation("POST", "/sim/api/respawn")
    def respawn(
        self, *, seed: int | None = None, vary: wire.Vary | None = None
    ) -> Call[wire.Respawned]:
        """Reloads the world: simulated time, sensor noise and odometry start again.

        `seed` is the seed of all random numbers, by default 0. Runs with the same seed and the same
        commands are identical. `vary` says what the seed changes in the world, as in the config of
        an evaluation; by default nothing.
        """
        return Call(body=given(seed=seed, vary=vary), longer=LOADING_S)

    @operation("GET", "/sim/api/vehicle")
    def vehicle(self) -> Call[wire.Vehicle]:
        """Returns all parameters of the car."""
        return Call()

    # World and objects

    @operation("GET", "/sim/api/world")
    def world(self) -> Call[wire.World]:
        """Returns the constant description of the world: names, track, catalogue of objects."""
        return Call()

    @operation("GET", "/sim/api/route")
    def route(self) -> Call[wire.Route]:
        """Returns centre line and borders of the track. Raises `NotFound` if there is no track."""
        return Call()

    @operation("GET", "/sim/api/bounds")
    def bounds(self) -> Call[wire.Bounds]:
        """Returns the bounding rectangle of the track's ground."""
        return Call()

    @operation("GET", "/sim/api/objects")
    def objects(self) -> Call[wire.Objects]:
        """Returns the objects with their current poses."""
        return Call()

    @operation("POST", "/sim/api/models/{name}/pose")
    def move_object(
        self,
        name: str,
        *,
        x: float | None = None,
        y: float | None = None,
        z: float | None = None,
        yaw: float | None = None,
        duration: float | None = None,
        path: Sequence[Sequence[float]] | None = None,
        speed: float | None = None,
        loop: bool | None = None,
    ) -> Call[wire.ModelMoved]:
        """Moves an object or a light.

        Without `duration` and `path` the object is at the new pose at once. With `duration` it
        moves there evenly, in that many simulated seconds. With `path`, a list of points (x, y), it
        follows the points with `speed` m/s; `loop` then repeats the path without end.

        Raises `Forbidden` if the object is not movable.
        """
        points = None if path is None else [list(point) for point in path]
        body = given(x=x, y=y, z=z, yaw=yaw, duration=duration, path=points, speed=speed, loop=loop)
        return Call(path={"name": name}, body=body)

    @operation("GET", "/sim/api/traffic_lights")
    def lights(self) -> Call[wire.TrafficLights]:
        """Returns the traffic lights and their states."""
        return Call()

    @operation("POST", "/sim/api/traffic_lights/{name}")
    def set_light(self, name: str, state: wire.RedOrGreen) -> Call[wire.LightChanged]:
        """Switches a traffic light to `red` or `green`.

        Green is shown at once, red after three simulated seconds of yellow. A light that is yellow
        cannot be switched: the method raises `Conflict`.
        """
        return Call(path={"name": name}, body={"state": state})

    @operation("GET", "/sim/api/scene")
    def scene(self) -> Call[wire.Scene]:
        """Returns the URLs of the world and the car as binary glTF files."""
        return Call()

    # Display

    @operation("GET", "/sim/api/brightness")
    def brightness(self) -> Call[wire.Brightness]:
        """Returns the brightness of the viewer and the camera."""
        return Call()

    @operation("POST", "/sim/api/brightness")
    def set_brightness(self, value: float) -> Call[wire.BrightnessChanged]:
        """Sets the brightness of the viewer and the camera, 0.2 to 2. The default is 1."""
        return Call(body={"value": value})

    @operation("GET", "/sim/api/overlay")
    def overlay(self) -> Call[wire.Overlay]:
        """Returns the text that the viewer shows."""
        return Call()

    @operation("POST", "/sim/api/overlay")
    def set_overlay(
        self, text: str, *, ttl: float | None = None, size: float | None = None
    ) -> Call[wire.OverlayChanged]:
        """Shows a text in the viewer. An empty text removes the current text.

        `ttl`: real seconds for which the text is shown, by default 10. `size`: factor of the font
        size, by default 1.
        """
        return Call(body=given(text=text, ttl=ttl, size=size))

    # Recording

    @operation("GET", "/sim/api/recording")
    def recording(self) -> Call[wire.Recording]:
        """Returns the recording in progress, or the last one. Needs the teacher's token."""
        return Call()

    @operation("POST", "/sim/api/recording/start")
    def start_recording(
        self, *, camera: bool | None = None, state: bool | None = None
    ) -> Call[wire.RecordingChanged]:
        """Starts to record all topics as an MCAP file on the machine of the simulator.

        `camera`: whether images are recorded. `state`: whether the simulator's state is recorded.
        Both are recorded by default. Needs the teacher's token.
        """
        return Call(body=given(camera=camera, state=state))

    @operation("POST", "/sim/api/recording/stop")
    def stop_recording(self) -> Call[wire.RecordingChanged]:
        """Ends the recording, if there is one. The file is complete when this method returns."""
        return Call(body={})

    # Evaluation

    @operation("GET", "/sim/api/evaluation")
    def evaluation(self) -> Call[wire.EvaluationDocument]:
        """Returns the evaluation of this world: its configuration and its judging script."""
        return Call()

    @operation("POST", "/sim/api/evaluation/start")
    def start_evaluation(
        self,
        *,
        command: str | None = None,
        time_limit_s: float | None = None,
        seed: int | None = None,
        wall_limit_s: float | None = None,
        pace: wire.Pace | None = None,
        student: str | None = None,
        files: dict[str, str] | None = None,
    ) -> Call[wire.Started]:
        """Starts an evaluation session.

        `command`: shell command that starts the student's program. Without it no program is
        started, and the session only observes the run. `time_limit_s`: limit in simulated seconds.
        `seed`: seed of all random numbers. `wall_limit_s`: limit in real seconds, by default five
        times `time_limit_s`, but at least 120. `pace`: `real`, or `virtual` if simulated time is to
        wait for the program; by default as the simulator's option `--pace` says. `student`: name of
        the student, for the record. `files`: the program's files, a text for each relative path;
        without them the command runs in the workspace.

        Raises `Conflict` if a session is active, `JudgedRun` if the judged program itself calls
        this method.
        """
        body = given(
            command=command,
            time_limit_s=time_limit_s,
            seed=seed,
            wall_limit_s=wall_limit_s,
            pace=pace,
            student=student,
            files=files,
        )
        return Call(body=body, longer=LOADING_S)

    @operation("GET", "/sim/api/workspace")
    def workspace(self) -> Call[wire.Workspace]:
        """Lists the files of the simulator's workspace, where commands of programs run."""
        return Call()

    @operation("GET", "/sim/api/workspace/file")
    def workspace_file(self, path: str) -> Call[bytes]:
        """Returns a text file of the workspace, in UTF-8."""
        return Call(query={"path": path}, accept="*/*", read=read_bytes)

    @operation("POST", "/sim/api/evaluation/stop")
    def stop_evaluation(self) -> Call[wire.Stopped]:
        """Ends the session and kills all processes of the student's program."""
        return Call(longer=LOADING_S)

    @operation("GET", "/sim/api/evaluation/session")
    def session(self) -> Call[wire.CurrentSession]:
        """Returns the active session. If no session is active, returns the last session."""
        return Call()

    @operation("GET", "/sim/api/evaluation/record")
    def record(self, session: str | None = None) -> Call[wire.Record]:
        """Returns the record of a session: its result and its events. Default: the last session."""
        return Call(query=given(session=session))

    @operation("GET", "/sim/api/evaluation/records")
    def records(
        self, *, world: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Call[wire.RecordList]:
        """Returns records, newest first, optionally only of one world.

        `limit` is the number of records per page. `cursor` is the value `next` of the page before.
        """
        return Call(query=given(world=world, limit=limit, cursor=cursor))

    @operation("GET", "/sim/api/evaluation/run")
    def run_file(self, session: str = "last") -> Call[bytes]:
        """Returns a run as the bytes of a run file, which `load_run` and `chicane verify` read.

        `session`: id of the session; default: the last one. Needs the teacher's token.
        """
        return Call(query=given(session=session), accept="*/*", read=read_bytes, longer=60.0)

    @operation("POST", "/sim/api/evaluation/run")
    def run_program(
        self, command: str, *, files: dict[str, str] | None = None
    ) -> Call[wire.Started]:
        """Starts a program without a judge.

        The session ends when the program exits. It ends earlier if it is stopped, or at its time
        limit of 3600 simulated or 18,000 real seconds.

        `files`: the program's files, a text for each relative path; without them the command runs
        in the workspace.
        """
        return Call(body=given(command=command, files=files))

    @operation("GET", "/sim/api/evaluation/replay")
    def replay_file(self, session: str | None = None) -> Call[bytes]:
        """Returns the drive of a run as columns of numbers, as viewers show it.

        `session`: id of the session; default: the last one.
        """
        return Call(query=given(session=session), accept="*/*", read=read_bytes, longer=60.0)

    @operation("GET", "/sim/api/evaluation/replay/camera")
    def replay_picture(self, time: float, *, session: str | None = None) -> Call[bytes]:
        """Returns the picture of the on-board camera at a moment of a run, as JPEG.

        `time`: simulated seconds since the start of the run. `session`: id of the session;
        default: the last one.
        """
        query = given(time=time, session=session)
        return Call(query=query, accept="*/*", read=read_bytes, longer=60.0)

    # Leaderboard

    @operation("GET", "/sim/api/leaderboard")
    def leaderboard(self) -> Call[wire.Leaderboard]:
        """Returns the tables of the contest, their newest changes, and the queue.

        Raises `NotFound` if the simulator was started without a leaderboard.
        """
        return Call()

    @operation("POST", "/sim/api/submissions")
    def hand_in(self, student: str, program: bytes) -> Call[wire.SubmissionReceived]:
        """Hands in a program: the bytes of a zip file, or of one Python file.

        The submission is stored when the method returns. Its id is the receipt.
        """
        kind = "application/octet-stream"
        return Call(query={"student": student}, data=program, kind=kind, longer=60.0)

    @operation("GET", "/sim/api/submissions/{id}")
    def submission(self, id: str) -> Call[wire.Submission]:
        """Returns a submission with its results."""
        return Call(path={"id": id})

    @operation("GET", "/sim/api/submissions")
    def submissions(self) -> Call[wire.SubmissionList]:
        """Returns the newest submissions with the names of the students, for the teacher."""
        return Call()

    @operation("DELETE", "/sim/api/submissions/{id}")
    def delete_submission(self, id: str) -> Call[wire.Deleted]:
        """Removes a submission with its results from the contest, for the teacher."""
        return Call(path={"id": id})

    # Worlds

    @operation("GET", "/sim/api/worlds")
    def worlds(self) -> Call[wire.Worlds]:
        """Returns the available worlds."""
        return Call()

    @operation("POST", "/sim/api/switch")
    def switch(
        self, world: str | None = None, *, world_id: str | None = None
    ) -> Call[wire.Switched]:
        """Loads another world, by name (`oval` or `oval.world`) or by its published id.

        Returns when the world is ready. Raises `NotFound` if there is no such world,
        `Unprocessable` if it cannot be loaded.
        """
        if world is not None and not world.endswith(".world"):
            world += ".world"
        return Call(body=given(world=world, world_id=world_id), longer=LOADING_S)

    @operation("GET", "/sim/api/worldpub")
    def publication(self) -> Call[wire.Publication]:
        """Returns published id and revision of the current world, and the URL for downloads."""
        return Call()

    @operation("POST", "/sim/api/worlds/install")
    def install(self, world_id: str) -> Call[wire.InstallAnswer]:
        """Downloads and installs the published world with this id."""
        return Call(body={"world_id": world_id}, longer=600.0)

    @operation("DELETE", "/sim/api/worlds/{name}")
    def delete_world(self, name: str) -> Call[wire.Deleted]:
        """Deletes an installed world. Raises `Forbidden` for a world that cannot be deleted."""
        return Call(path={"name": name})

    @operation("GET", "/sim/api/worlds/{name}/waypoints.npy")
    def waypoints_file(self, name: str) -> Call[bytes]:
        """Returns centre line and borders of a world as the bytes of a NumPy file (.npy)."""
        return Call(path={"name": name}, accept="*/*", read=read_bytes)

    @operation("GET", "/sim/api/worlds/{name}/print.jpg")
    def print_file(self, name: str, *, dpi: int | None = None) -> Call[bytes]:
        """Returns the floor of a world, true to scale, as the bytes of a JPEG file.

        `dpi` is the resolution in pixels per inch.
        """
        query = given(dpi=dpi)
        return Call(path={"name": name}, query=query, accept="*/*", read=read_bytes, longer=600.0)

    @operation("GET", "/sim/api/worlds/{name}/thumbnail.png")
    def thumbnail_file(self, name: str) -> Call[bytes]:
        """Returns a small picture of a world as the bytes of a PNG file."""
        return Call(path={"name": name}, accept="*/*", read=read_bytes)

    # Several requests in a row

    @sequence
    def wait_until_ready(
        self, world: str | None = None, *, timeout: float = 60.0
    ) -> Procedure[None]:
        """Waits until the given world runs, or any world if none is given.

        Raises `Timeout` after `timeout` real seconds.
        """
        until = time.monotonic() + timeout
        while True:
            status: wire.Status = yield request("GET", "/sim/api/status", Call["wire.Status"]())
            current = status.get("current")
            if status["running"] and not status["switching"] and world in (None, current):
                return
            if time.monotonic() > until:
                raise Timeout(f"{world or 'a world'} was not ready within {timeout:g} s")
            yield 0.02

    @sequence
    def evaluate(
        self,
        command: str | None = None,
        *,
        time_limit_s: float | None = None,
        seed: int | None = None,
        wall_limit_s: float | None = None,
        pace: wire.Pace | None = None,
        student: str | None = None,
        timeout: float = 3600.0,
    ) -> Procedure[wire.Record]:
        """Runs a complete evaluation and returns its record.

        A program that failed is not an exception: the record's `run` has its exit status and its
        last lines. Stops the evaluation after `timeout` real seconds. For the other arguments see
        `start_evaluation`.
        """
        until = time.monotonic() + timeout
        body = given(
            command=command,
            time_limit_s=time_limit_s,
            seed=seed,
            wall_limit_s=wall_limit_s,
            pace=pace,
            student=student,
        )
        start = Call["wire.Started"](body=body, longer=LOADING_S)
        started: wire.Started = yield request("POST", "/sim/api/evaluation/start", start)
        session = started["session"]["id"]
        while True:
            ask = Call["wire.CurrentSession"]()
            now: wire.CurrentSession = yield request("GET", "/sim/api/evaluation/session", ask)
            current = now.get("session")
            if not now["active"] or not current or current["id"] != session:
                break
            if time.monotonic() > until:
                yield request("POST", "/sim/api/evaluation/stop", Call[Any](longer=LOADING_S))
                break
            yield 0.05
        record: wire.Record = yield request(
            "GET", "/sim/api/evaluation/record", Call["wire.Record"](query={"session": session})
        )
        return record


def stepping_s(body: dict[str, Any]) -> float:
    """Seconds that a step adds to the timeout: twice its simulated time.

    A step usually runs faster than real time, but the machine may be busy.
    """
    ticks = body.get("steps", 1)
    return 2.0 * float(body.get("duration") or ticks * 0.005)


class Sim(Client, SimOperations):
    """A client of a simulator.

    >>> sim = Sim()
    >>> sim.step(duration=2, speed=1)["vehicle"]["x"]
    """


class AsyncSim(AsyncClient, SimOperations):
    """The asyncio version of `Sim`. It has the same methods, but they have to be awaited."""
