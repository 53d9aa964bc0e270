"""Rules of the world builder: stored documents, conflicts, deletion, previews and events."""

import itertools
import re
from collections import defaultdict

from ..history import HistoryLine
from .facts import API, Facts
from .register import Register, Write
from .verdict import Verdict

RULES = {
    "builder-stored": "A revision of a project is read as it was stored, also after a restart of "
    "the simulator.",
    "builder-lost": "An acknowledged save is never lost, also if the simulator is killed.",
    "builder-conflict": "Of several saves that name the same revision, one is stored. The others "
    "are refused and get the current document.",
    "builder-exists": "A project is listed and can be read exactly if it was made and not deleted.",
    "builder-restored": "One of the last 20 deleted projects can be restored.",
    "builder-preview": "The same document has the same preview, and as many errors and warnings in "
    "the preview as in the answer to its save.",
    "builder-script": "The check of a script finds an error exactly if the script cannot judge.",
    "builder-published": "The current revision of a project is published, and published worlds are "
    "listed.",
    "builder-stream": "The stream of a project begins with its revision, and its revisions "
    "increase.",
}
PROJECTS = API + "/builder/projects"
_PROJECT = re.compile(re.escape(PROJECTS) + r"/([0-9a-f]{16})(/.*)?")
#: Number of deleted projects that the simulator keeps.
KEPT = 20

Key = tuple[str, int]


def check(facts: Facts, verdict: Verdict) -> None:
    lines = [line for line in facts.calls if line["path"].startswith(API + "/builder/")]
    lines = [line for line in lines if "wrong" not in line and not line.get("fail")]
    _stored(facts, lines, verdict)
    _lost(lines, verdict)
    _conflicts(lines, verdict)
    _exists(lines, verdict)
    _previews(lines, verdict)
    _scripts(lines, verdict)
    _published(lines, verdict)
    _streams(facts, lines, verdict)


def _project(line: HistoryLine) -> tuple[str, str] | None:
    """The project in the path of a request, and the rest of the path."""
    found = _PROJECT.fullmatch(line["path"].split("?")[0])
    return (found[1], found[2] or "") if found else None


def _saves(lines: list[HistoryLine]) -> list[tuple[str, HistoryLine]]:
    """The saves that were acknowledged."""
    found = []
    for line in lines:
        of = _project(line)
        if of and of[1] == "" and line["method"] == "PUT" and line["status"] == 200:
            found.append((of[0], line))
    return found


def _reads(lines: list[HistoryLine]) -> list[tuple[str, HistoryLine]]:
    """The answers with a document: reads, restored and new projects, refused saves."""
    found = []
    for line in lines:
        answer = line["answer"]
        if not isinstance(answer, dict) or "document" not in answer:
            continue
        of = _project(line)
        found.append((of[0] if of else answer["id"], line))
    return found


def _stored(facts: Facts, lines: list[HistoryLine], verdict: Verdict) -> None:
    stored: dict[Key, tuple[str, HistoryLine]] = {}
    for project, line in _saves(lines):
        stored[project, line["answer"]["revision"]] = (line["body"]["document"], line)
    # A save without an answer may have been stored or not.
    possible: dict[str, set[str]] = defaultdict(set)
    for line in facts.left + [line for line in facts.calls if line.get("fail")]:
        of = _project(line)
        if of and line["method"] == "PUT" and isinstance(line["body"], dict):
            possible[of[0]].add(line["body"]["document"])
    for project, line in _reads(lines):
        answer = line["answer"]
        key = (project, answer["revision"])
        text = f"revision {answer['revision']} of project {project} has another document"
        if key not in stored:
            created = answer["revision"] == 1
            good = created or answer["document"] in possible[project]
            verdict.check("builder-stored", good, f"{text} than any save", line)
            stored[key] = (answer["document"], line)
            continue
        document, cause = stored[key]
        verdict.check("builder-stored", answer["document"] == document, text, cause, line)


def _lost(lines: list[HistoryLine], verdict: Verdict) -> None:
    saves: dict[str, list[HistoryLine]] = defaultdict(list)
    for project, line in _saves(lines):
        saves[project].append(line)
    for project, line in _reads(lines):
        before = [save for save in saves[project] if save["t1"] < line["t0"]]
        if not before:
            continue
        last = max(before, key=lambda save: save["answer"]["revision"])
        revision = last["answer"]["revision"]
        text = f"revision {revision} was stored, then {line['answer']['revision']} was read"
        verdict.check("builder-lost", line["answer"]["revision"] >= revision, text, last, line)


def _conflicts(lines: list[HistoryLine], verdict: Verdict) -> None:
    by_base: dict[Key, HistoryLine] = {}
    for project, line in _saves(lines):
        base, revision = line["body"]["revision"], line["answer"]["revision"]
        other = by_base.setdefault((project, base), line)
        good = other is line and revision > base
        cause = [] if other is line else [other]
        text = f"a save that names revision {base} was stored as {revision}"
        verdict.check("builder-conflict", good, text, *cause, line)
    for line in lines:
        of = _project(line)
        if of and of[1] == "" and line["method"] == "PUT" and line["status"] == 409:
            base, revision = line["body"]["revision"], line["answer"]["revision"]
            text = f"a save that names revision {base} was refused, and the revision is {revision}"
            verdict.check("builder-conflict", base != revision, text, line)


