"""Tables 1 to 3 of the paper for our models, the paper's numbers beside them; comparisons."""

from dga.analysis import paper
from dga.analysis.names import (
    GROUPS,
    MEAN,
    SOURCE,
    TITLES,
    TRAITS,
    MethodName,
    group_title,
    method_title,
)
from dga.analysis.pooled import PooledRuns
from dga.analysis.results import MissingRun
from dga.analysis.statistics import CorrectTable, Estimate
from dga.analysis.tables.table import (
    NOTHING,
    Rows,
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

OURS = ("dga-plus", "dga-plus+tent", "dga-guided")
INTERVALS = "95 % intervals (paired bootstrap over photographs)"
TRAIT_HEADS = ("Adaptation", "Diffusion?", "Per-sample?", "Frozen classifier?")


def rows_of(pooled: PooledRuns) -> list[MethodName]:
    """A row for every method compared, and an empty one for what the paper has and no run."""
    methods = [MethodName.parse(name) for name in pooled.compared]
    run = {method.system for method in methods}
    known = [MethodName.parse(name) for name in TITLES]
    absent = [system for system in paper.TABLE_1 if system not in run]
    methods += [next(own for own in known if own.system == system) for system in absent]
    return sorted(methods, key=lambda method: method.place)


def not_run(pooled: PooledRuns) -> tuple[str, ...]:
    """A sentence with the systems that have no lines."""
    absent = [method.name for method in rows_of(pooled) if method.name not in pooled.methods]
    return (f"no run of {', '.join(absent)}",) if absent else ()


def table_1(pooled: PooledRuns) -> Table:
    """Methods, their traits, accuracy, and the paper's accuracy once a system."""
    correct, rows, known = pooled.correct, Rows(), set[str]()
    for method in rows_of(pooled):
        name, system = method.name, method.system
        mean, clean = correct.accuracy(name, MEAN), correct.accuracy(name, CLEAN)
        gain = correct.difference(name, SOURCE, MEAN) if name != SOURCE else None
        seconds = pooled.seconds(name)
        beside = None if system in known else paper.TABLE_1.get(system)
        known.add(system)
        shown = {
            "Method": method.title,
            "Accuracy (%)": percent(mean),
            "Gain over doing nothing": points(gain),
            "Undamaged (%)": percent(clean, interval=False),
            "Seconds": number(seconds, 3),
            f"Paper, {paper.SEVERITY} (%)": paper_percent(beside),
            **dict(zip(TRAIT_HEADS, TRAITS.get(system, (NOTHING,) * 4), strict=True)),
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
        rows.add(shown, numbers)
    return Table(
        "table-1",
        f"Table 1. Methods, {pooled.described}",
        f"Top-1 accuracy, mean of the 15 corruptions, with {INTERVALS}. The gain is in points, on "
        "the images both have; an interval that does not hold 0 is a difference. "
        "Seconds: an image, each counted with the median at its depth. "
        f"Paper: {paper.TABLE_1_CITATION}, {paper.SETTING}.",
        *rows.frames,
        pooled.commands(pooled.compared),
        not_run(pooled),
    )


def table_2(pooled: PooledRuns) -> Table:
    """Every corruption, each family's average after its own, the paper's row under ours."""
    groups = [group for family, names in FAMILIES.items() for group in (*names, family)]
    heads = [f"{short(g)} (average)" if g in FAMILIES else short(g) for g in groups]
    rows, methods = Rows(), rows_of(pooled)
    for i, method in enumerate(methods):
        texts = list[str]()
        theirs = {group: paper.cell(paper.TABLE_2, method.system, group) for group in groups}
        for group, beside in theirs.items():
            cell = pooled.correct.accuracy(method.name, group)
            texts.append(percent(cell, interval=False))
            key = {"method": method.name, "group": group}
            rows.numbers.append({**key, **columns(cell), "paper": paper_column(beside)})
        rows.shown.append({"Method": method.title, **dict(zip(heads, texts, strict=True))})
        last = i + 1 == len(methods) or methods[i + 1].system != method.system
        if last and any(theirs.values()):
            title = f"*{SYSTEMS[method.system]}, paper, {paper.SEVERITY}*"
            texts = list(map(paper_percent, theirs.values()))
            rows.shown.append({"Method": title, **dict(zip(heads, texts, strict=True))})
    return Table(
        "table-2",
        f"Table 2. Every corruption, {pooled.described}",
        f"Top-1 accuracy in percent; every cell's interval ({INTERVALS}) is in the CSV. "
        f"Paper: {paper.TABLE_2_CITATION}, {paper.SETTING}.",
        *rows.frames,
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
    groups = [*paper.TABLE_3, MEAN]
    rows, methods, counts = Rows(), list[str](), set[int]()

    def show(title: str, tau: float, texts: list[str]) -> None:
        cells = dict(zip(map(group_title, groups), texts, strict=True))
        rows.shown.append({"Method": title, "tau": f"{tau:g}", **cells})

    for base in ("dga", "dga-guided"):
        if len(by_tau := tau_methods(pooled, base)) > 1:
            methods += by_tau.values()
            for tau, cells in _by_tau(pooled, by_tau).items():
                show(method_title(base), tau, [percent(cells[group]) for group in groups])
                counts |= {cell.photographs for cell in cells.values() if cell}
                for group, cell in cells.items():
                    beside = paper.cell(paper.TABLE_3, tau, group) if base == "dga" else None
                    key = {"method": base, "tau": tau, "group": group}
                    rows.numbers.append({**key, **columns(cell), "paper": paper_column(beside)})
        if base == "dga":
            for tau in paper.TAUS:
                texts = [paper_percent(paper.cell(paper.TABLE_3, tau, group)) for group in groups]
                show("*DGA, paper*", tau, texts)
    if not methods:
        raise MissingRun("no run at several taus (dga:tau=0.1,dga:tau=0.3,dga:tau=0.7)")
    photographs = " or ".join(map(str, sorted(counts)))
    run = tau_methods(pooled, "dga")
    absent = [f"dga:tau={tau:g}" for tau in paper.TAUS if len(run) < 2 or tau not in run]
    return Table(
        "table-3",
        f"Table 3. Confidence threshold tau, severity {pooled.severity}",
        "Top-1 accuracy in percent with 95 % intervals, on images that were run at every tau "
        f"({photographs} photographs). A lower tau stops deeper or at the "
        f"maximum depth. Paper: {paper.TABLE_3_CITATION}, {paper.SETTING}.",
        *rows.frames,
        pooled.commands(methods),
        (f"no run of {', '.join(absent)}",) if absent else (),
    )


def _by_tau(
    pooled: PooledRuns, methods: dict[float, str]
) -> dict[float, dict[str, Estimate | None]]:
    """Accuracy by tau and group, on images that all have; the paper's taus are always there."""
    lines = pooled.lines[pooled.lines["method"].isin(methods.values())]
    counts = lines.groupby(["path", "corruption"])["method"].transform("nunique")
    correct = CorrectTable(lines[counts == len(methods)])
    groups = [group for group in GROUPS if group != CLEAN]
    return {
        tau: {group: correct.accuracy(methods.get(tau, ""), group) for group in groups}
        for tau in sorted({*paper.TAUS, *methods})
    }
