"""Follows the wall on the right by lidar, once around the hall. It also works on a physical car.

python3 examples/follow_wall.py http://127.0.0.1:8000
"""

import math
import sys

from chicane import Robot

SPEED = 0.6  # m/s
KEEP = 0.5  # distance to keep from the wall, m

robot = Robot(sys.argv[1] if len(sys.argv) > 1 else None)
turned, before = 0.0, None
with robot.states_stream(["odom", "lidar"]) as news:
    for now in news:
        yaw, ranges = now["odom"]["orientation"]["yaw"], now["lidar"]["ranges"]
        turned += 0.0 if before is None else (yaw - before + 180) % 360 - 180
        before = yaw
        if turned >= 360:  # degrees
            break
        near = {int(key): value or 16.0 for key, value in ranges.items()}
        # Two beams give the distance to the wall and the angle between the car and the wall.
        right, ahead_right = near[-90], near[-45]
        angle = math.atan2(
            right - ahead_right * math.cos(math.pi / 4), ahead_right * math.sin(math.pi / 4)
        )
        distance = right * math.cos(angle) - 0.3 * math.sin(angle)  # predicted for 30 cm ahead
        # The error is clamped, so that the car approaches a distant wall at an angle, not head-on.
        off = max(-0.4, min(0.4, KEEP - distance))
        steering = 1.2 * off + 1.0 * angle
        front = min(near[key] for key in range(-20, 21))
        if front < 1.0:  # a corner: turn left, away from the wall
            steering = 0.35
        robot.drive(SPEED, max(-0.35, min(0.35, steering)))
robot.stop()
print("once around, by the wall")
