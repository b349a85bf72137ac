"""Tables 1 to 3 of the paper for our models, the paper's numbers beside them; comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from dga.analysis import paper
from dga.analysis.names import (
    GROUPS,
    MEAN,
    TITLES,
    TRAITS,
    MethodName,
    group_title,
    method_title,
)
from dga.analysis.pooled import PooledRuns
from dga.analysis.results import MissingRun
from dga.analysis.statistics import Estimate, Outcomes
from dga.analysis.tables.table import (
    NOTHING,
    Cells,
    Table,
    bare_columns,
    columns,
    number,
    paper_column,
    paper_percent,
    percent,
    points,
)
from dga.corruptions import CLEAN, FAMILIES
from dga.titles import SYSTEMS, short

SOURCE = "source"
OURS = ("dga-plus", "dga-guided")
INTERVALS = "95 % intervals (paired bootstrap over photographs)"
TauRow = tuple[str, float, dict[str, Estimate | None]]
"""A method, its tau and its accuracy by group."""


def rows_of(pooled: PooledRuns) -> list[MethodName]:
    """A row for every method compared, and an empty one for what the paper has and no run."""
    methods = [MethodName.parse(name) for name in pooled.compared]
    run = {method.system for method in methods}
    empty = (_default(system) for system in paper.TABLE_1 if system not in run)
    return sorted([*methods, *empty], key=lambda method: method.place)


def _default(system: str) -> MethodName:
    """A system's first variant."""
    methods = (MethodName.parse(name) for name in TITLES)
    return next(method for method in methods if method.system == system)


def not_run(pooled: PooledRuns) -> tuple[str, ...]:
    """A sentence with the systems that have no lines."""
    absent = [method.name for method in rows_of(pooled) if method.name not in pooled.methods]
    return (f"no run of {', '.join(absent)}",) if absent else ()


def table_1(pooled: PooledRuns) -> Table:
    """Methods, their traits, accuracy, and the paper's accuracy."""
    rows = [
        _table_1_row(pooled, method, _table_1_paper(pooled, method)) for method in rows_of(pooled)
    ]
    return Table(
        "table-1",
        f"Table 1. Methods, {pooled.described}",
        f"Top-1 accuracy, mean of the 15 corruptions, with {INTERVALS}. The gain is in points, on "
        "the images both have; an interval that does not hold 0 is a difference. "
        "Seconds: an image, each counted with the median at its depth. "
        f"Paper: {paper.TABLE_1_CITATION}, {paper.SETTING}.",
        pd.DataFrame([shown for shown, _ in rows]),
        pd.DataFrame([numbers for _, numbers in rows]),
        pooled.commands(pooled.compared),
        not_run(pooled),
    )


def _table_1_paper(pooled: PooledRuns, method: MethodName) -> float | None:
    """The paper's accuracy stands once a system, beside its first (published) variant."""
    first = next(row for row in rows_of(pooled) if row.system == method.system)
    return paper.TABLE_1.get(method.system) if method == first else None


def _table_1_row(
    pooled: PooledRuns, method: MethodName, beside: float | None
) -> tuple[Cells, Cells]:
    name, outcomes = method.name, pooled.outcomes
    mean, clean = outcomes.accuracy(name, MEAN), outcomes.accuracy(name, CLEAN)
    gain = outcomes.difference(name, SOURCE, MEAN) if name != SOURCE else None
    seconds = pooled.seconds(name)
    shown = {
        "Method": method.title,
        "Accuracy (%)": percent(mean),
        "Gain over doing nothing": points(gain),
        "Undamaged (%)": percent(clean, interval=False),
        "Seconds": number(seconds, 3),
        "Paper (%)": paper_percent(beside),
        **_traits(method.system),
        "Photos": NOTHING if mean is None else str(mean.photographs),
    }
    numbers = {
        "method": name,
        **columns(mean),
        "paper": paper_column(beside),
        **bare_columns(gain, "minus_source"),
        **bare_columns(clean, "clean"),
        "seconds": None if seconds is None else round(seconds, 5),
    }
    return shown, numbers


def _traits(system: str) -> dict[str, str]:
    heads = ("Adaptation", "Diffusion?", "Per-sample?", "Frozen classifier?")
    return dict(zip(heads, TRAITS.get(system, (NOTHING,) * len(heads)), strict=True))


def table_2(pooled: PooledRuns) -> Table:
    """Every corruption, each family's average after its own, the paper's row under ours."""
    groups = [group for family, names in FAMILIES.items() for group in (*names, family)]
    heads = [f"{short(g)} (average)" if g in FAMILIES else short(g) for g in groups]
    shown, numbers = list[Cells](), list[Cells]()
    methods = rows_of(pooled)
    for i, method in enumerate(methods):
        cells = {group: pooled.outcomes.accuracy(method.name, group) for group in groups}
        texts = [percent(cells[g], interval=False) for g in groups]
        shown.append({"Method": method.title, **dict(zip(heads, texts, strict=True))})
        theirs = {group: paper.table_2(method.system, group) for group in groups}
        numbers += [
            {"method": method.name, "group": g, **columns(cells[g]),
             "paper": paper_column(theirs[g])}
            for g in groups
        ]  # fmt: skip
        last = i + 1 == len(methods) or methods[i + 1].system != method.system
        if last and any(theirs.values()):
            title = f"*{SYSTEMS[method.system]}, paper*"
            texts = [paper_percent(theirs[g]) for g in groups]
            shown.append({"Method": title, **dict(zip(heads, texts, strict=True))})
    return Table(
        "table-2",
        f"Table 2. Every corruption, {pooled.described}",
        f"Top-1 accuracy in percent; every cell's interval ({INTERVALS}) is in the CSV. "
        f"Paper: {paper.TABLE_2_CITATION}, {paper.SETTING}.",
        pd.DataFrame(shown),
        pd.DataFrame(numbers),
        pooled.commands(pooled.compared),
        not_run(pooled),
    )


