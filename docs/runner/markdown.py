"""Parses a page into fenced blocks and running text.

A remark is an HTML comment `<!-- docs: … -->`. It is invisible on the rendered page. A remark
belongs to the block on the next line, or stands alone.
"""

import re
from dataclasses import dataclass

FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,}|~{3,})(?P<language>[^\s`]*)(?P<rest>[^`]*)$")
REMARK = re.compile(r"^\s*<!--\s*docs:\s*(?P<text>.*?)\s*-->\s*$")
SAVE = re.compile(r"\bSave [a-z ]*\bas `(?P<name>[^`]+)`[^`]*:$")


class PageError(Exception):
    """An error on a page. `line` is the line number on the page."""

    def __init__(self, line: int, text: str):
        super().__init__(text)
        self.line = line


@dataclass
class Block:
    """A fenced block, or a remark that stands alone.

    For a remark that stands alone, `language` and `text` are empty.
    """

    line: int  # line number of the first line of text, or of the remark
    language: str
    text: str
    remark: str | None = None
    save_as: str | None = None  # file name, if the paragraph before ends with "Save … as `name`:"


Text = list[tuple[int, str]]
"""The lines between the blocks, with their line numbers."""


def ends(fence: re.Match, line: str) -> bool:
    """Whether a line closes the fence."""
    ticks = line.strip()
    return len(ticks) >= len(fence["ticks"]) and set(ticks) == {fence["ticks"][0]}


def read(source: str) -> tuple[list[Block], Text]:
    """The blocks of a page in order, and its running text."""
    blocks, text = [], []
    remark: tuple[int, str] | None = None
    fence: re.Match | None = None
    start, inside = 0, []
    before, continues = "", False  # the last paragraph, and whether the next line belongs to it
    for number, line in enumerate(source.splitlines(), 1):
        if fence:
            if ends(fence, line):
                save = SAVE.search(before.strip())
                blocks.append(
                    Block(
                        start + 1,
                        fence["language"],
                        "\n".join(inside) + "\n",
                        remark[1] if remark else None,
                        save["name"] if save else None,
                    )
                )
                fence, remark, before = None, None, ""
            else:
                inside.append(line.removeprefix(fence["indent"]))
            continue
        if found := REMARK.match(line):
            if remark:
                blocks.append(Block(remark[0], "", "", remark[1]))
            remark = (number, found["text"])
            continue
        if found := FENCE.match(line):
            fence, start, inside = found, number, []
            if found["rest"].strip():
                rest = found["rest"].strip()
                raise PageError(number, f"unexpected text {rest!r} after the language")
            continue
        if remark:
            blocks.append(Block(remark[0], "", "", remark[1]))
            remark = None
        text.append((number, line))
        if line.strip():
            before = f"{before} {line.strip()}" if continues else line
        continues = bool(line.strip())
    if fence:
        raise PageError(start, "the block has no closing fence")
    if remark:
        blocks.append(Block(remark[0], "", "", remark[1]))
    return blocks, text
