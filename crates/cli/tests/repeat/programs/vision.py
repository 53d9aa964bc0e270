"""NumPy and OpenCV: steers by the edges in camera pictures."""

import time

import cv2
import numpy
from car import checksum, drive, microseconds, ready, request, say

ready()
for number in range(30):
    picture = request("/camera?width=320")
    pixels = cv2.imdecode(numpy.frombuffer(picture, numpy.uint8), cv2.IMREAD_COLOR)
    edges = cv2.Canny(cv2.GaussianBlur(pixels, (5, 5), 0), 50, 150)
    columns = numpy.nonzero(edges)[1]
    middle = float(numpy.mean(columns)) if columns.size else 0.0
    spectrum = numpy.abs(numpy.fft.rfft2(pixels.mean(axis=2)))[:8, :8].round(3).tolist()
    request("/drive", drive(pixels.tobytes(), middle, spectrum, microseconds()))
    if number % 10 == 0:
        say(pixels.shape, checksum(picture), checksum(edges.tobytes()))
    time.sleep(0.1)
