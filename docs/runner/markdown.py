"""From the text of a page to its blocks: what is fenced, with the remark that stands before it.

A remark is an HTML comment `<!-- docs: … -->`, which no reader of the rendered page sees. It stands
on the line before a block, or by itself.
"""

import re
from dataclasses import dataclass

FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,}|~{3,})(?P<language>[^\s`]*)(?P<rest>[^`]*)$")
REMARK = re.compile(r"^\s*<!--\s*docs:\s*(?P<text>.*?)\s*-->\s*$")
SAVE = re.compile(r"\bSave [a-z ]*\bas `(?P<name>[^`]+)`[^`]*:$")


class PageError(Exception):
    """Something is wrong with a page, or with what it says; `line` is a line of the page."""

    def __init__(self, line: int, text: str):
        super().__init__(text)
        self.line = line


@dataclass
class Block:
    """A fenced block, or a remark that stands by itself (then without text)."""

    line: int  # of its first line of text, or of the remark
    language: str
    text: str
    remark: str | None = None
    save_as: str | None = None  # "Save this as `name`:" is what the page says right before


Text = list[tuple[int, str]]
"""What stands between the blocks: lines with their numbers."""


def ends(fence: re.Match, line: str) -> bool:
    """Whether a line closes the fence."""
    ticks = line.strip()
    return len(ticks) >= len(fence["ticks"]) and set(ticks) == {fence["ticks"][0]}


def read(source: str) -> tuple[list[Block], Text]:
    """The blocks of a page in their order, and its running text."""
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
                raise PageError(number, f"what is {found['rest'].strip()!r} after the language?")
            continue
        if remark:
            blocks.append(Block(remark[0], "", "", remark[1]))
            remark = None
        text.append((number, line))
        if line.strip():
            before = f"{before} {line.strip()}" if continues else line
        continues = bool(line.strip())
    if fence:
        raise PageError(start, "a block without an end")
    if remark:
        blocks.append(Block(remark[0], "", "", remark[1]))
    return blocks, text
