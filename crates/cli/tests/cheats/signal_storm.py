"""Sends every signal to every process, many times."""

import os
import signal

from cheat import note

for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
for _ in range(200):
    for number in (signal.SIGTERM, signal.SIGSTOP, signal.SIGHUP, signal.SIGKILL):
        for target in (1, 0 if number not in (signal.SIGKILL, signal.SIGSTOP) else 1):
            try:
                os.kill(target, number)
            except OSError:
                pass
note(False, "still here")
