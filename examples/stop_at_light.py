"""Drives by camera and obeys a traffic light: stops at red and continues at green.

Needs NumPy and the world oval. Usage: python3 examples/stop_at_light.py http://127.0.0.1:8000
"""

import sys

import numpy as np
from chicane import Sim
from lap_by_camera import HEIGHT, SPEED, WIDTH, Lane

CLOSE = 120  # number of lamp pixels at a distance of about one metre
DRIVE_S = 6.0  # seconds of driving from the start until the car has passed the light


def lamp(picture):
    """Returns the number of pixels above the floor that show a red or yellow lamp."""
    above = picture[: HEIGHT * 6 // 10].astype(int)
    red, green, blue = (above[:, :, i] for i in range(3))
    return int(((red > 170) & (blue < 90) & (red - green > 20)).sum())


def main():
    sim = Sim(sys.argv[1] if len(sys.argv) > 1 else None)
    lane, speed, driving = Lane(sim.vehicle()), 0.0, 0.0
    while driving < DRIVE_S:
        seen = sim.observe(
            duration=1 / 15,
            speed=speed,
            steering=lane.steering,
            observe=["camera"],
            camera_width=WIDTH,
            camera_height=HEIGHT,
        )
        picture = np.asarray(seen["camera"])
        lane.steer(picture)
        stop = lamp(picture) > CLOSE
        if stop and speed:
            print("red: stopping", flush=True)
        elif not stop and not speed and driving:
            print("green: going on", flush=True)
        speed = 0.0 if stop else SPEED
        driving += speed / SPEED / 15
    sim.step(duration=0.5, speed=0.0)
    print("past the light")


if __name__ == "__main__":
    main()