def _exists(lines: list[HistoryLine], verdict: Verdict) -> None:
    writes: dict[str, list[Write]] = defaultdict(list)
    deletions: list[HistoryLine] = []
    for line in lines:
        of = _project(line)
        if line["path"] == PROJECTS and line["status"] == 201:
            writes[line["answer"]["id"]].append(Write(line["t0"], line["t1"], True, line))
        elif of and line["method"] == "DELETE" and line["status"] == 200:
            writes[of[0]].append(Write(line["t0"], line["t1"], False, line))
            deletions.append(line)
        elif of and of[1] == "/restore" and line["status"] == 200:
            writes[of[0]].append(Write(line["t0"], line["t1"], True, line))
            verdict.checked["builder-restored"] += 1
    registers = {project: Register(all_) for project, all_ in writes.items()}
    for line in lines:
        of = _project(line)
        if of and of[1] == "/restore" and line["status"] == 404:
            _restored(verdict, registers.get(of[0]), deletions, line)
        elif of and of[0] in registers and of[1] == "" and line["method"] in ("GET", "PUT"):
            if line["status"] in (200, 404, 409):
                _check_exists(verdict, registers[of[0]], line, of[0], line["status"] != 404)
        elif line["path"] == PROJECTS and line["method"] == "GET" and line["status"] == 200:
            for project, register in registers.items():
                there = project in line["answer"]["projects"]
                _check_exists(verdict, register, line, project, there)


def _check_exists(
    verdict: Verdict, register: Register, line: HistoryLine, project: str, there: bool
) -> None:
    wrong = register.wrong(line["t0"], line["t1"], there)
    cause = [write.line for write in wrong or [] if write.line][-2:]
    text = f"project {project} is {'there' if there else 'not there'}"
    verdict.check("builder-exists", wrong is None, text, *cause, line)


def _restored(
    verdict: Verdict, register: Register | None, deletions: list[HistoryLine], line: HistoryLine
) -> None:
    """Checks a refused restore.

    A restore may be refused only if the project exists, or if 20 projects were deleted after it.
    """
    possible = register.possible(line["t0"], line["t1"]) if register else []
    if not possible or any(write.value is True for write in possible):
        return
    since = min(write.t0 for write in possible)
    later = [d for d in deletions if d["t1"] >= since and d["t0"] <= line["t1"]]
    text = f"a project was not restored after {len(later)} deletions"
    cause = [write.line for write in possible if write.line][-1:]
    verdict.check("builder-restored", len(later) > KEPT, text, *cause, line)


def _previews(lines: list[HistoryLine], verdict: Verdict) -> None:
    known: dict[str, HistoryLine] = {}
    for line in lines:
        if line["path"] == API + "/builder/preview" and line["status"] == 200:
            first = known.setdefault(line["body"]["document"], line)
            good = first["answer"] == line["answer"]
            verdict.check("builder-preview", good, "two previews differ", first, line)
    for _, line in _saves(lines):
        preview = known.get(line["body"]["document"])
        if preview is not None:
            good = all(preview["answer"][k] == line["answer"][k] for k in ("errors", "warnings"))
            text = "preview and save have another number of findings"
            verdict.check("builder-preview", good, text, preview, line)


def _scripts(lines: list[HistoryLine], verdict: Verdict) -> None:
    for line in lines:
        if "judges" in line and line["status"] == 200:
            text = f"a script of which judges is {line['judges']}: {line['answer']}"
            good = line["answer"]["ok"] == line["judges"] == (not line["answer"]["errors"])
            verdict.check("builder-script", good, text, line)


def _published(lines: list[HistoryLine], verdict: Verdict) -> None:
    saves: dict[str, list[HistoryLine]] = defaultdict(list)
    for project, line in _saves(lines):
        saves[project].append(line)
    published: list[HistoryLine] = []
    for line in lines:
        of = _project(line)
        if of and of[1] == "/publish" and line["status"] == 200:
            revision = line["answer"]["revision"]
            newer = [
                save
                for save in saves[of[0]]
                if save["t1"] < line["t0"] and save["answer"]["revision"] > revision
            ]
            text = f"revision {revision} was published, but a newer one was stored"
            verdict.check("builder-published", not newer, text, *newer[:1], line)
            published.append(line)
        elif line["path"] == API + "/builder/published" and line["status"] == 200:
            for before in published:
                if before["t1"] < line["t0"]:
                    good = before["answer"]["world_id"] in line["answer"]["worlds"]
                    text = "a published world is not listed"
                    verdict.check("builder-published", good, text, before, line)


def _streams(facts: Facts, lines: list[HistoryLine], verdict: Verdict) -> None:
    saves: dict[str, list[HistoryLine]] = defaultdict(list)
    for project, line in _saves(lines):
        saves[project].append(line)
    streams: dict[str, list[HistoryLine]] = defaultdict(list)
    for line in facts.lines:
        if line["k"] == "project_event":
            streams[line["stream"]].append(line)
    for events in streams.values():
        first = events[0]
        text = f"the first event is {first['event']}"
        good = first["event"] in ("revision", "deleted")
        verdict.check("builder-stream", good, text, first)
        revisions = [line for line in events if line["event"] == "revision"]
        for last, line in itertools.pairwise(revisions):
            good = line["data"]["revision"] > last["data"]["revision"]
            verdict.check("builder-stream", good, "revisions do not increase", last, line)
        before = [s for s in saves[first["project"]] if s["t1"] < first["since"]]
        if before and revisions:
            save = max(before, key=lambda s: s["answer"]["revision"])
            good = revisions[0]["data"]["revision"] >= save["answer"]["revision"]
            text = "the stream begins with an older revision than the last save"
            verdict.check("builder-stream", good, text, save, revisions[0])
