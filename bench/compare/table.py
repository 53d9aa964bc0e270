"""Formats results as tables for a terminal and for docs/BENCHMARKS.md."""


def number(value: float) -> str:
    """Formats a number with about three significant digits."""
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    if size == int(size):
        return f"{value:.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.2f}" if size >= 0.1 else f"{value:.3f}"


def verdict(ratio: float) -> str:
    """Formats a ratio: how many times better the first contender of a contest is."""
    return f"{number(ratio)} ×"


def rows(contest: dict) -> list:
    """Contender, figure, ratio and quartiles of the ratio, for each entry."""
    out = []
    for i, e in enumerate(contest["entries"]):
        figure = f"{number(e['figure'])} {contest['unit']}"
        if i == 0:
            out.append((e["title"], figure, "", ""))
        else:
            spread = f"{number(e['ratio_low'])} – {number(e['ratio_high'])}"
            out.append((e["title"], figure, verdict(e["ratio"]), spread))
    return out


def text(result: dict) -> str:
    """The tables for a terminal."""
    lines = [machine_line(result), ""]
    for contest in result["contests"]:
        head = contest["title"]
        lines.append(f"{head:<56}{'':>22}{'the first is':>14}{'quartiles':>20}")
        for title, figure, ratio, spread in rows(contest):
            lines.append(f"  {title:<54}{figure:>22}{ratio:>14}{spread:>20}")
        lines.append("")
    if result["figures"]:
        lines.append("Chicane alone")
        for f in result["figures"]:
            lines.append(f"  {f['title']:<60}{number(f['figure']) + ' ' + f['unit']:>20}")
    lines += [f"not measured: {m}" for m in result["missing"]]
    return "\n".join(lines)


def machine_line(result: dict) -> str:
    """One line about the machine and the time of the run."""
    m = result["machine"]
    how = "quick run, figures are imprecise" if result["quick"] else "complete run"
    return (
        f"{m['date']}, commit {m['commit']}, {m['cores']} cores of {m['processor']}, "
        f"{m['memory_gb']} GB, {m['system']}, load {m['load']} at the start and "
        f"{m.get('load_end', '?')} at the end; {how}"
    )


def markdown(result: dict) -> str:
    """The tables for the document."""
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    picture = "![How many times better Chicane was in each contest](benchmarks.png)"
    lines = [picture, "", f"{machine_line(result)}. {versions}.", ""]
    for contest in result["contests"]:
        lines.append(
            f"**{contest['title']}** ({contest['note']})"
            if contest["note"]
            else f"**{contest['title']}**"
        )
        lines += ["", "| | figure | the first is better by | quartiles |", "|---|---:|---:|---:|"]
        lines += [f"| {t} | {f} | {_loss(r)} | {s} |" for t, f, r, s in rows(contest)]
        lines.append("")
    if result["figures"]:
        lines += ["**Chicane alone**", "", "| | figure |", "|---|---:|"]
        lines += [
            f"| {f['title']} | {number(f['figure'])} {f['unit']} |" for f in result["figures"]
        ]
        lines.append("")
    lines += [line for m in result["missing"] for line in (f"Not measured: {m}.", "")]
    lines += ["**Where others are better**", "", *losses(result), ""]
    return "\n".join(lines).strip() + "\n"


def _loss(ratio: str) -> str:
    return f"**{ratio}**" if ratio and float(ratio[:-2].replace(",", "")) < 1 else ratio


def losses(result: dict) -> list:
    """One line for each entry of another simulator that is better than Chicane."""
    out = []
    for contest in result["contests"]:
        for e in contest["entries"][1:]:
            if not e["ours"] and e["ratio"] < 1:
                out.append(
                    f"- {contest['title']}: {e['title']} is {number(1 / e['ratio'])} times better."
                )
    return out or ["- Nowhere in this run."]
