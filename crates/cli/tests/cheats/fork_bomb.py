"""Starts processes until the kernel refuses."""

import os
import time

from cheat import note

count = 0
try:
    while count < 5000:
        if os.fork() == 0:
            time.sleep(1000)
        count += 1
except OSError as error:
    print("refused", error, flush=True)
note(count >= 5000, f"{count} processes")
