"""Rules of the event stream: increasing ids, the same story events for all readers, no gaps."""

import itertools
from bisect import bisect_left, bisect_right

from ..history import HistoryLine
from .facts import Facts
from .verdict import Verdict

RULES = {
    "stream-ids": "The ids of a connection increase from event to event.",
    "stream-same": "A story event (`run` or `evaluation`) is the same for all readers.",
    "stream-whole": "A connection receives every story event between its first and its last. A "
    "resumed one receives all since its last event, or all buffered ones if that is too old.",
}
#: Smallest number of events that the simulator buffers for resuming readers.
MIN_BUFFERED = 400


def check(facts: Facts, verdict: Verdict) -> None:
    story: dict[int, HistoryLine] = {}
    by_reader: dict[str, list[HistoryLine]] = {}
    for line in facts.events:
        by_reader.setdefault(line["who"], []).append(line)
        if line["event"] == "state":
            continue
        known = story.setdefault(line["id"], line)
        good = (known["event"], known["data"]) == (line["event"], line["data"])
        verdict.check("stream-same", good, f"two events with the id {line['id']}", known, line)
    ids = sorted(story)
    opened = {line["who"]: line for line in facts.lines if line["k"] == "open"}
    for who, lines in by_reader.items():
        for last, line in itertools.pairwise(lines):
            # Ids increase, except that the first state may have the same id as the next event.
            good = last["id"] < line["id"] or (last is lines[0] and last["id"] <= line["id"])
            verdict.check("stream-ids", good, f"{line['id']} after {last['id']}", last, line)
        story_lines = [line for line in lines if line["event"] != "state"]
        if not story_lines:
            continue
        after = opened.get(who, {}).get("after")
        first = story_lines[0]["id"] if after is None else after + 1
        if after is not None and lines[0]["id"] > after:
            # The simulator has already dropped the event after `after`. In this case, the first
            # state has the id of the newest dropped event.
            since = bisect_right(ids, lines[0]["id"])
            buffered = sum(story[number]["t"] <= lines[0]["t"] for number in ids[since:])
            text = f"{who} continues after {lines[0]['id']}, not {after}: {buffered} were buffered"
            verdict.check("stream-whole", buffered >= MIN_BUFFERED, text, lines[0])
            first = lines[0]["id"] + 1
        known = ids[bisect_left(ids, first) : bisect_right(ids, story_lines[-1]["id"])]
        own = {line["id"] for line in story_lines}
        missing = [number for number in known if number not in own]
        lines_ = [story[missing[0]]] if missing else []
        text = f"{who} did not receive {len(missing)} events, the first is {missing[:1]}"
        verdict.check("stream-whole", not missing, text, *lines_, story_lines[-1])
