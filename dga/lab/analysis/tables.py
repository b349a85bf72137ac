"""Tables 1 and 2 of the paper for our models, the table of a stream, and a summary."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from dga.corruptions import CLEAN, CORRUPTIONS, FAMILIES
from dga.lab.analysis import paper
from dga.lab.analysis.names import (
    ALL,
    MEAN,
    SOURCE,
    STREAM_GROUPS,
    STREAMS,
    SYSTEMS,
    MethodName,
    format_group,
)
from dga.lab.analysis.pooled_runs import PooledRuns
from dga.lab.analysis.table import (
    EMPTY_CELL,
    Cells,
    Table,
    format_estimate,
    format_points,
    to_markdown,
)

INTERVALS = "95 % intervals (paired bootstrap over photographs)"


def make_table_1(pooled: PooledRuns) -> Table:
    """All methods: accuracy, gain and cost, and the paper's accuracy of each system."""
    correct, rows, systems = pooled.correct, list[Cells](), set[str]()
    for method in _list_methods(pooled):
        name, system = method.name, method.system
        mean, clean = correct.estimate_accuracy(name, MEAN), correct.estimate_accuracy(name, CLEAN)
        gain = correct.estimate_difference(name, SOURCE, MEAN) if name != SOURCE else None
        seconds = pooled.compute_seconds(name)
        in_paper = None if system in systems else paper.TABLE_1.get(system)
        systems.add(system)
        rows.append({
            "Method": method.title,
            "Accuracy (%)": format_estimate(mean),
            "Gain over doing nothing": format_points(gain),
            "Undamaged (%)": format_estimate(clean, has_interval=False),
            "Seconds": EMPTY_CELL if seconds is None else f"{seconds:.3f}",
            f"Paper, {paper.SEVERITY} (%)": _format_paper_value(in_paper),
            "Photos": str(mean.photographs) if mean else EMPTY_CELL,
        })  # fmt: skip
    return Table(
        f"Table 1. Methods, {pooled.description}",
        f"Top-1 accuracy, mean of the 15 corruptions, with {INTERVALS}. The gain is in points, on "
        "the images both have; an interval that does not hold 0 is a difference. "
        "Seconds: an image, each counted with the median at its depth. "
        f"Paper: Table 1 of the paper, {paper.SETTING}.",
        rows,
        pooled.list_commands(pooled.methods_to_compare),
    )


def make_table_2(pooled: PooledRuns) -> Table:
    """Accuracy by corruption and family, with the paper's row below each of our systems."""
    groups = [group for family, names in FAMILIES.items() for group in (*names, family)]
    heads = {g: format_group(g) + " (average)" * (g in FAMILIES) for g in groups}
    methods = _list_methods(pooled)
    last = {method.system: method for method in methods}
    rows = list[Cells]()
    for method in methods:
        rows.append({"Method": method.title})
        for group, head in heads.items():
            accuracy = pooled.correct.estimate_accuracy(method.name, group)
            rows[-1][head] = format_estimate(accuracy, has_interval=False)
        if method is last[method.system] and method.system in paper.TABLE_2.index:
            title = f"*{SYSTEMS[method.system]}, paper, {paper.SEVERITY}*"
            values = paper.TABLE_2.loc[method.system]
            cells = {head: _format_paper_value(values[group]) for group, head in heads.items()}
            rows.append({"Method": title} | cells)
    return Table(
        f"Table 2. Every corruption, {pooled.description}",
        f"Top-1 accuracy in percent. Paper: Table 2 of the paper, {paper.SETTING}.",
        rows,
        pooled.list_commands(pooled.methods_to_compare),
    )


def _list_methods(pooled: PooledRuns) -> list[MethodName]:
    """All methods that are compared, and the systems that only the paper measured."""
    methods = [MethodName.parse(name) for name in pooled.methods_to_compare]
    systems = {method.system for method in methods}
    methods += [MethodName.parse(system) for system in paper.TABLE_1 if system not in systems]
    return sorted(methods, key=lambda method: method.place)


def _format_paper_value(value: float | None) -> str:
    """A value of the paper, a share of 1 with two decimals, as whole percent."""
    return EMPTY_CELL if value is None else f"{100 * value:.0f}"


def make_stream_table(pooled: PooledRuns) -> Table:
    """Accuracy of every method on one mixed stream: on all, clean, by severity and by family."""
    rows = list[Cells]()
    for method in pooled.methods_to_compare:
        cells = {group: pooled.correct.estimate_accuracy(method, group) for group in STREAM_GROUPS}
        texts = {format_group(g): format_estimate(cells[g], has_interval=g == ALL) for g in cells}
        rows.append({"Method": MethodName.parse(method).title, **texts})
    return Table(
        f"{STREAMS[pooled.stream]}, {pooled.count_photographs(pooled.lines)}",
        "Top-1 accuracy in percent on one stream of clean pictures and all corruptions at "
        "severities 1 to 5, each photograph once, the same for every method; “all” with "
        f"{INTERVALS}. Families: at all severities.",
        rows,
        pooled.list_commands(pooled.methods_to_compare),
    )


def summarise_accuracy(lines: Sequence[Mapping[str, Any]], is_stream: bool = False) -> str:
    """A Markdown table: accuracy in percent by corruption, family and method.

    Families and the mean of 15 stand there once all of theirs are measured; of a mixed stream
    also the accuracy on all of it.
    """
    frame = pd.DataFrame(lines)
    table = frame.pivot_table("correct", "corruption", "method", sort=False)
    groups = {f"**{family}**": list(members) for family, members in FAMILIES.items()}
    groups["**mean of 15**"] = list(CORRUPTIONS)
    means = {title: table.reindex(group).mean(skipna=False) for title, group in groups.items()}
    if is_stream:
        means["**all**"] = frame.groupby("method")["correct"].mean()
    measured = pd.DataFrame(means).T.dropna(how="all")
    shares = pd.concat([table, measured])[frame["method"].unique()]
    texts = (100 * shares.astype(float)).map("{:.1f}".format).replace("nan", "")
    return to_markdown(texts.rename_axis("corruption").reset_index())
