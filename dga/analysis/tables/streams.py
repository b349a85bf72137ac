"""Tables of mixed streams, of clean pictures alone, and of controls that permute."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dga.analysis.names import MEAN, MethodName, group_title, method_title
from dga.analysis.pooled import PooledRuns
from dga.analysis.results import MissingRun
from dga.analysis.statistics import Floats, Outcomes
from dga.analysis.sweep import SOURCE
from dga.analysis.tables.accuracy import INTERVALS, OURS
from dga.analysis.tables.table import Cells, Table, bare_columns, columns, number, percent, points
from dga.corruptions import CLEAN, FAMILIES, SEVERITIES
from dga.titles import STREAMS

ALL = "all"
GROUPS = (ALL, CLEAN, *map(str, SEVERITIES), *FAMILIES)


class StreamOutcomes(Outcomes):
    """Accuracies in a mixed stream, in which every photograph comes once.

    Groups of photographs: all, clean, a severity (its digit) and a family.
    """

    def __init__(self, lines: pd.DataFrame) -> None:
        table = lines.pivot(index="method", columns="path", values="correct")
        self._correct = table.astype(np.float32)  # NaN where not measured
        self._met = lines.drop_duplicates("path").set_index("path").loc[table.columns]

    def _values(self, method: str, group: str) -> Floats:
        """1, 0 or NaN for each photograph of a group, ``[1, P]``."""
        own = self._correct.loc[[method]].to_numpy()
        if group == ALL:
            return own
        if group in FAMILIES:
            return own[:, self._met["corruption"].isin(FAMILIES[group])]
        return own[:, self._met["severity"] == (0 if group == CLEAN else int(group))]


def stream_table(pooled: PooledRuns) -> Table:
    """Every method on the same stream: all, clean, each severity, each family."""
    outcomes = StreamOutcomes(pooled.lines)
    methods = [name for name in pooled.methods if not MethodName.parse(name).permuted]
    shown, numbers = list[Cells](), list[Cells]()
    for method in methods:
        cells = {group: outcomes.accuracy(method, group) for group in GROUPS}
        texts = {group_title(g): percent(cells[g], interval=g == ALL) for g in GROUPS}
        shown.append({"Method": method_title(method), **texts})
        numbers += [{"method": method, "group": g, **columns(cells[g])} for g in GROUPS]
    return Table(
        pooled.stream,
        f"{STREAMS[pooled.stream]}, {pooled.described}",
        "Top-1 accuracy in percent on one stream of clean pictures and all corruptions at "
        "severities 1 to 5, each photograph once, the same for every method; “all” with "
        f"{INTERVALS}, every cell's interval in the CSV. Families: at all severities.",
        pd.DataFrame(shown),
        pd.DataFrame(numbers),
        pooled.commands(methods),
    )


def stream_comparisons(pooled: PooledRuns) -> Table:
    """Our methods minus every other on the same stream."""
    outcomes = StreamOutcomes(pooled.lines)
    methods = [name for name in pooled.methods if not MethodName.parse(name).permuted]
    ours = [name for name in OURS[:2] if name in methods]
    pairs = [(own, rival) for own in ours for rival in methods if rival != own]
    if not pairs:
        raise MissingRun(f"no run of {OURS[0]} beside other methods")
    shown, numbers = list[Cells](), list[Cells]()
    for own, rival in pairs:
        cells = {group: outcomes.difference(own, rival, group) for group in GROUPS}
        texts = {group_title(g): points(cells[g]) for g in GROUPS}
        shown.append({"Method": method_title(own), "Minus": method_title(rival), **texts})
        key = {"method": own, "rival": rival}
        numbers += [{**key, "group": g, **columns(cells[g], "points")} for g in GROUPS]
    return Table(
        f"{pooled.stream}-comparisons",
        f"Ours against each rival, {STREAMS[pooled.stream].lower()}, {pooled.described}",
        f"Difference in accuracy in points, with {INTERVALS}, on the photographs both have. Above "
        "0, the method of the first column is ahead; an interval that holds 0 decides nothing.",
        pd.DataFrame(shown),
        pd.DataFrame(numbers),
        pooled.commands(methods),
    )


def permuted_table(pooled: PooledRuns) -> Table:
    """A method with its own choices against the same choices dealt to other pictures."""
    outcomes, groups = pooled.outcomes, (MEAN, *FAMILIES)
    where = pooled.described
    if pooled.stream:
        outcomes, groups = StreamOutcomes(pooled.lines), GROUPS
        where = f"{STREAMS[pooled.stream].lower()}, {where}"
    pairs = [
        (method.unpermuted, name)
        for name in pooled.methods
        if (method := MethodName.parse(name)).permuted and method.unpermuted in pooled.methods
    ]
    if not pairs:
        raise MissingRun("no run of a method beside itself permuted (dga-plus:permute=depth)")
    shown, numbers = list[Cells](), list[Cells]()
    for own, permuted in pairs:
        cells = {group: outcomes.difference(own, permuted, group) for group in groups}
        texts = {group_title(g): points(cells[g]) for g in groups}
        name = {"Method": method_title(own), "Minus": method_title(permuted)}
        shown.append({**name, **texts})
        key = {"method": own, "rival": permuted}
        for g in groups:
            alone = bare_columns(outcomes.accuracy(permuted, g), "permuted")
            numbers.append({**key, "group": g, **columns(cells[g], "points"), **alone})
    return Table(
        "permuted",
        f"Own choices against permuted, {where}",
        "Own minus permuted: the difference in accuracy in points when each picture gets its own "
        f"choice and not that of another picture of its batch, with {INTERVALS}. Above 0, "
        "choosing per image pays.",
        pd.DataFrame(shown),
        pd.DataFrame(numbers),
        pooled.commands([name for pair in pairs for name in pair]),
    )


def clean_table(pooled: PooledRuns) -> Table:
    """What methods do to pictures that nothing is wrong with."""
    lines = pooled.lines[pooled.lines["corruption"] == CLEAN]
    methods = [name for name in pooled.compared if name in set(lines["method"])]
    if not methods:
        raise MissingRun("no run on clean pictures (--corruptions clean)")
    shown, numbers = list[Cells](), list[Cells]()
    for method in methods:
        mean = pooled.outcomes.accuracy(method, CLEAN)
        gain = pooled.outcomes.difference(method, SOURCE, CLEAN) if method != SOURCE else None
        same = float(lines.loc[lines["method"] == method, "unchanged"].mean())
        shown.append(
            {
                "Method": method_title(method),
                "Accuracy (%)": percent(mean),
                "Gain over doing nothing": points(gain),
                "Returned bit for bit (%)": number(100 * same, 1),
                "Photos": str(mean.photographs if mean else 0),
            }
        )
        shares = {**bare_columns(gain, "minus_source"), "unchanged": round(100 * same, 3)}
        numbers.append({"method": method, **columns(mean), **shares})
    return Table(
        "clean",
        f"Undamaged pictures, {pooled.counted(lines)}",
        f"Top-1 accuracy with {INTERVALS}; the gain is in points, on the pictures both have. "
        "Returned bit for bit: the picture that the classifier saw is the one that came.",
        pd.DataFrame(shown),
        pd.DataFrame(numbers),
        pooled.commands(methods),
    )
