"""Tables 1 to 3 of the paper for our models, the paper's numbers beside them."""

from collections.abc import Iterator

from dga.corruptions import CLEAN, FAMILIES
from dga.lab.analysis import paper
from dga.lab.analysis.names import (
    GROUPS,
    MEAN,
    SOURCE,
    SYSTEMS,
    TRAITS,
    MethodName,
    find_sweep,
    group_title,
    method_title,
    shorten_title,
)
from dga.lab.analysis.pooled_runs import PooledRuns
from dga.lab.analysis.saved_runs import MissingRun
from dga.lab.analysis.statistics import CorrectTable
from dga.lab.analysis.tables.table import (
    EMPTY_CELL,
    Cells,
    Table,
    format_estimate,
    format_paper_value,
    format_points,
)

INTERVALS = "95 % intervals (paired bootstrap over photographs)"
TRAIT_HEADS = ("Adaptation", "Diffusion?", "Per-sample?", "Frozen classifier?")
TABLE_3_GROUPS = (*paper.TABLE_3_FAMILIES, MEAN)


def list_rows(pooled: PooledRuns) -> list[MethodName]:
    """A row for every method compared, and an empty one for what the paper has and no run."""
    methods = [MethodName.parse(name) for name in pooled.methods_to_compare]
    systems = {method.system for method in methods}
    methods += [MethodName.parse(system) for system in paper.TABLE_1 if system not in systems]
    return sorted(methods, key=lambda method: method.place)


def make_table_1(pooled: PooledRuns) -> Table:
    """Methods, their traits, accuracy, and the paper's accuracy once a system."""
    correct, rows, systems = pooled.correct, list[Cells](), set[str]()
    for method in list_rows(pooled):
        name, system = method.name, method.system
        mean, clean = correct.accuracy(name, MEAN), correct.accuracy(name, CLEAN)
        gain = correct.difference(name, SOURCE, MEAN) if name != SOURCE else None
        seconds = pooled.seconds(name)
        in_paper = None if system in systems else paper.TABLE_1.get(system)
        systems.add(system)
        rows.append({
            "Method": method.title,
            "Accuracy (%)": format_estimate(mean),
            "Gain over doing nothing": format_points(gain),
            "Undamaged (%)": format_estimate(clean, interval=False),
            "Seconds": EMPTY_CELL if seconds is None else f"{seconds:.3f}",
            f"Paper, {paper.SEVERITY} (%)": format_paper_value(in_paper),
            **dict(zip(TRAIT_HEADS, TRAITS.get(system, (EMPTY_CELL,) * 4), strict=True)),
            "Photos": str(mean.photographs) if mean else EMPTY_CELL,
        })  # fmt: skip
    return Table(
        f"Table 1. Methods, {pooled.description}",
        f"Top-1 accuracy, mean of the 15 corruptions, with {INTERVALS}. The gain is in points, on "
        "the images both have; an interval that does not hold 0 is a difference. "
        "Seconds: an image, each counted with the median at its depth. "
        f"Paper: Table 1 of the paper, {paper.SETTING}.",
        rows,
        pooled.commands(pooled.methods_to_compare),
    )


def make_table_2(pooled: PooledRuns) -> Table:
    """Every corruption, each family's average after its own, the paper's row under ours."""
    groups = [group for family, names in FAMILIES.items() for group in (*names, family)]
    heads = {g: shorten_title(g) + " (average)" * (g in FAMILIES) for g in groups}
    rows, methods = list[Cells](), list_rows(pooled)
    for i, method in enumerate(methods):
        texts: Cells = {"Method": method.title}
        in_paper: Cells = {"Method": f"*{SYSTEMS.get(method.system)}, paper, {paper.SEVERITY}*"}
        for group, head in heads.items():
            estimate = pooled.correct.accuracy(method.name, group)
            cell = paper.cell(paper.TABLE_2, method.system, group)
            texts[head] = format_estimate(estimate, interval=False)
            in_paper[head] = format_paper_value(cell)
        rows.append(texts)
        is_last = i + 1 == len(methods) or methods[i + 1].system != method.system
        if is_last and method.system in paper.TABLE_2.index:
            rows.append(in_paper)
    return Table(
        f"Table 2. Every corruption, {pooled.description}",
        f"Top-1 accuracy in percent. Paper: Table 2 of the paper, {paper.SETTING}.",
        rows,
        pooled.commands(pooled.methods_to_compare),
    )


def find_tau_methods(pooled: PooledRuns, base: str) -> dict[float, str]:
    """``{tau: method}`` of the lines, by tau; the plain method stands for its own tau."""
    methods = find_sweep(pooled.methods, base, "tau")
    plain = pooled.find_tau(base)
    if base in pooled.methods and plain is not None:
        methods = {plain: base, **methods}
    return dict(sorted(methods.items()))


def make_table_3(pooled: PooledRuns) -> Table:
    """Accuracy by tau: DGA, the paper's DGA, and DGA + G where it was run."""
    sweeps = {base: find_tau_methods(pooled, base) for base in ("dga", "dga-guided")}
    sweeps = {base: methods for base, methods in sweeps.items() if len(methods) > 1}
    if not sweeps:
        raise MissingRun("no run at several taus (dga:tau=0.1,dga:tau=0.3,dga:tau=0.7)")
    rows, counts = list[Cells](), set[int]()
    for base in ("dga", "dga-guided"):
        if base in sweeps:
            more, photographs = _make_sweep(pooled, base, sweeps[base])
            rows += more
            counts |= photographs
        if base == "dga":
            rows += _papers_rows()
    return Table(
        f"Table 3. Confidence threshold tau, severity {pooled.severity}",
        "Top-1 accuracy in percent with 95 % intervals, on images that were run at every tau "
        f"({' or '.join(map(str, sorted(counts)))} photographs). A lower tau stops deeper or at "
        "the maximum depth. Paper: Table 3 of the paper (without guidance), "
        f"{paper.SETTING}.",
        rows,
        pooled.commands(name for methods in sweeps.values() for name in methods.values()),
    )


def _make_sweep(
    pooled: PooledRuns, base: str, methods: dict[float, str]
) -> tuple[list[Cells], set[int]]:
    """A row a tau, on images that all have, and how many photographs these are of.

    The paper's taus are always there.
    """
    rows, photographs = list[Cells](), set[int]()
    lines = pooled.lines[pooled.lines["method"].isin(methods.values())]
    counts = lines.groupby(["path", "corruption"])["method"].transform("nunique")
    correct = CorrectTable(lines[counts == len(methods)])
    groups = [group for group in GROUPS if group != CLEAN]
    for tau in sorted({*paper.TAUS, *methods}):
        cells = {group: correct.accuracy(methods.get(tau, ""), group) for group in groups}
        photographs |= {estimate.photographs for estimate in cells.values() if estimate}
        texts = {group_title(group): format_estimate(cells[group]) for group in TABLE_3_GROUPS}
        rows.append({"Method": method_title(base), "tau": f"{tau:g}", **texts})
    return rows, photographs


def _papers_rows() -> Iterator[Cells]:
    for tau in paper.TAUS:
        cells = {
            group_title(group): format_paper_value(paper.cell(paper.TABLE_3, tau, group))
            for group in TABLE_3_GROUPS
        }
        yield {"Method": "*DGA, paper*", "tau": f"{tau:g}", **cells}
