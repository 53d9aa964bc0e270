"""Rules of answers: every request gets an answer with an allowed status and the right shape."""

from .. import contract
from .facts import Facts
from .verdict import Verdict

RULES = {
    "answered": "Every request is answered, and no connection is lost.",
    "status": "Every status and error text is allowed for its request.",
    "shape": "Every answer, event, picture and frame has the documented shape.",
}


def check(facts: Facts, verdict: Verdict) -> None:
    for line in facts.calls:
        fail = line.get("fail")
        if not verdict.check("answered", not fail, f"{fail}", line):
            continue
        of = contract.operation(line["method"], line["path"])
        wrong = contract.wrong_status(of, line["status"], line["answer"], line.get("allow"))
        verdict.check("status", wrong is None, str(wrong), line)
        wrong = line.get("wrong")
        verdict.check("shape", wrong is None, str(wrong), line)
    verdict.checked["shape"] += len(facts.events)
    for line in facts.lines:
        if line["k"] == "bad":
            verdict.check("shape", False, line["what"], line)
        elif line["k"] == "viewer":
            verdict.checked["shape"] += line["count"]
