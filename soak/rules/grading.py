"""Rules of gradings: the same grades each time, also after `kill -9`, and nothing is left."""

from ..history import HistoryLine
from .facts import Facts
from .verdict import Verdict

RULES = {
    "grading-done": "A grading ends with exit code 0 and judges every unit, also if it was killed "
    "before and continues.",
    "grading-same": "`grades.json` has the same bytes in every grading, interrupted or not.",
    "grading-kept": "A grading that continues keeps the results that were complete.",
    "grading-fair": "The good program gets all points, the others get none, and refused commands "
    "are counted.",
    "grading-verified": "Every run of a grading is verified.",
    "grading-left": "No process of a grading is left after its end, or after it was killed.",
}
#: Expected verdict on each student's program, and the number of its commands that are refused.
EXPECTED = {
    "good": ("finished", 0),
    "crash": ("failed", 0),
    "hang": ("timeout", 0),
    "cheat": ("failed", 3),
}


def check(facts: Facts, verdict: Verdict) -> None:
    first: HistoryLine | None = None
    for line in facts.lines:
        if line["k"] != "grading":
            continue
        text = f"exit code {line['exit_code']}: {line['output']}"
        good = line["exit_code"] == 0 and line.get("not_judged") == 0
        verdict.check("grading-done", good, text, line)
        text = f"{line['before']} results were complete, and some were replaced"
        verdict.check("grading-kept", line["kept"], text, line)
        text = f"{line['left']} processes are left"
        verdict.check("grading-left", line["left"] == 0, text, line)
        good = line["verify_exit_code"] == 0 and line["verified"] == line["units"]
        text = f"{line['verified']} of {line['units']} runs: {line.get('verify_output')}"
        verdict.check("grading-verified", good, text, line)
        if "sha256" not in line:
            continue
        first = first or line
        text = "the grades differ from those of the first grading"
        verdict.check("grading-same", line["sha256"] == first["sha256"], text, first, line)
        for student, got in line["students"].items():
            _fair(verdict, line, student, got)


def _fair(verdict: Verdict, line: HistoryLine, student: str, got: dict) -> None:
    wanted, refused = EXPECTED[student]
    good = all(one == wanted for one in got["verdicts"])
    good = good and all(count == refused for count in got["refused"])
    good = good and got["grade"] == (100 if wanted == "finished" else 0)
    verdict.check("grading-fair", good, f"{student}: {got}", line)
