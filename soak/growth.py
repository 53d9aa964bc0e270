"""Decides whether memory grows, by the median slope between samples. A median ignores peaks."""

import statistics
from typing import Any

from .history import HistoryLine

#: Fraction of the run that is ignored as warm-up. In this time memory grows without a leak, because
#: worlds are drawn for the first time and caches are filled.
WARM_UP = 0.4
#: Shortest span of samples, in seconds, for which growth can be judged.
LEAST_S = 200.0
#: If the total growth is below this fraction of the median memory, it is noise.
PART = 0.08
#: If the growth is below this rate, in kB per minute, it is noise too.
KB_A_MINUTE = 1024.0


def trend(lines: list[HistoryLine], begun: float, ended: float) -> dict[str, Any] | None:
    """The trend of memory after the warm-up. None if there are too few samples."""
    since = begun + WARM_UP * (ended - begun)
    seen = [w for w in lines if w["k"] == "watch" and since <= w["t0"] <= ended]
    # Only every `step`-th sample is used, so that there are fewer than 400. Slopes between samples
    # that are close in time are mostly noise, so only samples that are at least a quarter of the
    # run apart are paired.
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
