"""Lists changes since another run.

Contests are compared by their ratios, because times depend on the load of the machine.
"""

from .table import number

# Relative changes of a ratio below this are noise, even if the quartiles do not overlap.
_NOISE = 0.10


def lines(old: dict, new: dict) -> list:
    """One line for each change above the noise, and for each new or gone contender.

    The first line is a warning if only one of the runs was a quick one.
    """
    out = []
    if old.get("quick") != new["quick"]:
        out.append("one of the two runs was a quick one: differences may be noise")
    before = {(c["key"], e["key"]): e for c in old["contests"] for e in c["entries"]}
    seen = set()
    for contest in new["contests"]:
        for e in contest["entries"][1:]:
            key = (contest["key"], e["key"])
            seen.add(key)
            was = before.get(key)
            if was is None:
                out.append(f"new: {contest['title']}, {e['title']}: {number(e['ratio'])} ×")
            elif _differs(was, e):
                out.append(
                    _line(
                        f"{contest['title']}, against {e['title']}",
                        was["ratio"],
                        e["ratio"],
                        "×",
                        False,
                    )
                )
    firsts = {(c["key"], c["entries"][0]["key"]) for c in [*old["contests"], *new["contests"]]}
    out += [f"gone: {c}, {e}" for c, e in sorted(before.keys() - seen - firsts)]
    figures = {f["key"]: f for f in old.get("figures", [])}
    for f in new["figures"]:
        was = figures.get(f["key"])
        # Absolute times vary with the load of the machine, so only changes by more than a factor of
        # 2 are reported.
        if was and _far(was["figure"], f["figure"], 1.0):
            out.append(_line(f["title"], was["figure"], f["figure"], f["unit"], f["lower"]))
    return out


def _differs(was: dict, now: dict) -> bool:
    apart = was["ratio_high"] < now["ratio_low"] or now["ratio_high"] < was["ratio_low"]
    return apart and _far(was["ratio"], now["ratio"], _NOISE)


def _far(a: float, b: float, noise: float) -> bool:
    low, high = sorted((abs(a), abs(b)))
    return high > low * (1 + noise)


def _line(what: str, was: float, now: float, unit: str, lower: bool) -> str:
    better = (now < was) == lower
    return f"{'better' if better else 'worse'}: {what}: {number(was)} → {number(now)} {unit}"
