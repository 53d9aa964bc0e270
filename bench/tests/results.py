"""A small hand-written result of a run."""


def entry(key: str, ratio: float, ours: bool = False, spread: float = 0.02) -> dict:
    """One contender of a contest."""
    return {
        "key": key,
        "title": key.title(),
        "ours": ours,
        "figure": 1000.0 / ratio,
        "low": 900.0 / ratio,
        "high": 1100.0 / ratio,
        "ratio": ratio,
        "ratio_low": ratio * (1 - spread),
        "ratio_high": ratio * (1 + spread),
    }


def run(**ratios: float) -> dict:
    """A run with one contest, `step`, and one figure."""
    entries = [entry("core", 1.0, ours=True), *(entry(key, r) for key, r in ratios.items())]
    contest = {"key": "step", "title": "a step", "unit": "1/s", "lower": False, "note": "as it is"}
    figure = {"key": "start", "title": "start", "figure": 20.0, "unit": "ms", "lower": True}
    machine = {
        "date": "2026-01-02T03:04:05+00:00",
        "commit": "abc",
        "cores": 2,
        "processor": "P",
        "memory_gb": 4,
        "system": "S",
        "load": 0.1,
    }
    return {
        "quick": False,
        "machine": machine,
        "versions": {"MuJoCo": "1"},
        "contests": [contest | {"entries": entries}],
        "figures": [figure],
        "missing": [],
    }
