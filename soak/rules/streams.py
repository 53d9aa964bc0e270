"""The rules of the event stream: ids that grow, the same story for everyone, nothing left out."""

import itertools
from bisect import bisect_left, bisect_right

from ..history import Line
from .facts import Facts
from .verdict import Verdict

RULES = {
    "stream-ids": "The ids of a connection grow from event to event.",
    "stream-same": "An event of the story is the same for everyone.",
    "stream-whole": "A connection is told every event of the story between its first and its last, "
    "and one that resumes every event since its last, or, where that was too long ago, every one "
    "that is kept.",
}
#: Events that are kept at the least, with the longest lines there are.
KEPT = 400


def check(facts: Facts, verdict: Verdict) -> None:
    story: dict[int, Line] = {}
    by_reader: dict[str, list[Line]] = {}
    for line in facts.events:
        by_reader.setdefault(line["who"], []).append(line)
        if line["event"] == "state":
            continue
        known = story.setdefault(line["id"], line)
        good = (known["event"], known["data"]) == (line["event"], line["data"])
        verdict.check("stream-same", good, f"two events of the id {line['id']}", known, line)
    ids = sorted(story)
    opened = {line["who"]: line for line in facts.lines if line["k"] == "open"}
    for who, lines in by_reader.items():
        for last, line in itertools.pairwise(lines):
            # The first state carries the id to go on from.
            good = last["id"] < line["id"] or (last is lines[0] and last["id"] <= line["id"])
            verdict.check("stream-ids", good, f"{line['id']} after {last['id']}", last, line)
        told = [line for line in lines if line["event"] != "state"]
        if not told:
            continue
        after = opened.get(who, {}).get("after")
        first = told[0]["id"] if after is None else after + 1
        if after is not None and lines[0]["id"] > after:
            # The first state says from where it goes on: from the oldest that is kept.
            since = bisect_right(ids, lines[0]["id"])
            kept = sum(story[number]["t"] <= lines[0]["t"] for number in ids[since:])
            text = f"{who} goes on after {lines[0]['id']}, not after {after}: {kept} were kept"
            verdict.check("stream-whole", kept >= KEPT, text, lines[0])
            first = lines[0]["id"] + 1
        known = ids[bisect_left(ids, first) : bisect_right(ids, told[-1]["id"])]
        own = {line["id"] for line in told}
        missing = [number for number in known if number not in own]
        lines_ = [story[missing[0]]] if missing else []
        text = f"{who} was not told {len(missing)} events, the first of them {missing[:1]}"
        verdict.check("stream-whole", not missing, text, *lines_, told[-1])
