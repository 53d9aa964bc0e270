"""Writes a run into docs/BENCHMARKS.md, between two markers. The rest of the page is unchanged."""

from pathlib import Path

from .table import markdown

BEGIN = "<!-- figures: written by make bench PUBLISH=1 -->"
END = "<!-- end of figures -->"


def into(document: str, result: dict) -> str:
    """The document with the figures of this run. Exits if the markers are missing."""
    head, begin, rest = document.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"bench: docs/BENCHMARKS.md needs the lines {BEGIN} and {END}")
    return f"{head}{BEGIN}\n\n{markdown(result)}\n{END}{tail}"


def write(file: Path, result: dict) -> None:
    """Replaces the file atomically, so that a failure leaves it unchanged."""
    new = into(file.read_text(), result)
    beside = file.with_suffix(".new")
    beside.write_text(new)
    beside.replace(file)
