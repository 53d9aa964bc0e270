"""Clients of the world builder, `/sim/api/builder`: projects of worlds on a simulator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from chicane._aclient import AsyncClient
from chicane._call import read_bytes
from chicane._client import Client
from chicane._feeds import Event, events
from chicane._operation import Call, given, operation, streamed
from chicane.sim import LOADING_S

if TYPE_CHECKING:
    from chicane.wire import sim as wire

PRINTING_S = 600.0
"""Seconds that are added to the timeout of prints."""
JUDGING_S = 150.0
"""Seconds that are added to the timeout of a request to judge a run again.

The simulator stops such a judgement after 120 s.
"""


class BuilderOperations:
    """The methods of `Builder` and `AsyncBuilder`.

    A project is a document, as `docs/project.schema.json` describes it, with pictures and scripts.
    Its id has 16 hex digits. Every change gives the project a new revision.

    A method raises `NotFound` for an unknown id. For a document or file that is not valid, it
    raises `BadRequest`, `Unprocessable` or `TooLarge`, or an `ApiError` with the status 415 if the
    content of a file has another format than its name says. Then nothing is stored. Changes need
    the teacher's token.
    """

    # Projects

    @operation("GET", "/sim/api/builder/projects")
    def list(self) -> Call[wire.ProjectList]:
        """Returns all projects, and the deleted ones that can be restored."""
        return Call()

    @operation("POST", "/sim/api/builder/projects")
    def create(
        self,
        source: wire.NewProjectSource,
        *,
        name: str | None = None,
        world: str | None = None,
        seed: int | None = None,
        options: wire.RandomTrack | None = None,
        document: dict[str, Any] | None = None,
        project: str | None = None,
    ) -> Call[wire.ProjectView]:
        """Makes a project and returns it.

        `source`: `empty`, with an optional `name`; `world`, a copy of the shipped world `world`;
        `random`, a track with `seed` and `options`; `document`, the given document; `project`, a
        copy of the project with the id `project`.
        """
        body = given(
            name=name, world=world, seed=seed, options=options, document=document, project=project
        )
        return Call(body={"from": source, **body})

    @operation("GET", "/sim/api/builder/projects/{id}")
    def read(self, id: str) -> Call[wire.ProjectView]:
        """Returns a project: its revision, its document and the names of its files."""
        return Call(path={"id": id})

    @operation("PUT", "/sim/api/builder/projects/{id}")
    def save(
        self, id: str, revision: int, document: dict[str, Any], *, editor: str | None = None
    ) -> Call[wire.ProjectSaved]:
        """Stores a changed document. `revision` is the revision on which the change is based.

        `editor` names the writer in the events of the project. Raises `RevisionConflict` if
        somebody else has changed the project; the exception has the current revision and document.
        """
        body = given(revision=revision, document=document, editor=editor)
        return Call(path={"id": id}, body=body)

    @operation("DELETE", "/sim/api/builder/projects/{id}")
    def delete(self, id: str) -> Call[wire.DeletedProject]:
        """Deletes a project. `restore` brings one of the last deleted projects back."""
        return Call(path={"id": id})

    @operation("POST", "/sim/api/builder/projects/{id}/restore")
    def restore(self, id: str) -> Call[wire.ProjectView]:
        """Restores a deleted project and returns it."""
        return Call(path={"id": id})

    @operation("GET", "/sim/api/builder/projects/{id}/export")
    def export(self, id: str) -> Call[bytes]:
        """Returns a project as the bytes of a file: JSON, or a zip file if the project has files.

        `chicane build` takes the JSON file, and the unpacked zip file.
        """
        return Call(path={"id": id}, accept="*/*", read=read_bytes)

    @operation("POST", "/sim/api/builder/projects/import")
    def import_file(self, data: bytes) -> Call[wire.ProjectView]:
        """Makes a project from the bytes of an exported file, JSON or zip."""
        kind = "application/zip" if data[:2] == b"PK" else "application/json"
        return Call(data=data, kind=kind, longer=LOADING_S)

    @streamed("/sim/api/builder/projects/{id}/events", events)
    def events(self, id: str) -> Call[Event]:
        """Yields the events `revision`, `editors` and `deleted` of a project.

        The first event is the current revision.
        """
        return Call(path={"id": id}, accept="text/event-stream")

    # Files

    @operation("PUT", "/sim/api/builder/projects/{id}/files/{name}")
    def put_file(
        self, id: str, name: str, data: bytes, *, editor: str | None = None
    ) -> Call[wire.ChangedFile]:
        """Stores a picture (PNG or JPEG) or a script (`.py`) under a name in the project.

        `editor` names the writer in the events of the project.
        """
        return Call(
            path={"id": id, "name": name},
            query=given(editor=editor),
            data=data,
            kind="application/octet-stream",
            longer=LOADING_S,
        )

    @operation("GET", "/sim/api/builder/projects/{id}/files/{name}")
    def file(self, id: str, name: str) -> Call[bytes]:
        """Returns the bytes of a picture or script."""
        return Call(path={"id": id, "name": name}, accept="*/*", read=read_bytes)

    @operation("DELETE", "/sim/api/builder/projects/{id}/files/{name}")
    def delete_file(
        self, id: str, name: str, *, editor: str | None = None
    ) -> Call[wire.DeletedFile]:
        """Deletes a picture or script."""
        return Call(path={"id": id, "name": name}, query=given(editor=editor))

    # Views

    @operation("POST", "/sim/api/builder/preview")
    def preview(
        self, document: dict[str, Any], *, project: str | None = None
    ) -> Call[wire.PreviewAnswer]:
        """Returns road, objects, errors and warnings of a document, which is not stored.

        `project`: id of the project whose files belong to the document.
        """
        return Call(body=given(document=document, project=project))

    @operation("GET", "/sim/api/builder/projects/{id}/thumbnail")
    def thumbnail(self, id: str) -> Call[bytes]:
        """Returns a small picture of a project from above as the bytes of a JPEG file."""
        return Call(path={"id": id}, accept="*/*", read=read_bytes, longer=LOADING_S)

    @operation("GET", "/sim/api/builder/projects/{id}/scene")
    def scene(self, id: str) -> Call[wire.Scene]:
        """Returns the URLs of a project's world and of the car as binary glTF files."""
        return Call(path={"id": id}, longer=LOADING_S)

    # Use

    @operation("POST", "/sim/api/builder/projects/{id}/drive")
    def drive(self, id: str) -> Call[wire.Switched]:
        """Builds a project and switches the running simulator to it.

        Raises `Conflict` if the project has errors.
        """
        return Call(path={"id": id}, longer=LOADING_S)

    @operation("GET", "/sim/api/builder/templates")
    def templates(self) -> Call[wire.Templates]:
        """Returns the built-in judging scripts."""
        return Call()

    @operation("POST", "/sim/api/builder/script/check")
    def check_script(self, script: str) -> Call[wire.ScriptChecked]:
        """Returns the errors of a judging script. The script is not run."""
        return Call(body={"script": script}, longer=LOADING_S)

    @operation("GET", "/sim/api/builder/projects/{id}/runs")
    def runs(self, id: str) -> Call[wire.ProjectRuns]:
        """Returns the recorded runs that the rules of a project can judge, the newest first."""
        return Call(path={"id": id})

    @operation("POST", "/sim/api/builder/projects/{id}/rejudge")
    def rejudge(self, id: str, session: str) -> Call[wire.RejudgedRun]:
        """Judges the drive of a recorded run by the rules of a project. Nothing is stored.

        Raises `Conflict` if the run has no journal or was driven in another world, and
        `Unavailable` while another run is being judged.
        """
        return Call(path={"id": id}, body={"session": session}, longer=JUDGING_S)

    @operation("POST", "/sim/api/builder/projects/{id}/rejudge/file")
    def rejudge_file(self, id: str, data: bytes) -> Call[wire.RejudgedRun]:
        """Judges the drive of a run file (`run.chicane`) by the rules of a project."""
        return Call(path={"id": id}, data=data, kind="application/octet-stream", longer=JUDGING_S)

    @operation("POST", "/sim/api/builder/projects/{id}/publish")
    def publish(
        self, id: str, *, access: wire.WorldAccess | None = None, name: str | None = None
    ) -> Call[wire.ProjectPublished]:
        """Publishes a project as a world and returns the id of the world.

        `access`: `public`, `unlisted` (the default) or `private`. `name`: name of the world for
        people; default: that of the project. Raises `Conflict` if the project has errors, or if
        the simulator cannot publish.
        """
        return Call(path={"id": id}, body=given(access=access, name=name), longer=LOADING_S)

    @operation("GET", "/sim/api/builder/published")
    def published(self) -> Call[wire.PublishedWorlds]:
        """Returns the worlds that this simulator has published."""
        return Call()

    @operation("POST", "/sim/api/builder/published/{world_id}")
    def change_published(
        self, world_id: str, *, access: wire.WorldAccess | None = None, name: str | None = None
    ) -> Call[wire.PublishedWorld]:
        """Changes access or name of a published world."""
        return Call(path={"world_id": world_id}, body=given(access=access, name=name))

    @operation("POST", "/sim/api/builder/projects/{id}/print/size")
    def print_size(
        self,
        id: str,
        *,
        dpi: int | None = None,
        area: wire.PrintArea | None = None,
        paper: wire.Paper | None = None,
    ) -> Call[wire.PrintSize]:
        """Returns the size of a print in pixels, bytes and sheets, before it is made."""
        return Call(path={"id": id}, body=given(dpi=dpi, area=area, paper=paper))

    @operation("GET", "/sim/api/builder/projects/{id}/print")
    def print_file(
        self,
        id: str,
        *,
        format: str | None = None,
        dpi: int | None = None,
        paper: wire.Paper | None = None,
        area: Sequence[float] | None = None,
    ) -> Call[bytes]:
        """Returns the floor of a project, true to scale, as the bytes of a file.

        `format`: `jpg` for one picture, `pdf` for sheets of `paper` with cutting marks. `area`: x,
        y, width and height of the part to print, m.
        """
        part = None if area is None else ",".join(format_number(value) for value in area)
        query = given(format=format, dpi=dpi, paper=paper, area=part)
        return Call(path={"id": id}, query=query, accept="*/*", read=read_bytes, longer=PRINTING_S)

    @operation("GET", "/sim/api/builder/projects/{id}/waypoints.npy")
    def waypoints_file(self, id: str) -> Call[bytes]:
        """Returns centre line and borders of a project as the bytes of a NumPy file (.npy)."""
        return Call(path={"id": id}, accept="*/*", read=read_bytes)


def format_number(value: float) -> str:
    """Formats a number for a query string."""
    return repr(float(value))


class Builder(Client, BuilderOperations):
    """A client of the world builder of a simulator.

    >>> builder = Builder()
    >>> project = builder.create("random", seed=7)
    >>> builder.drive(project["id"])
    """


class AsyncBuilder(AsyncClient, BuilderOperations):
    """The asyncio version of `Builder`. It has the same methods, but they have to be awaited."""
