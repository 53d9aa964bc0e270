"""Compares the output on a page with the actual output. `…` stands for any text.

Within a line, `…` stands for any characters of that line. A line that is only `…` stands for zero
or more lines.
"""

import difflib
import re

ANY = "…"


def pattern(shown: str) -> re.Pattern:
    """A regular expression for the whole output."""
    parts = []
    lines = shown.strip("\n").split("\n")
    for number, line in enumerate(lines):
        end = "" if number == len(lines) - 1 else "\n"
        if line.strip() == ANY:
            # The pattern of the omitted lines includes the line break after them.
            parts.append(r"(?:[^\n]*\n)*" if end else r"(?:[^\n]*\n?)*")
            continue
        words = [re.escape(word) for word in line.rstrip().split(ANY)]
        parts.append(r"[^\n]*".join(words) + r"[ \t]*" + end)
    return re.compile("".join(parts) + r"\s*", re.ASCII)


def difference(shown: str, came: str) -> str | None:
    """The differences as a diff. None if the output matches the page."""
    if pattern(shown).fullmatch(came.replace("\r", "").rstrip("\n") + "\n"):
        return None
    lines = difflib.ndiff(shown.strip("\n").split("\n"), came.rstrip("\n").split("\n"))
    return "\n".join(line for line in lines if not line.startswith("?"))


def not_in(excerpt: str, source: str) -> tuple[int, str] | None:
    """The first line (index and text) of an excerpt that its source does not have.

    Returns None if the source has all lines. A line that is only `…`, or a comment with only `…`,
    stands for omitted lines. Indentation and empty lines are ignored.
    """
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    piece: list[tuple[int, str]] = []
    pieces = [piece]
    for number, line in enumerate(excerpt.splitlines()):
        if line.strip(" /#*") == ANY:
            piece = []
            pieces.append(piece)
        elif line.strip():
            piece.append((number, line.strip()))
    at = 0
    for piece in filter(None, pieces):
        wanted = [line for _, line in piece]
        starts = range(at, len(lines) - len(wanted) + 1)
        found = next((i for i in starts if lines[i : i + len(wanted)] == wanted), None)
        if found is None:
            return farthest(piece, lines[at:])
        at = found + len(wanted)
    return None


def farthest(piece: list[tuple[int, str]], lines: list[str]) -> tuple[int, str]:
    """Finds the place in `lines` where most lines from the start of a piece match.

    Returns the first line of the piece that does not match there.
    """
    best = 0
    for start in range(len(lines)):
        agree = 0
        for (_, line), other in zip(piece, lines[start:], strict=False):
            if line != other:
                break
            agree += 1
        best = max(best, agree)
    return piece[min(best, len(piece) - 1)]
