"""What a page shows, against what came out. `…` stands for whatever may be there.

Within a line it stands for any characters, a line of its own stands for any lines, none included.
A line that ends with it may go on over any width, but not over the end of the line.
"""

import difflib
import re

ANY = "…"


def pattern(shown: str) -> re.Pattern:
    """A pattern for the whole output."""
    parts = []
    lines = shown.strip("\n").split("\n")
    for number, line in enumerate(lines):
        end = "" if number == len(lines) - 1 else "\n"
        if line.strip() == ANY:
            # The line break belongs to the lines that are left out.
            parts.append(r"(?:[^\n]*\n)*" if end else r"(?:[^\n]*\n?)*")
            continue
        words = [re.escape(word) for word in line.rstrip().split(ANY)]
        parts.append(r"[^\n]*".join(words) + r"[ \t]*" + end)
    return re.compile("".join(parts) + r"\s*", re.ASCII)


def difference(shown: str, came: str) -> str | None:
    """What differs, for people; nothing if the output is what the page shows."""
    if pattern(shown).fullmatch(came.replace("\r", "").rstrip("\n") + "\n"):
        return None
    lines = difflib.ndiff(shown.strip("\n").split("\n"), came.rstrip("\n").split("\n"))
    return "\n".join(line for line in lines if not line.startswith("?"))


def not_in(excerpt: str, source: str) -> tuple[int, str] | None:
    """The first line (from 0) of an excerpt that its source does not have; nothing if it has all.

    Lines with `…` alone, also as a comment, stand for lines that are left out. Indents and empty
    lines don't count.
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
    """The line at which the best match of a piece ends."""
    best = 0
    for start in range(len(lines)):
        agree = 0
        for (_, line), other in zip(piece, lines[start:], strict=False):
            if line != other:
                break
            agree += 1
        best = max(best, agree)
    return piece[min(best, len(piece) - 1)]
