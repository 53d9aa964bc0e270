"""Whether memory grows: the middle of all slopes between two looks, which a few peaks do not
move.
"""

import statistics
from typing import Any

from .history import Line

#: What comes before is warm-up: worlds are drawn for the first time, pools and caches fill.
WARM_UP = 0.4
#: Shorter than this nothing is said about growth.
LEAST_S = 200.0
#: Growth by less than this part of what there is, in the time that was watched, is noise.
PART = 0.08
#: And so is less than this.
KB_A_MINUTE = 1024.0


def trend(lines: list[Line], begun: float, ended: float) -> dict[str, Any] | None:
    """How memory went after the warm-up; nothing when there is too little to say."""
    since = begun + WARM_UP * (ended - begun)
    seen = [w for w in lines if w["k"] == "watch" and since <= w["t0"] <= ended]
    # A look every few seconds is enough, and slopes between neighbours say nothing.
    step = max(1, len(seen) // 200)
    points = [(w["t0"], w["anon_kb"]) for w in seen[::step]]
    far = [
        (b[1] - a[1]) / (b[0] - a[0])
        for i, a in enumerate(points)
        for b in points[i + len(points) // 4 :]
        if b[0] > a[0]
    ]
    if len(points) < 8 or not far:
        return None
    slope = statistics.median(far)
    watched = points[-1][0] - points[0][0]
    middle = statistics.median(kb for _, kb in points)
    grows = slope * 60 > KB_A_MINUTE and slope * watched > PART * middle
    return {
        "kb_a_minute": slope * 60,
        "watched_s": watched,
        "since_s": since,
        "median_kb": middle,
        "first_kb": statistics.median(kb for _, kb in points[: len(points) // 5 or 1]),
        "last_kb": statistics.median(kb for _, kb in points[-(len(points) // 5 or 1) :]),
        "grows": grows,
    }
