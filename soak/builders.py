"""Builders: clients of the world builder that edit the same projects at the same time."""

import http.client
import random
import threading
from collections.abc import Callable
from typing import Any

from . import drawing, schemas
from .history import History
from .operations import API
from .streams import StreamError, connect, cut, events
from .web import Client

PROJECTS = API + "/builder/projects"
#: If at least this number of projects exist, a builder creates no further one. The simulator would
#: accept 200.
MOST_PROJECTS = 12
#: Largest number of worlds that one builder publishes, because published worlds stay on the disk.
MOST_PUBLISHED = 8
#: An event stream that brings nothing for this many seconds is an error, even on a busy machine.
#: The simulator sends a heartbeat every 15 s.
EVENT_TIMEOUT_S = 60.0

Document = dict[str, Any]


class KnownProjects:
    """The projects that the builders have created, read or deleted. All builders share one object.

    The builders choose the projects of their requests from this object. The checker does not use
    it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: list[str] = []
        self._deleted: list[str] = []

    def add(self, project: str) -> None:
        with self._lock:
            if project not in self._made:
                self._made.append(project)
            if project in self._deleted:
                self._deleted.remove(project)

    def remove(self, project: str) -> None:
        with self._lock:
            if project not in self._deleted:
                self._deleted.append(project)

    def live(self) -> list[str]:
        with self._lock:
            return [project for project in self._made if project not in self._deleted]

    def deleted(self) -> list[str]:
        """The deleted projects, the last one at the end."""
        with self._lock:
            return list(self._deleted)

    def all(self) -> list[str]:
        with self._lock:
            return list(self._made)


class Builder:
    """Edits projects: `run` does so until its event `over` is set.

    A builder knows only the revisions that it has read or saved itself. All builders change the
    same projects, so the revision that a builder names in a save is often an old one.
    """

    def __init__(
        self,
        who: str,
        seed: str,
        address: tuple[str, int],
        history: History,
        projects: KnownProjects,
    ) -> None:
        self.who, self._address, self._history, self._projects = who, address, history, projects
        self._chance = random.Random(f"builder {seed}")
        self._client = Client(who, address, history)
        #: Revision and document of each project, as this builder knows them.
        self._known: dict[str, tuple[int, Document]] = {}
        self._turn = self._published = 0

    def run(self, over: threading.Event, pause: float) -> None:
        """Does random actions. `pause` is the mean time between two actions, in seconds."""
        kinds: list[tuple[float, Callable[[str], None]]] = [
            (9, self._edit),
            (3, self._edit_old_revision),
            (1, self._leave),
            (4, self._read),
            (4, self._preview),
            (1, self._check_script),
            (2, self._delete),
            (2, self._restore),
            (3, self._watch),
            (2, self._view),
            (1.5, self._drive),
            (0.7, self._publish),
        ]
        self._create()
        while not over.wait(self._chance.expovariate(1 / pause)):
            self._turn += 1
            kind = self._chance.choices([k for _, k in kinds], [w for w, _ in kinds])[0]
            live = self._projects.live()
            if not live or (len(live) < MOST_PROJECTS and self._chance.random() < 0.1):
                self._create()
                continue
            kind(self._chance.choice(live))
        self._client.close()

    def draw_once(self) -> None:
        """Does each action except `_read` and `_leave` once, in a fixed order."""
        self._create()
        project = self._projects.live()[-1]
        for action in (self._edit, self._edit_old_revision, self._preview, self._check_script):
            action(project)
        for action in (self._watch, self._view, self._drive, self._publish):
            action(project)
        self._delete(project)
        self._restore(project)
        self._client.close()

    def read_all(self) -> None:
        """Reads every project, and the list."""
        self._client.ask("GET", PROJECTS, allow=[200])
        for project in self._projects.all():
            self._read(project)

    def save_until_kill(self, count: int) -> None:
        """Saves `count` revisions, and sends one more save without waiting for its answer."""
        self._create()
        live = self._projects.live()
        for number in range(count):
            self._edit(live[number % len(live)])
        self._leave(live[-1])
        self._client.close()

    def _create(self) -> None:
        source = self._chance.choice(["document", "document", "random", "world", "project"])
        body: dict[str, Any] = {"from": source}
        live = self._projects.live()
        if source == "project" and live:
            body["project"] = self._chance.choice(live)
        elif source == "random":
            body["seed"] = self._chance.randrange(1000)
        elif source == "world":
            body["world"] = self._chance.choice(["oval", "technical", "slalom"])
        else:
            name = f"drawn_{self._chance.randrange(1000)}"
            body = {"from": "document", "document": drawing.document(name)}
        status, answer = self._client.ask("POST", PROJECTS, body)
        if status == 201:
            self._learn(answer)

    def _learn(self, answer: Any) -> None:
        self._known[answer["id"]] = (answer["revision"], answer["document"])
        self._projects.add(answer["id"])

    def _read(self, project: str) -> None:
        status, answer = self._client.ask("GET", f"{PROJECTS}/{project}")
        if status == 200:
            self._learn(answer)
        if self._chance.random() < 0.2:
            self._client.ask("GET", PROJECTS, allow=[200])

    def _newest(self, project: str) -> tuple[int, Document] | None:
        """The revision and document that this builder knows. It reads the project if it knows none.

        Returns None if the project does not exist.
        """
        if project not in self._known:
            self._read(project)
        return self._known.get(project)

    def _save(self, project: str, revision: int, new: Document) -> tuple[int | None, Any]:
        body = {"revision": revision, "document": new, "editor": self.who}
        status, answer = self._client.ask("PUT", f"{PROJECTS}/{project}", body)
        if status == 200:
            self._known[project] = (answer["revision"], new)
        elif status == 409:
            self._known[project] = (answer["revision"], answer["document"])
        elif status == 404:
            self._known.pop(project, None)
        return status, answer

    def _edit(self, project: str) -> None:
        """Saves a change. After a conflict it repeats the change with the current document.

        The page of the world builder does the same.
        """
        for _ in range(3):
            known = self._newest(project)
            if known is None:
                return
            revision, document = known
            status, _ = self._save(project, revision, drawing.changed(document, self._chance))
            if status != 409:
                return

    def _edit_old_revision(self, project: str) -> None:
        known = self._newest(project)
        if known is not None and known[0] > 1:
            new = drawing.changed(known[1], self._chance)
            body = {"revision": known[0] - 1, "document": new, "editor": self.who}
            self._client.ask("PUT", f"{PROJECTS}/{project}", body, allow=[404, 409])

    def _leave(self, project: str) -> None:
        """Sends a change and disconnects, so it is unknown whether the change was stored."""
        known = self._newest(project)
        if known is not None:
            new = drawing.changed(known[1], self._chance)
            body = {"revision": known[0], "document": new, "editor": self.who}
            after = self._chance.choice([0.0, 0.001, 0.01])
            self._client.leave("PUT", f"{PROJECTS}/{project}", body, after)

    def _preview(self, project: str) -> None:
        known = self._newest(project)
        if known is None:
            return
        path = API + "/builder/preview"
        self._client.ask("POST", path, {"document": known[1]}, allow=[200])
        new = drawing.changed(known[1], self._chance)
        self._client.ask("POST", path, {"document": new}, allow=[200])
        self._save(project, known[0], new)
        broken = {"document": drawing.broken(new)}
        self._client.ask("POST", path, broken, allow=[422])
        body = {"revision": known[0]} | broken
        self._client.ask("PUT", f"{PROJECTS}/{project}", body, allow=[422])

    def _check_script(self, _: str) -> None:
        good = self._chance.random() < 0.5
        script = drawing.GOOD_SCRIPT if good else self._chance.choice(drawing.BAD_SCRIPTS)
        path = API + "/builder/script/check"
        self._client.ask("POST", path, {"script": script}, allow=[200], note={"judges": good})

    def _delete(self, project: str) -> None:
        status, _ = self._client.ask("DELETE", f"{PROJECTS}/{project}")
        if status == 200:
            self._projects.remove(project)

    def _restore(self, _: str) -> None:
        # The simulator keeps the last 20 deleted projects. The choice has four older ones too, so
        # some requests are refused.
        deleted = self._projects.deleted()[-24:]
        if not deleted:
            return
        project = self._chance.choice(deleted)
        status, answer = self._client.ask("POST", f"{PROJECTS}/{project}/restore", {})
        if status == 200:
            self._learn(answer)

    def _view(self, project: str) -> None:
        for name in self._chance.sample(["thumbnail", "waypoints.npy", "export"], 2):
            self._client.ask("GET", f"{PROJECTS}/{project}/{name}")
        status, scene = self._client.ask("GET", f"{PROJECTS}/{project}/scene")
        if status == 200:
            # The project may have been changed meanwhile, so the file may be missing.
            self._client.ask("GET", scene["world_glb"])

    def _drive(self, project: str) -> None:
        self._client.ask("POST", f"{PROJECTS}/{project}/drive", {})
        self._client.ask("GET", API + "/world")

    def _publish(self, project: str) -> None:
        """Publishes a project, installs the world, and deletes it from the list of worlds."""
        if self._published >= MOST_PUBLISHED:
            return
        self._published += 1
        body = {"name": f"{self.who} {self._turn}", "access": "unlisted"}
        t0 = self._history.now()
        status, answer = self._client.ask("POST", f"{PROJECTS}/{project}/publish", body)
        if status != 200:
            return
        world = answer["world_id"]
        self._history.add("publish", t0=t0, t1=self._history.now(), world=world)
        self._client.ask("GET", API + "/builder/published", allow=[200])
        self._client.ask("POST", API + "/worlds/install", {"world_id": world}, allow=[200])
        self._client.ask("DELETE", f"{API}/worlds/custom_{world}")

    def _watch(self, project: str) -> None:
        """Opens the event stream of a project, saves a change, and waits for its event."""
        stream, since = f"{self.who}.{self._turn}", self._history.now()
        path = f"{PROJECTS}/{project}/events"
        connection = None
        try:
            connection, response = connect(self._address, path, timeout=EVENT_TIMEOUT_S)
            if response.status != 200:
                if response.status != 404:
                    self._bad(f"{path} answered {response.status}")
                return
            self._read(project)
            self._edit(project)
            wanted = self._known[project][0] if project in self._known else None
            for _, name, data in events(response):
                if not name:
                    continue
                self._event(stream, project, since, name, data)
                seen = data.get("revision", 0)
                if name == "deleted" or (wanted is not None and seen >= wanted):
                    return
            self._bad(f"{path} ended without the event `deleted`")
        except TimeoutError:
            self._bad(f"{path}: no event of the stored revision in {EVENT_TIMEOUT_S:g} s")
        except (StreamError, OSError, http.client.HTTPException) as error:
            self._bad(f"{path}: {type(error).__name__}: {error}")
        finally:
            if connection is not None:
                cut(connection)

    def _event(self, stream: str, project: str, since: float, name: str, data: Any) -> None:
        shape = schemas.PROJECT_EVENTS.get(name)
        if wrong := f"unknown event {name!r}" if shape is None else shape(data):
            self._bad(f"{name}: {wrong}")
            return
        t = self._history.now()
        line = {"stream": stream, "since": since, "project": project}
        self._history.add("project_event", who=self.who, t=t, event=name, data=data, **line)

    def _bad(self, what: str) -> None:
        self._history.add("bad", who=self.who, t=self._history.now(), what=what)


def start(builders: list[Builder], pause: float, over: threading.Event) -> list[threading.Thread]:
    """Starts builders, each in its own thread."""
    threads = []
    for builder in builders:
        thread = threading.Thread(
            target=builder.run, args=(over, pause), name=builder.who, daemon=True
        )
        thread.start()
        threads.append(thread)
    return threads
