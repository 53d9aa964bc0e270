"""Child processes: each reads a sensor, and the parent waits for one of them with a timeout."""

import subprocess
import sys
import time

from car import checksum, drive, microseconds, ready, request, say

READ = """
import sys, time
from car import get, microseconds
time.sleep(float(sys.argv[2]))
print(get(sys.argv[1]), microseconds())
"""


def child(path: str, pause: float) -> subprocess.Popen:
    arguments = [sys.executable, "-c", READ, path, str(pause)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


ready()
late = 0
for number in range(15):
    sensors = [child("/lidar?step=20", 0.11), child("/odom", 0.07)]
    try:
        sensors[0].wait(timeout=0.05 * (number % 5))
    except subprocess.TimeoutExpired:
        late += 1
    first, second = [sensor.communicate()[0] for sensor in sensors]
    request("/drive", drive(first, second, late, microseconds()))
    if number % 4 == 0:
        say(late, checksum(first, second))
    time.sleep(0.1)
subprocess.run(["sleep", "0.25"], check=True)
say(late, "late")
