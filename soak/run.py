"""A complete soak test: prepare, run all clients, wait until idle, collect the results."""

import pathlib
import threading
import time
from dataclasses import dataclass
from typing import Any

from . import builders, clients, scenarios, viewers, watch
from .builders import Builder, KnownProjects
from .grader import Grader
from .history import History
from .librarian import Librarian
from .operations import API
from .reader import Follower
from .replayer import Replayer
from .rules.sessions import PREPARED
from .server import Server, log_problems
from .sessions import Examiner
from .web import Client

#: Seconds for which the number of processes must stay the same before threads, descriptors and
#: processes are counted for the first time. Idle threads of thread pools end in this time.
SETTLE = 12.0
#: Largest number of seconds until this first count, on a busy machine.
LONGEST_SETTLE = 60.0
#: Maximum number of seconds until threads and descriptors of the run are gone, and until the last
#: event has reached all readers.
REST = 40.0
#: Minimum number of runs that are replayed and verified.
LEAST_REPLAYS = 2
#: Number of acknowledged saves before the simulator is killed.
SAVES_BEFORE_KILL = 20


@dataclass(frozen=True)
class Options:
    """The options of a soak test."""

    program: str
    folder: pathlib.Path
    seconds: float
    seed: int = 1
    speed: float = 20.0
    clients: int = 8
    viewers: int = 6
    #: Mean number of seconds between two request sequences of a client.
    pause: float = 0.05
    short: bool = False
    builders: int = 2
    #: Mean number of seconds between two actions of a builder.
    drawing_pause: float = 0.4


@dataclass(frozen=True)
class Participants:
    """Participants that are needed again after the end of the simulator."""

    builders: list[Builder]
    projects: KnownProjects
    replayer: Replayer


def soak(options: Options, say: Any = print) -> dict[str, Any]:
    """Runs a soak test. Writes `history.jsonl` in the folder and returns the final figures."""
    history = History(options.folder / "history.jsonl")
    server = Server(options.program, options.folder, options.speed)
    participants = _participants(options, server, history)
    logs = [server.log]
    try:
        try:
            end = _soak(options, server, history, participants, say)
        finally:
            took = server.stop()
        logs += _restart(options, history, participants)
    finally:
        history.close()
    problems = [log_problems(log) for log in logs]
    errors = [line for found, _ in problems for line in found]
    warnings = [line for _, found in problems for line in found]
    return end | {
        "stopped_in_s": round(took, 3),
        "exit_code": server.process.returncode,
        "groups_left": watch.groups(server.pid),
        "log_errors": errors,
        "log_warnings": warnings,
    }


def _participants(options: Options, server: Server, history: History) -> Participants:
    projects = KnownProjects()
    drawing = [
        Builder(f"builder{index}", f"{options.seed}/{index}", server.address, history, projects)
        for index in range(options.builders)
    ]
    folder = options.folder / "replays"
    replayer = Replayer(options.seed, options.program, server.address, history, folder)
    return Participants(drawing, projects, replayer)


def _restart(options: Options, history: History, participants: Participants) -> list[pathlib.Path]:
    """Starts the simulator again twice: after its end, and after a kill. Returns the log files.

    Everything that was acknowledged before has to be there. The answers of all simulators are in
    the same history, so the rules of the builder and of the runs check this.
    """
    logs = []
    for turn, name in enumerate(("after-end", "after-kill")):
        try:
            server = Server(options.program, options.folder, options.speed, f"{name}.log")
        except RuntimeError as error:
            history.add("bad", who=name, t=history.now(), what=str(error))
            break
        logs.append(server.log)
        try:
            seed = f"{options.seed}/{name}"
            builder = Builder(
                f"builder {name}", seed, server.address, history, participants.projects
            )
            builder.read_all()
            participants.replayer.look_again(server.address)
            if turn == 0:
                builder.save_until_kill(SAVES_BEFORE_KILL)
                server.kill()
        finally:
            server.stop()
    return logs


