"""One text with the licences of all parts of the program.

Parts with the same text share it. A part without a licence file gets the text of one of its
licences: Apache-2.0 from this repository, or MIT with the names of its authors.
"""

import re
from pathlib import Path

from .parts import Part

NAMES = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense|ofl)([-._].*)?", re.IGNORECASE)
# Suffixes of source files. A source file is not a licence, even if its name begins like the name of
# a licence file.
NOT_TEXTS = (".rs", ".js", ".ts", ".html", ".toml", ".json")
# A larger file is an error, because it is probably not a licence. Size in bytes.
LARGEST = 256 << 10
MOST_FILES = 16
# The heading in Vite's own licence file, below which the licences of the packages inside Vite
# follow. The text is cut off here, because these packages are not in the pages.
APPENDIX = "\n# Licenses of bundled dependencies\n"
MIT = """\
MIT License

Copyright (c) {authors}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial
portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES
OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""
INTRODUCTION = """\
Chicane has the licence Apache-2.0. The program also contains the libraries below. This software is
based in part on the work of the Independent JPEG Group. SQLite, which is part of libsqlite3-sys, is
in the public domain.
"""
LINE = "=" * 100


def texts(part: Part, apache: str) -> list[str]:
    """The licence texts of a part. `apache` is the text of Apache-2.0."""
    found = own_texts(part)
    if found:
        return found
    options = {
        word for word in re.split(r"[\s()]+", part.licence) if word not in ("OR", "AND", "WITH")
    }
    if "AND" not in part.licence.split() and "Apache-2.0" in options:
        return [normal(apache)]
    if part.licence == "MIT":
        authors = [re.sub(r"\s*<.*>", "", author) for author in part.authors]
        return [normal(MIT.format(authors=", ".join(authors) or f"the authors of {part.name}"))]
    raise ValueError(
        f"{part.name} {part.version} ({part.licence or 'unknown licence'}) has no licence file: "
        "add its text to packaging/release/licences.py"
    )


def own_texts(part: Part) -> list[str]:
    """The licence files in the folder of a part."""
    if part.folder is None:
        return []
    if not part.folder.is_dir():
        raise ValueError(f"the files of {part.name} are not in {part.folder}: run make build")
    files = [file for file in sorted(part.folder.iterdir()) if is_licence(file)]
    if len(files) > MOST_FILES:
        raise ValueError(f"{part.name} has more than {MOST_FILES} licence files")
    found = []
    for file in files:
        if file.stat().st_size > LARGEST:
            raise ValueError(f"{part.name}: {file.name} is larger than {LARGEST >> 10} KiB")
        text = file.read_text(errors="replace")
        found.append(normal(text.partition(APPENDIX)[0] if part.name == "vite" else text))
    return [text for text in found if text]


def is_licence(file: Path) -> bool:
    """Whether the name of a file is that of a licence."""
    named = NAMES.fullmatch(file.name) is not None and file.suffix.lower() not in NOT_TEXTS
    return named and file.is_file()


def normal(text: str) -> str:
    """A text without blanks at line ends, and without empty lines at its start and end.

    Texts that differ only in such blanks and empty lines become equal.
    """
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").replace("\f", "\n").splitlines()]
    return "\n".join(lines).strip("\n")


def collected(parts: list[Part], apache: str) -> str:
    """The list of parts, then each text with the parts that it applies to."""
    users: dict[str, list[str]] = {}
    out = [INTRODUCTION]
    for part in parts:
        label = f"{part.name} {part.version}"
        out.append(f"{label} ({part.kind}): {part.licence}")
        for text in texts(part, apache):
            names = users.setdefault(text, [])
            if label not in names:
                names.append(label)
    for text, names in users.items():
        out.append(f"\n{LINE}\n{', '.join(names)}\n{LINE}\n\n{text}")
    return "\n".join(out) + "\n"
