"""Every request is answered, with a status and in a shape that the contract names."""

from .. import contract
from .facts import Facts
from .verdict import Verdict

RULES = {
    "answered": "Every request is answered, and no connection is torn.",
    "status": "Every status and every text of an error is one that the contract names for "
    "the request.",
    "shape": "Every answer, event, picture and frame has the shape that the contract gives it.",
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