def _soak(
    options: Options, server: Server, history: History, participants: Participants, say: Any
) -> dict[str, Any]:
    server.wait_for_judge()
    mark = f"soak{server.pid}"
    commands = scenarios.students(server.workspace, mark)
    watcher = watch.Watch(server.pid, mark, history)
    host = Client("host", server.address, history)
    worlds = _prepare(options, server, history, host)
    _, world = host.ask("GET", API + "/world", allow=[200])
    history.add("constants", t=history.now(), yellow_s=world["yellow_s"])
    say(f"{len(worlds)} worlds published and installed; warming up")
    _warm_up(host, commands["talks"])
    warm = Builder("builder", "warm up", server.address, history, participants.projects)
    warm.draw_once()
    host.ask("POST", API + "/switch", {"world": "oval.world"})
    quiet = _settle(host, watcher, 3.0 if options.short else SETTLE)
    history.add("quiet", when="start", t=history.now(), **quiet)

    names = clients.Names(options.speed)
    names.worlds = [world for _, world in worlds]
    over, last = threading.Event(), threading.Event()
    examiner = Examiner(options.seed, server.address, history, watcher, worlds, commands)
    librarian = Librarian(options.seed, server, history, options.folder)
    followers = [Follower(who, server.address, history) for who in ("reader_a", "reader_b")]
    readers = [threading.Thread(target=each.run, args=(last,), daemon=True) for each in followers]
    crowd = [threading.Thread(target=watcher.run, args=(over,), daemon=True)]
    crowd += [threading.Thread(target=examiner.run, args=(over,), name="examiner", daemon=True)]
    crowd += [threading.Thread(target=librarian.run, args=(over,), name="librarian", daemon=True)]
    for thread in readers + crowd:
        thread.start()
    begun = history.now()
    crowd += clients.start(
        options.clients, options.seed, options.pause, server.address, history, names, over
    )
    crowd += viewers.start(options.viewers, options.seed, server.address, history, over)
    crowd += builders.start(participants.builders, options.drawing_pause, over)
    grader = Grader(
        options.seed, options.program, options.folder / "grading", history, options.short
    )
    for target, name in (
        (lambda: participants.replayer.run(over, LEAST_REPLAYS), "replayer"),
        (lambda: grader.run(over), "grader"),
    ):
        crowd.append(threading.Thread(target=target, name=name, daemon=True))
        crowd[-1].start()
    say(f"{options.clients} clients, {options.viewers} viewers, for {options.seconds:g} s")
    while history.now() < begun + options.seconds:
        time.sleep(min(30.0, max(0.1, begun + options.seconds - history.now())))
        seen = watcher.look()
        if seen is None:
            break
        say(f"{history.now():7.1f} s  {seen['rss_kb'] // 1024} MiB  {seen['fds']} descriptors")
    ended = history.now()
    over.set()
    # Requests that wait for simulated time, such as a held speed, end only if time advances.
    host.ask("POST", API + "/clock", {"paused": False, "speed": options.speed})
    for thread in crowd:
        # Replayer and grader wait for commands with timeouts of some minutes, so their threads get
        # more time to end.
        thread.join(timeout=600 if thread.name in ("replayer", "grader") else 90)
        if thread.is_alive():
            history.add("bad", who=thread.name, t=history.now(), what="the thread did not end")
    host.ask("POST", API + "/evaluation/stop", allow=[200])
    _fetch_records(host)
    _wait_for_followers(host, followers)
    last.set()
    for thread in readers:
        thread.join(timeout=10)
    left = _rest(host, watcher, quiet, REST)
    history.add("quiet", when="end", t=history.now(), **left)
    host.close()
    return {
        "begun_s": round(begun, 3),
        "ended_s": round(ended, 3),
        "alive": server.process.poll() is None,
        "data_kb": sum(f.stat().st_size for f in server.data.rglob("*") if f.is_file()) // 1024,
        "fingerprint": clients.fingerprint(options.clients, options.seed),
    }


