"""Replaces the program of the simulator by a script, which would then run outside of a jail."""

import os
import shutil

from cheat import attempt, files_named

SCRIPT = "#!/bin/sh\ntouch /tmp/escaped\n"
places = [os.environ.get("CHEAT_BINARY", ""), shutil.which("chicane") or "", "/proc/1/exe"]
places += files_named("chicane", below=("/usr", "/opt", "/workspace"))
for place in filter(None, dict.fromkeys(places)):

    def write(place=place):
        with open(place, "r+b") as file:
            return file.write(SCRIPT.encode())

    attempt(f"write {place}", write)
    attempt(f"unlink {place}", lambda place=place: os.unlink(place) or True)
    attempt(f"rename {place}", lambda place=place: os.rename(place, place + ".old") or True)
