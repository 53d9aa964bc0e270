"""Follows the wall on the right by lidar alone, once around the hall. It would do so on a physical
car.

python3 examples/follow_wall.py http://127.0.0.1:8000
"""

import math
import sys

from chicane import Robot

SPEED = 0.6  # m/s
KEEP = 0.5  # metres from the wall

robot = Robot(sys.argv[1] if len(sys.argv) > 1 else None)
turned, before = 0.0, None
with robot.states_stream(["odom", "lidar"]) as news:
    for now in news:
        yaw, ranges = now["odom"]["orientation"]["yaw"], now["lidar"]["ranges"]
        turned += 0.0 if before is None else (yaw - before + 180) % 360 - 180
        before = yaw
        if turned >= 360:  # degrees: once around
            break
        near = {int(key): value or 16.0 for key, value in ranges.items()}
        # Two beams to the right tell how far the wall is, and by how much our nose points at it.
        right, ahead_right = near[-90], near[-45]
        angle = math.atan2(
            right - ahead_right * math.cos(math.pi / 4), ahead_right * math.sin(math.pi / 4)
        )
        distance = right * math.cos(angle) - 0.3 * math.sin(angle)  # where we shall be in 30 cm
        off = max(-0.4, min(0.4, KEEP - distance))  # a wall that is far is approached at a slant
        steering = 1.2 * off + 1.0 * angle
        front = min(near[key] for key in range(-20, 21))
        if front < 1.0:  # a corner: away from the wall
            steering = 0.35
        robot.drive(SPEED, max(-0.35, min(0.35, steering)))
robot.stop()
print("once around, by the wall")