def _prepare(options: Options, server: Server, history: History, host: Client):
    """Publishes and installs a world for each scenario."""
    worlds = []
    for scenario in scenarios.SCENARIOS:
        if scenario.slow and options.short:
            continue
        path = scenarios.project(scenario, options.folder / "projects")
        world = server.publish(path, f"soak {scenario.judge}")
        host.ask("POST", API + "/worlds/install", {"world_id": world}, allow=[200])
        history.add(
            "script", world=f"custom_{world}", judge=scenario.judge, touches=scenario.touches
        )
        worlds.append((scenario, world))
    return worlds


def _warm_up(host: Client, command: str) -> None:
    """Uses several parts of the simulator once, so that resources exist that the simulator creates
    on first use.
    """
    for path in ("/lidar", "/camera", "/camera?width=160", "/states", "/sim", API + "/scene"):
        host.ask("GET", path)
    host.ask("GET", API + "/worlds/oval/print.jpg?dpi=10")
    host.ask("POST", API + "/evaluation/start", {"command": command, "time_limit_s": 5})
    for _ in range(600):
        status, answer = host.ask("GET", API + "/evaluation/session")
        if status == 200 and not answer["active"]:
            break
        time.sleep(0.05)
    if status == 200:
        query = f"session={answer['session']['id']}"
        host.fetch(f"{API}/evaluation/replay?{query}")
        host.fetch(f"{API}/evaluation/replay/camera?{query}&time=0")


def _fetch_records(host: Client) -> None:
    """Reads all records, page by page."""
    cursor = ""
    while True:
        page = f"{API}/evaluation/records?limit=50{cursor}"
        status, answer = host.ask("GET", page, allow=[200])
        if status != 200:
            return
        for record in answer["records"]:
            host.ask("GET", f"{API}/evaluation/record?session={record['session']}", allow=[200])
        if answer["next"] is None:
            return
        cursor = f"&cursor={answer['next']}"


def _wait_for_followers(host: Client, followers: list[Follower]) -> None:
    """Waits up to `REST` until all followers have received a new overlay.

    Earlier events arrive before the overlay.
    """
    status, answer = host.ask("POST", API + "/overlay", {"text": "over"}, allow=[200])
    end = time.monotonic() + REST
    while status == 200 and time.monotonic() < end:
        if all(follower.has_received(answer["seq"]) for follower in followers):
            return
        time.sleep(0.05)


def _settle(host: Client, watcher: watch.Watch, still: float) -> dict[str, Any]:
    """Waits until the idle simulator has had the same number of children for `still` seconds.

    Children change for a moment after the warm-up, because the simulator starts a judge for the
    next session. A part of this start may take longer than `still` on a busy machine, so all
    processes of the judge have to exist. Returns the smallest sample with the last number of
    children.
    """
    host.close()
    end = time.monotonic() + LONGEST_SETTLE
    same: list[dict[str, Any]] = []
    since = time.monotonic()
    while time.monotonic() < min(since + still, end):
        seen = watcher.look()
        if seen is None:
            break
        if same and seen["children"] != same[0]["children"]:
            same, since = [], time.monotonic()
        if seen["children"] < PREPARED:
            since = time.monotonic()
        same.append(seen)
        time.sleep(0.5)
    return min(same, key=_size, default={})


def _size(sample: dict[str, Any]) -> int:
    return sum(sample[key] for key in ("threads", "fds", "children", "zombies"))


def _rest(
    host: Client, watcher: watch.Watch, goal: dict[str, Any], timeout: float
) -> dict[str, Any]:
    """Waits until a sample of the idle simulator is not larger than `goal`, or until the timeout.

    Returns the smallest sample.
    """
    host.close()
    best, since = None, time.monotonic()
    while time.monotonic() < since + timeout:
        seen = watcher.look()
        if seen is None:
            return best or {}
        if best is None or _size(seen) <= _size(best):
            best = seen
        keys = ("threads", "fds", "children", "zombies", "strays")
        if goal and all(best[key] <= goal[key] for key in keys):
            break
        time.sleep(0.5)
    return best or {}
