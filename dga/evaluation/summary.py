"""A short table of a run, for the terminal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from dga.corruptions import CLEAN, CORRUPTIONS, FAMILIES, SEVERITIES
from dga.evaluation.results_file import Line


def summarise(lines: Sequence[Line]) -> str:
    """A Markdown table: accuracy in percent by corruption, family and method; median t*."""
    hits: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for line in lines:
        hits[line["corruption"], line["method"]].append(line["correct"])
    table = {key: float(np.mean(values)) for key, values in hits.items()}
    methods = list(dict.fromkeys(line["method"] for line in lines))
    names = list(dict.fromkeys(line["corruption"] for line in lines))
    adaptive = next((m for m in ("dga-plus", "dga-guided", "dga") if m in methods), None)
    head = "| corruption | " + " | ".join(methods) + " | median t* | t* <= 4 | not crossed |"
    rows = [head, "|" + "---|" * (len(methods) + 4)]

    def row(title: str, group: Sequence[str]) -> str:
        cells = [
            f"{100 * float(np.mean([table[n, m] for n in group])):.1f}"
            if all((n, m) in table for n in group)
            else ""
            for m in methods
        ]
        mine = [r for r in lines if r["corruption"] in group and r["method"] == adaptive]
        if mine:
            depths = np.array([r["depth"] for r in mine])
            late = np.mean([not r["crossed"] for r in mine])
            cells += [f"{np.median(depths):.0f}", f"{np.mean(depths <= 4):.0%}", f"{late:.0%}"]
        else:
            cells += ["", "", ""]
        return f"| {title} | " + " | ".join(cells) + " |"

    rows += [row(name, [name]) for name in names]
    for family, members in FAMILIES.items():
        if set(members) <= set(names):
            rows.append(row(f"**{family}**", list(members)))
    if set(CORRUPTIONS) <= set(names):
        rows.append(row("**mean of 15**", list(CORRUPTIONS)))
    return "\n".join(rows)


def summarise_stream(lines: Sequence[Line]) -> str:
    """A Markdown table of a mixed stream: accuracy in percent by severity, family and method."""
    methods = list(dict.fromkeys(line["method"] for line in lines))
    groups = {"**all**": [*lines], CLEAN: [r for r in lines if r["corruption"] == CLEAN]}
    groups |= {f"severity {n}": [r for r in lines if r["severity"] == n] for n in SEVERITIES}
    groups |= {
        family: [r for r in lines if r["corruption"] in members]
        for family, members in FAMILIES.items()
    }
    table = ["| pictures | " + " | ".join(methods) + " |", "|" + "---|" * (len(methods) + 1)]
    for title, chosen in groups.items():
        if chosen:
            hits = [[r["correct"] for r in chosen if r["method"] == m] for m in methods]
            cells = [f"{100 * float(np.mean(own)):.1f}" if own else "" for own in hits]
            table.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(table)
