"""Hops to the far side of the track, and from there over the start line."""

from cheat import post, route, step

points = route()
for x, y in (points[len(points) // 2], points[-1], points[1]):
    post("/pose", {"x": x, "y": y})
    post("/pose", {"x": x, "y": y, "duration": 0.1})
    step(steps=40)
