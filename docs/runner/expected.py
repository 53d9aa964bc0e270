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
