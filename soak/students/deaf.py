"""Does not want to end."""

import signal
import time

for number in range(1, signal.NSIG):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while True:
    time.sleep(1)
