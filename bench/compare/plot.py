"""Draws the results: how many times better Chicane was, on a logarithmic scale.

`python -m compare.plot <result.json> <picture.png>`, with the Python of the venv of `venv.py`,
which has matplotlib.
"""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from .table import number

_BETTER, _WORSE, _INK, _FAINT = "#1b7f79", "#c8553d", "#22303c", "#8a97a3"


def bars(result: dict) -> list:
    """Title, first contender and entries of other simulators, for each contest.

    Contests without other simulators are left out.
    """
    groups = []
    for contest in result["contests"]:
        others = [e for e in contest["entries"][1:] if not e["ours"]]
        if others:
            groups.append((contest["title"], contest["entries"][0]["title"], others))
    return groups


def draw(result: dict, file: Path) -> None:
    """Writes the picture."""
    groups = bars(result)
    count = sum(len(others) for _, _, others in groups) + 1.5 * len(groups)
    figure, axes = plt.subplots(figsize=(10, 0.27 * count + 1.1), dpi=110)
    y, ticks, names = 0.0, [], []
    ratios = [e["ratio"] for _, _, others in groups for e in others]
    low, high = min([*ratios, 1]) / 3, max([*ratios, 1]) * 6
    for title, first, others in groups:
        heading = axes.text(
            low * 1.05, y, title, weight="bold", va="center", color=_INK, fontsize=9
        )
        heading.set(zorder=5, bbox={"color": "white", "pad": 1})
        axes.text(high / 1.05, y, first, va="center", ha="right", color=_FAINT, fontsize=8)
        y += 1
        for e in others:
            ratio = e["ratio"]
            colour = _BETTER if ratio >= 1 else _WORSE
            axes.barh(y, ratio - 1, left=1, height=0.72, color=colour, zorder=2)
            axes.plot([e["ratio_low"], e["ratio_high"]], [y, y], color=_INK, lw=1, zorder=3)
            end = max(ratio, e["ratio_high"]) if ratio >= 1 else min(ratio, e["ratio_low"])
            side, shift = ("left", 1.08) if ratio >= 1 else ("right", 1 / 1.08)
            axes.text(
                end * shift, y, f"{number(ratio)} ×", va="center", ha=side, color=_INK, fontsize=8
            )
            ticks.append(y)
            names.append(e["title"])
            y += 1
        y += 0.5
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_ylim(y, -1)
    axes.set_yticks(ticks, names, fontsize=8)
    axes.axvline(1, color=_INK, lw=1, zorder=4)
    axes.grid(axis="x", color="#e3e8ec", zorder=0)
    axes.tick_params(length=0, colors=_INK)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_xlabel(
        "times better (left of 1: worse); lines are quartiles",
        fontsize=8,
        color=_INK,
    )
    m = result["machine"]
    quick = ", a quick run" if result["quick"] else ""
    when = f"{m['date'][:10]}, {m['cores']} cores, {m['system']}{quick}"
    axes.set_title(f"Chicane beside other simulators ({when})", fontsize=10, color=_INK, loc="left")
    axes.minorticks_off()
    figure.tight_layout()
    figure.savefig(file)


if __name__ == "__main__":
    draw(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]))
