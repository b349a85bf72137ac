"""A depth at each place against controls and rivals, on whole photographs."""

from __future__ import annotations

from collections.abc import Mapping

from dga.analysis.results import PhotographRun
from dga.analysis.statistics import Estimate
from dga.analysis.tables.photographs import (
    DAMAGED,
    Measured,
    damage_title,
    method_words,
    photographs_comparisons,
)
from dga.figures.chart import Axis, Chart, Panel, Rule, Series, rounded
from dga.figures.palette import method_style

SHOWN = ("ramp", "strokes", "noises 3", "noises 5")
SHORT = {"best single depth, same noise everywhere": "the same, noise alike"}
ROW = 24


def photographs_figure(run: PhotographRun) -> Chart:
    """Own depths minus each, in dB: where noise is uneven, and where it is alike everywhere."""
    table = photographs_comparisons(run)
    found = {group: rivals for group, rivals in Measured(run).differences() if group in SHOWN}
    for rivals in found.values():
        rivals.pop(DAMAGED, None)
    every = [one for rivals in found.values() for one in rivals.values()]
    limits = min(one.low for one in every) - 0.5, max(one.high for one in every) + 0.5
    x = Axis("own depths minus this (dB)", (round(limits[0], 1), round(limits[1], 1)))
    return Chart(
        "photographs",
        table.title,
        table.caption,
        tuple(_panel(group, rivals, x) for group, rivals in found.items() if rivals),
        height=ROW * 6,
        commands=table.commands,
    )


def _panel(group: str, estimates: Mapping[str, Estimate], x: Axis) -> Panel:
    color, mark = method_style("dga-plus")
    rows = [
        (float(-place), method_words(SHORT.get(rival, rival)), one)
        for place, (rival, one) in enumerate(estimates.items())
    ]
    series = tuple(
        Series(
            "points", rounded([one.value], 2), (place,), color, name=name, along="x", mark=mark,
            low=rounded([one.low], 2), high=rounded([one.high], 2),
        )
        for place, name, one in rows
    )  # fmt: skip
    ticks = tuple((place, name) for place, name, _ in rows)
    y = Axis(limits=(0.4 - len(rows), 0.6), ticks=ticks)
    return Panel(series, x, y, damage_title(group), (Rule("x", 0),))