def tau_methods(pooled: PooledRuns, base: str) -> dict[float, str]:
    """``{tau: method}`` of the lines, by tau; the plain method stands for its own tau."""
    found = {}
    plain = pooled.stopping(base)
    if base in pooled.methods and plain is not None:
        found[plain.tau] = base
    for name in pooled.methods:
        method = MethodName.parse(name)
        if method.base == base and [key for key, _ in method.overrides] == ["tau"]:
            found[float(method.overrides[0][1])] = name
    return dict(sorted(found.items()))


def table_3(pooled: PooledRuns) -> Table:
    """Accuracy by tau: DGA, the paper's DGA, and DGA + G where it was run."""
    runs = {base: tau_methods(pooled, base) for base in ("dga", "dga-guided")}
    runs = {base: by_tau for base, by_tau in runs.items() if len(by_tau) > 1}
    if not runs:
        raise MissingRun("no run at several taus (dga:tau=0.1,dga:tau=0.3,dga:tau=0.7)")
    rows = [
        (base, tau, cells)
        for base, by_tau in runs.items()
        for tau, cells in _by_tau(pooled, by_tau).items()
    ]
    counts = {cell.photographs for *_, cells in rows for cell in cells.values() if cell}
    photographs = " or ".join(map(str, sorted(counts)))
    absent = [f"dga:tau={tau:g}" for tau in paper.TAUS if tau not in runs.get("dga", {})]
    return Table(
        "table-3",
        f"Table 3. Confidence threshold tau, severity {pooled.severity}",
        "Top-1 accuracy in percent with 95 % intervals, on images that were run at every tau "
        f"({photographs} photographs). A lower tau stops deeper or at the "
        f"maximum depth. Paper: {paper.TABLE_3_CITATION}, {paper.SETTING}.",
        pd.DataFrame(_table_3_shown(rows)),
        pd.DataFrame(_table_3_numbers(rows)),
        pooled.commands(name for by_tau in runs.values() for name in by_tau.values()),
        (f"no run of {', '.join(absent)}",) if absent else (),
    )


def _by_tau(
    pooled: PooledRuns, methods: dict[float, str]
) -> dict[float, dict[str, Estimate | None]]:
    """Accuracy by tau and group, on shared images; the paper's taus are always there."""
    outcomes = Outcomes(_shared(pooled.lines, methods.values()))
    groups = [group for group in GROUPS if group != CLEAN]
    return {
        tau: {group: outcomes.accuracy(methods.get(tau, ""), group) for group in groups}
        for tau in sorted({*paper.TAUS, *methods})
    }


def _shared(lines: pd.DataFrame, methods: Iterable[str]) -> pd.DataFrame:
    """Lines of the images that every one of these methods has."""
    wanted = list(methods)
    lines = lines[lines["method"].isin(wanted)]
    counts = lines.groupby(["path", "corruption"])["method"].transform("nunique")
    return lines[counts == len(wanted)]


def _table_3_shown(rows: Sequence[TauRow]) -> list[Cells]:
    """DGA, the paper's DGA, then DGA + G."""
    groups = [*paper.TABLE_3, MEAN]

    def shown(title: str, tau: float, texts: Iterable[str]) -> Cells:
        named = zip(map(group_title, groups), texts, strict=True)
        return {"Method": title, "tau": f"{tau:g}", **dict(named)}

    ours: dict[str, list[Cells]] = {"dga": [], "dga-guided": []}
    for base, tau, cells in rows:
        texts = (percent(cells[group]) for group in groups)
        ours[base].append(shown(method_title(base), tau, texts))
    theirs = [
        shown("*DGA, paper*", tau, (paper_percent(paper.table_3(tau, g)) for g in groups))
        for tau in paper.TAUS
    ]
    return [*ours["dga"], *theirs, *ours["dga-guided"]]


def _table_3_numbers(rows: Sequence[TauRow]) -> list[Cells]:
    numbers = []
    for base, tau, cells in rows:
        for group, cell in cells.items():
            beside = paper_column(paper.table_3(tau, group)) if base == "dga" else None
            key = {"method": base, "tau": tau, "group": group}
            numbers.append({**key, **columns(cell), "paper": beside})
    return numbers


def comparisons(pooled: PooledRuns) -> Table:
    """Our methods minus every other: mean of 15 and families."""
    pairs = [
        (method, rival)
        for method in OURS
        if method in pooled.methods
        for rival in pooled.compared
        if rival != method
    ]
    if not pairs:
        raise MissingRun("no run of dga-plus or dga-guided beside other methods")
    first = method_title(pairs[0][0])
    shown, numbers = list[Cells](), list[Cells]()
    for method, rival in pairs:
        cells = {group: pooled.outcomes.difference(method, rival, group) for group in GROUPS}
        texts = {group_title(g): points(cells[g]) for g in (MEAN, *FAMILIES)}
        shown.append({"Method": method_title(method), "Minus": method_title(rival), **texts})
        key = {"method": method, "rival": rival}
        numbers += [{**key, "group": g, **columns(cells[g], "points")} for g in GROUPS]
    return Table(
        "comparisons",
        f"{first} against each rival, {pooled.described}",
        f"Difference in accuracy in points, with {INTERVALS}, on the images both have. Above 0, "
        "the method of the first column is ahead; an interval that holds 0 decides nothing.",
        pd.DataFrame(shown),
        pd.DataFrame(numbers),
        pooled.commands(pooled.compared),
    )
