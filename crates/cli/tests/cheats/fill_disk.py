"""Writes files in several folders until no space is left, and keeps the files."""

import os
import tempfile

from cheat import note

PIECE = bytes(1 << 20)
LIMIT = 3 << 30
written = 0
kept = []
for folder in (os.getcwd(), "/tmp", "/dev/shm", os.environ["HOME"]):
    # The file is not buffered. Otherwise closing the file would write the rest of the buffer, and
    # would fail again on the full disk.
    file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 (kept until the end)
    kept.append(file)
    try:
        while written < LIMIT:
            written += file.write(PIECE)
    except OSError as error:
        print("refused", folder, error, flush=True)
note(written >= LIMIT, f"{written >> 20} MiB")
