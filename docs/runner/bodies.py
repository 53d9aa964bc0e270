"""JSON blocks: bodies of requests, and answers. The request of a block is sent to the simulator.

Request bodies and the simulator's answers are checked against its OpenAPI documents. In an answer
on a page, `"…"` stands for any value, and for any further entries of an object or a list.
"""

import json
import subprocess
import urllib.error
import urllib.request

from . import schema
from .markdown import Block, PageError
from .sandbox import Sandbox

ANY = "…"


class Api:
    """The OpenAPI documents of the program."""

    def __init__(self, program):
        self.documents = [
            json.loads(subprocess.run([program, "openapi", *word], capture_output=True).stdout)
            for word in ([], ["--robot"])
        ]

    def operation(self, method: str, path: str):
        """The document and the operation of a request; None if no document has the request.

        The path may contain values of parameters.
        """
        wanted = path.split("?")[0].rstrip(".,").split("/")
        for document in self.documents:
            for known, methods in document["paths"].items():
                parts = known.split("/")
                if len(parts) == len(wanted) and method.lower() in methods:
                    pairs = zip(parts, wanted, strict=True)
                    if all(a == b or a.startswith("{") for a, b in pairs):
                        return document, methods[method.lower()]
        return None

    def shape(self, operation, answer: bool):
        """The schema of the request body or the answer, and the document that contains it."""
        document, what = operation
        holder = what["responses"]["200"] if answer else what.get("requestBody", {})
        content = holder.get("content", {}).get("application/json", {})
        return content.get("schema", True), document


def send(sandbox: Sandbox, line: int, method: str, path: str, body: str | None):
    """Sends a request to the page's simulator and returns the JSON answer."""
    request = urllib.request.Request(
        sandbox.url + path,
        None if body is None else body.encode(),
        {"Content-Type": "application/json"},
        method=method,
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        text = error.read().decode(errors="replace")
        raise PageError(line, f"{method} {path} answered {error.code}: {text}") from None


def parse(block: Block):
    """Parses a JSON block."""
    try:
        return json.loads(block.text)
    except json.JSONDecodeError as error:
        raise PageError(block.line + error.lineno - 1, f"this is not JSON: {error.msg}") from None


def check(api: Api, sandbox: Sandbox, block: Block, words: list[str]) -> None:
    """Checks a block with the remark `body` or `answer`, and sends the request of the remark."""
    value = parse(block)
    if len(words) != 3 or words[0] not in ("body", "answer"):
        raise PageError(block.line, "write `body METHOD /path` or `answer METHOD /path`")
    use, method, path = words
    operation = api.operation(method, path)
    if operation is None:
        raise PageError(block.line, f"the API has no {method} {path}")
    if use == "body":
        agree(block.line, value, *api.shape(operation, False))
    answer = send(sandbox, block.line, method, path, block.text if use == "body" else None)
    agree(block.line, answer, *api.shape(operation, True))
    if use == "answer" and (wrong := unlike(value, answer, "the answer")):
        raise PageError(block.line, f"{wrong}; the answer is\n{json.dumps(answer)[:2000]}")


def agree(line: int, value, shape, document) -> None:
    """Raises `PageError` if a value does not match a schema."""
    if found := schema.problems(value, shape, document):
        raise PageError(line, "; ".join(found))


def unlike(shown, came, at: str) -> str | None:
    """Describes how an answer differs from the page. None if it does not differ."""
    if shown == ANY:
        return None
    if isinstance(shown, dict) and isinstance(came, dict):
        keys = [key for key in shown if key != ANY]
        missing = [key for key in keys if key not in came]
        more = [key for key in came if key not in shown] if ANY not in shown else []
        if missing or more:
            return f"{at} has no {missing}" if missing else f"{at} also has {more}"
        return next(filter(None, (unlike(shown[k], came[k], f"{at}.{k}") for k in keys)), None)
    if isinstance(shown, list) and isinstance(came, list):
        rest = bool(shown) and shown[-1] == ANY
        head = shown[:-1] if rest else shown
        if len(came) < len(head) or (len(came) > len(head) and not rest):
            return f"{at} has {len(came)} entries"
        pairs = enumerate(zip(head, came, strict=False))
        return next(filter(None, (unlike(a, b, f"{at}[{i}]") for i, (a, b) in pairs)), None)
    same = shown == came and isinstance(shown, bool) == isinstance(came, bool)
    return None if same else f"{at} is {came!r}, not {shown!r}"
