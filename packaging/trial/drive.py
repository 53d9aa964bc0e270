"""Drives two simulated seconds with the client of the package: drive.py <address>"""

import sys
import time

from chicane import Sim

sim = Sim(sys.argv[1])
end = time.monotonic() + 60
while True:
    try:
        before = sim.state()["vehicle"]["x"]
        break
    except OSError:
        if time.monotonic() > end:
            raise
        time.sleep(0.1)
after = sim.step(duration=2, speed=1)["vehicle"]["x"]
print(f"x: {before:.3f} m, then {after:.3f} m")
if not after - before > 0.5:
    sys.exit("the car did not move")
