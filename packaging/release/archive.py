"""Archives with the same bytes for the same files: tar with gzip or xz, and ar."""

import gzip
import io
import lzma
import tarfile
from dataclasses import dataclass


@dataclass(frozen=True)
class File:
    """A file of a package."""

    content: bytes
    mode: int = 0o644


# Path without a leading slash -> file.
Files = dict[str, File]


def folders(paths: list[str]) -> list[str]:
    """All folders above some paths, sorted."""
    parts = [path.split("/") for path in paths]
    return sorted({"/".join(each[:depth]) for each in parts for depth in range(1, len(each))})


def tar(files: Files, epoch: int, prefix: str = "") -> bytes:
    """A tar archive, sorted by path, of files that belong to root and have one time."""
    entries: dict[str, File | None] = {**dict.fromkeys(folders(list(files))), **files}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path, file in sorted(entries.items()):
            entry = tarfile.TarInfo(prefix + path)
            entry.mtime, entry.uname, entry.gname = epoch, "root", "root"
            if file is None:
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(entry)
            else:
                entry.size, entry.mode = len(file.content), file.mode
                archive.addfile(entry, io.BytesIO(file.content))
    return out.getvalue()


def gz(content: bytes) -> bytes:
    """Compresses with gzip. The result has no file name and no time."""
    return gzip.compress(content, compresslevel=9, mtime=0)


def xz(content: bytes) -> bytes:
    """Compresses with xz, on one thread, because the result depends on the number of threads."""
    return lzma.compress(content, preset=6)


def ar(members: list[tuple[str, bytes]], epoch: int) -> bytes:
    """An ar archive in the form that dpkg reads."""
    out = b"!<arch>\n"
    for name, content in members:
        if len(name) > 15:
            raise ValueError(f"the name {name!r} is too long for ar: at most 15 characters")
        out += f"{name:<16}{epoch:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode()
        out += content + b"\n" * (len(content) % 2)
    return out
