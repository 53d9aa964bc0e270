"""A student's program that leaves daemons in other process sessions.

The daemons ignore SIGTERM, SIGHUP and SIGINT.
"""

import os
import signal
import time

for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            time.sleep(600)
        os._exit(0)
print("hidden")
