"""Sends signals to the first process of the box and to its own process group, many times."""

import contextlib
import os
import signal

from cheat import note

for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_IGN)
for _ in range(200):
    for number in (signal.SIGTERM, signal.SIGSTOP, signal.SIGHUP, signal.SIGKILL):
        for target in (1, 0 if number not in (signal.SIGKILL, signal.SIGSTOP) else 1):
            with contextlib.suppress(OSError):
                os.kill(target, number)
note(False, "still here")
