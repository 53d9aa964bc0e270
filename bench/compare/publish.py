"""Puts a run into docs/BENCHMARKS.md, between two markers; the rest is written by people."""

from pathlib import Path

from .table import markdown

BEGIN = "<!-- figures: written by make bench PUBLISH=1 -->"
END = "<!-- end of figures -->"


def into(document: str, result: dict) -> str:
    """The document with these figures."""
    head, begin, rest = document.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"bench: docs/BENCHMARKS.md needs the lines {BEGIN} and {END}")
    return f"{head}{BEGIN}\n\n{markdown(result)}\n{END}{tail}"


def write(file: Path, result: dict) -> None:
    """Changes the file, or leaves it as it was."""
    new = into(file.read_text(), result)
    beside = file.with_suffix(".new")
    beside.write_text(new)
    beside.replace(file)
