"""Drives a lap by camera: finds the yellow line in the picture and steers towards it.

Needs NumPy. Usage: python3 examples/lap_by_camera.py http://127.0.0.1:8000
"""

import math
import sys

import numpy as np
from chicane import Sim

SPEED = 0.7  # m/s
WIDTH, HEIGHT = 320, 240


class Lane:
    """Finds the yellow centre line in pictures of the car's camera."""

    def __init__(self, vehicle):
        camera = vehicle["camera"]
        self.wheelbase = vehicle["wheelbase"]
        self.from_rear = camera["position"][0] + self.wheelbase / 2
        focal = WIDTH / 2 / math.tan(camera["horizontal_fov"] / 2)
        rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH] + 0.5
        down = np.maximum(rows - HEIGHT / 2, 0.5)  # pixels below the horizon
        # Position on the floor that each pixel shows, in metres ahead of the camera and
        # to its left.
        self.ahead = camera["position"][2] * focal / down
        self.left = self.ahead * (WIDTH / 2 - columns) / focal
        self.steering = 0.0

    def steer(self, picture):
        """Returns the steering towards the yellow line, or the last one if no line is visible."""
        red, green, blue = (picture[:, :, i].astype(int) for i in range(3))
        yellow = (red > 150) & (green > 100) & (blue < 90) & (red - blue > 90)
        yellow &= (self.ahead > 0.25) & (self.ahead < 1.1)
        if yellow.sum() > 5:
            # Distant parts of the line have few pixels, so pixels are weighted by the area of floor
            # that they cover.
            weight = self.ahead[yellow] ** 3
            x = np.average(self.ahead[yellow], weights=weight) + self.from_rear
            y = np.average(self.left[yellow], weights=weight)
            self.steering = math.atan(2 * self.wheelbase * y / (x * x + y * y))
        return self.steering


def main():
    sim = Sim(sys.argv[1] if len(sys.argv) > 1 else None)
    length = sum(map(math.dist, *(lambda route: (route, route[1:]))(sim.route()["waypoints"])))
    lane, speed, driven = Lane(sim.vehicle()), 0.0, 0.0
    while driven < length:
        seen = sim.observe(
            duration=1 / 15,
            speed=speed,
            steering=lane.steering,
            observe=["camera"],
            camera_width=WIDTH,
            camera_height=HEIGHT,
        )
        lane.steer(np.asarray(seen["camera"]))
        speed = SPEED
        driven += seen.state["vehicle"]["speed"] / 15
    print("one lap, by camera")


if __name__ == "__main__":
    main()
