"""Tests that the rules of evaluation sessions detect violations."""

import unittest

from .fake import (
    broken,
    changed,
    checked,
    evaluation_event,
    get,
    post,
    record,
    refused,
    run_event,
    session,
    session_answer,
    state,
    without,
)

BUSY = "evaluation in progress"
# The processes in a sample: the four processes of a prepared judge, and another process.
FIVE = {"children": 5, "pids": [2, 3, 4, 5, 6]}


def of(lines, who="reader", **data):
    """The first event of a reader with this data."""
    for line in lines:
        if line["k"] == "event" and line["who"] == who and data.items() <= line["data"].items():
            return line
    raise AssertionError(data)


def watched():
    """A session, and the sample of processes after it."""
    lines = session()
    return lines, next(line for line in lines if line["k"] == "watch")


class Sessions(unittest.TestCase):
    def test_correct_session_breaks_no_rule(self):
        lines = session()
        lines.append(refused(12, "/switch", BUSY, {"world": "field.world"}))
        lines.append(get(12.5, "/state", active()))
        self.assertEqual(broken(lines), [])
        self.assertEqual(len([n for n in checked(lines) if n.startswith("session-")]), 11)

    def test_two_sessions_at_a_time(self):
        lines = session()
        other = evaluation_event(12, 100, 0.0, "start", world="oval", command=None, time_limit_s=9)
        other["data"]["session"] = "b" * 32
        self.assertIn("session-one", broken([*lines, other]))

    def test_phases_out_of_order(self):
        lines = session()
        starting = of(lines, kind="phase", phase="starting")
        wrong = starting["data"] | {"phase": "ended"}
        self.assertIn("session-phases", broken(changed(lines, starting, data=wrong)))
        ended = of(lines, kind="phase", phase="ended")
        self.assertIn("session-phases", broken(without(lines, ended)))
        late = evaluation_event(20.2, 40, 5.0, "log", line="still there")
        self.assertIn("session-phases", broken([*lines, late]))

    def test_time_decreases(self):
        lines = session()
        log = of(lines, kind="log")
        self.assertIn("session-time", broken(changed(lines, log, data=log["data"] | {"time": 9.0})))

    def test_outcome_does_not_match_the_time_limit(self):
        lines = session()
        kept = next(line for line in lines if "record?" in line.get("path", ""))
        self.assertIn("session-time", broken(changed(lines, kept, answer=record(elapsed=20.5))))
        early = changed(lines, kept, answer=record("timeout"))
        self.assertIn("session-time", broken(early))

    def test_end_is_missing_in_the_record_or_the_events(self):
        lines = session()
        kept = next(line for line in lines if "record?" in line.get("path", ""))
        self.assertIn("session-end", broken(without(lines, kept)))
        self.assertIn("session-end", broken(changed(lines, kept, answer=record(record=2))))
        ends = [of(lines, who, kind="end") for who in ("reader", "other")]
        self.assertIn("session-end", broken(without(lines, *ends)))
        twice = record(events=[{"kind": "start"}, {"kind": "end"}, {"kind": "end"}])
        self.assertIn("session-end", broken(changed(lines, kept, answer=twice)))

    def test_outcome_does_not_fit_the_script(self):
        lines = session()
        exam = next(line for line in lines if line["k"] == "exam")
        self.assertIn("session-outcome", broken(changed(lines, exam, expected=["script_error"])))

    def test_stopped_without_a_request(self):
        lines = session()
        kept = next(line for line in lines if "record?" in line.get("path", ""))
        lines = changed(lines, kept, answer=record("stopped", reason="world not ready"))
        self.assertIn("session-outcome", broken(lines))

    def test_program_starts_twice_or_never_exits(self):
        lines = session()
        self.assertIn(
            "session-run", broken([*lines, run_event(11, 50, phase="start", command="go")])
        )
        exit_ = of(lines, phase="exit", exit_code=0)
        self.assertIn("session-run", broken(without(lines, exit_)))
        start = of(lines, kind="start")
        nothing = changed(lines, start, data=start["data"] | {"command": None})
        self.assertIn("session-run", broken(nothing))

    def test_world_is_replaced_during_a_session(self):
        switch = post(12, "/switch", {"world": "oval.world"}, {"ok": True, "world": "oval.world"})
        self.assertEqual(broken([*session(), switch]), ["session-holds-world"])
        respawn = post(12, "/respawn", None, {"ok": True, "world": "oval.world", "inplace": False})
        self.assertEqual(broken([*session(), respawn]), ["session-holds-world"])
        # A respawn that overlaps the end of the session is accepted.
        self.assertEqual(broken([*session(), respawn | {"t0": 19.9, "t1": 20.0}]), [])

    def test_refusal_although_no_session_is_active(self):
        self.assertEqual(broken([refused(30, "/respawn", BUSY), *session()]), ["session-refusal"])

    def test_session_is_active_after_a_stop(self):
        stop = post(12, "/evaluation/stop", None, {"ok": True, "stopped": True})
        self.assertIn("session-stop", broken([*session(), stop]))
        alive = get(23, "/evaluation/session", session_answer(True))
        self.assertIn("session-stop", broken([*session(), alive]))

    def test_active_session_is_not_shown(self):
        for line in [
            get(12, "/evaluation/session", session_answer(False, "b" * 32)),
            get(12, "/state", state(3.0)),
        ]:
            self.assertEqual(broken([*session(), line]), ["session-shown"])
        self.assertIn("session-shown", broken([*session(), get(30, "/state", active())]))

    def test_processes_remain_after_a_session(self):
        lines, watch = watched()
        for left in (FIVE, {"strays": 2}):
            later = watch | {"t0": 23.6, "t1": 23.7} | left
            wrong = [*changed(lines, watch, **left), later]
            self.assertEqual(broken(wrong), ["session-leftovers"])
            during = [later | {"t0": at, "t1": at + 0.1} for at in (12.0, 12.6)]
            self.assertEqual(broken([*lines, *during]), [])
        # A program of a student never belongs to a prepared judge, so one sample is enough.
        self.assertEqual(broken(changed(lines, watch, strays=1)), ["session-leftovers"])

    def test_process_that_ends_soon_does_not_remain(self):
        lines, watch = watched()
        lines = changed(lines, watch, **FIVE)
        self.assertEqual(broken(lines), [])
        for at, later, rules in [
            # Another thread took this sample less than `APART_S` after the first one.
            (23.2, FIVE, []),
            (23.6, {"children": 4, "pids": [2, 3, 4, 5]}, []),
            (23.6, FIVE, ["session-leftovers"]),
        ]:
            self.assertEqual(broken([*lines, watch | {"t0": at, "t1": at + 0.1} | later]), rules)

    def test_process_remains_over_the_next_session(self):
        lines, watch = watched()
        lines.append(watch | {"t0": 5.0, "t1": 5.1} | FIVE)
        for pids, rules in [([6, 7, 8, 9, 10], ["session-leftovers"]), ([7, 8, 9, 10, 11], [])]:
            self.assertEqual(broken(changed(lines, watch, children=5, pids=pids)), rules)

    def test_script_check_after_an_installation_may_have_a_process(self):
        lines, watch = watched()
        for cached, moment, rules in [
            (False, watch["t0"] - 1, []),
            (True, watch["t0"] - 1, ["session-leftovers"]),
            (False, watch["t0"] - 20, ["session-leftovers"]),
        ]:
            answer = {
                "ok": True,
                "world": f"custom_{'c' * 32}.world",
                "name": "w",
                "rev": "1",
                "cached": cached,
                "verified": True,
            }
            install = post(moment, "/worlds/install", {"world_id": "c" * 32}, answer)
            left = [*changed(lines, watch, **FIVE), watch | {"t0": 23.6, "t1": 23.7} | FIVE]
            self.assertEqual(
                [r for r in broken([*left, install]) if r in rules or "left" in r], rules
            )


def active():
    shown = {"active": True, "session": "a" * 32, "phase": "running"}
    return state(3.0, evaluation=shown)
