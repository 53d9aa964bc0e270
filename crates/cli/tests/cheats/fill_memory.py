"""Tries to hold more memory than is allowed: anonymous memory, shared memory and memfd files."""

import mmap
import os

PIECE = 64 << 20
kept = []
for make in (
    lambda: bytearray(os.urandom(1)) * PIECE,
    lambda: mmap.mmap(-1, PIECE),
    lambda: os.memfd_create("hidden"),
):
    for _ in range(20):
        thing = make()
        if isinstance(thing, int):
            os.write(thing, bytes(PIECE))
        elif isinstance(thing, mmap.mmap):
            thing.write(bytes(PIECE))
        kept.append(thing)
print("gained", len(kept) * PIECE >> 20, "MiB", flush=True)
