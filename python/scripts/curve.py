"""Draws learning curves of `examples/train_ppo.py --curve` over wall time, as an SVG picture.

`python curve.py <picture.svg> <title>=<curve.json> ...`. The axis of time is logarithmic.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

COLOURS = ("#1b7f79", "#c8553d", "#6a5acd")
INK, FAINT = "#22303c", "#e3e8ec"
WIDTH, HEIGHT = 900, 320
PANEL_WIDTH, PANEL_HEIGHT, TOP = 360, 210, 50
LEFTS = (60, 510)
POINTS = 150
"""Largest number of points of a line besides its last point, so that the file stays small."""
TICKS_S = (1, 3, 10, 30, 60, 180, 600, 1800, 3600, 10800, 36000)


@dataclass
class Curve:
    """A learning curve: wall times, and the progress and the laps at each of these times."""

    title: str
    times_s: list[float]
    progress: list[float]
    laps: list[float]


def load(title: str, file: Path) -> Curve:
    """Reads a curve. Of a long curve, only about `POINTS` points are kept, and the last one."""
    rows: list[dict[str, Any]] = json.loads(file.read_text())["curve"]
    if not rows:
        raise ValueError(f"{file} has no points: train longer")
    every = math.ceil(len(rows) / POINTS)
    kept = rows[:-1:every] + rows[-1:]
    return Curve(
        title,
        [row["wall_s"] for row in kept],
        [row["progress"] for row in kept],
        [100 * row["laps"] for row in kept],
    )


def duration(seconds: float) -> str:
    """A short text for a wall time."""
    if seconds < 60:
        return f"{seconds:g} s"
    return f"{seconds / 60:g} min" if seconds < 3600 else f"{seconds / 3600:g} h"


class Axis:
    """The logarithmic axis of time of one panel."""

    def __init__(self, left: float, curves: list[Curve]) -> None:
        times = [time for curve in curves for time in curve.times_s]
        self._first = math.log(max(min(times), 0.5))
        self._last = max(math.log(max(times)), self._first + 1)
        self._left = left
        first, last = math.exp(self._first), math.exp(self._last)
        self.ticks = [tick for tick in TICKS_S if first * 0.99 <= tick <= last * 1.01]

    def x(self, seconds: float) -> float:
        """The place of a time on the picture."""
        part = (math.log(max(seconds, 0.5)) - self._first) / (self._last - self._first)
        return self._left + PANEL_WIDTH * part


def panel(
    left: float, title: str, top: float, marks: list[float], name: str, curves: list[Curve]
) -> list[str]:
    """One panel. `top` is the largest value, and `name` the attribute of a curve to draw."""
    axis, bottom = Axis(left, curves), TOP + PANEL_HEIGHT

    def y(value: float) -> float:
        return bottom - PANEL_HEIGHT * min(value / top, 1.0)

    out = [f'<text x="{left}" y="{TOP - 18}" font-weight="bold">{escape(title)}</text>']
    for mark in marks:
        out.append(f'<path d="M{left} {y(mark):.1f}h{PANEL_WIDTH}" stroke="{FAINT}"/>')
        place = f'x="{left - 8}" y="{y(mark) + 4:.1f}"'
        out.append(f'<text {place} text-anchor="end">{mark:g}</text>')
    for tick in axis.ticks:
        out.append(f'<path d="M{axis.x(tick):.1f} {TOP}v{PANEL_HEIGHT}" stroke="{FAINT}"/>')
        place = f'x="{axis.x(tick):.1f}" y="{bottom + 18}"'
        out.append(f'<text {place} text-anchor="middle">{duration(tick)}</text>')
    for curve, colour in zip(curves, COLOURS, strict=False):
        values = getattr(curve, name)
        points = " ".join(
            f"{axis.x(time):.1f},{y(value):.1f}"
            for time, value in zip(curve.times_s, values, strict=True)
        )
        style = f'fill="none" stroke="{colour}" stroke-width="2" stroke-linejoin="round"'
        out.append(f'<polyline points="{points}" {style}/>')
    return out


def draw(curves: list[Curve]) -> str:
    """The picture of all curves."""
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    font = f'font-family="sans-serif" font-size="12" fill="{INK}"'
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    parts = [0.0, 0.25, 0.5, 0.75, 1.0]
    out += panel(LEFTS[0], "Part of a lap in an episode", 1.0, parts, "progress", curves)
    percent = [100 * part for part in parts]
    out += panel(LEFTS[1], "Episodes with a whole lap, %", 100.0, percent, "laps", curves)
    x = float(LEFTS[0])
    for curve, colour in zip(curves, COLOURS, strict=False):
        out.append(f'<path d="M{x} {HEIGHT - 16}h24" stroke="{colour}" stroke-width="2"/>')
        out.append(f'<text x="{x + 30}" y="{HEIGHT - 12}">{escape(curve.title)}</text>')
        x += 60 + 7 * len(curve.title)
    out.append(f'<text x="{WIDTH - 30}" y="{HEIGHT - 12}" text-anchor="end">wall time</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def main() -> None:
    """Draws the curves that the command line names."""
    if len(sys.argv) < 3 or any("=" not in word for word in sys.argv[2:]):
        sys.exit("usage: python curve.py <picture.svg> <title>=<curve.json> ...")
    pairs = [word.split("=", 1) for word in sys.argv[2:]]
    if len(pairs) > len(COLOURS):
        sys.exit(f"there are colours for {len(COLOURS)} curves, not for {len(pairs)}")
    curves = [load(title, Path(file)) for title, file in pairs]
    Path(sys.argv[1]).write_text(draw(curves))


if __name__ == "__main__":
    main()
