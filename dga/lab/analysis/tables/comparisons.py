"""Methods held against one another on the same pictures, and mixed streams."""

from collections.abc import Iterator

from dga.lab.analysis.names import (
    ALL,
    STREAM_GROUPS,
    STREAMS,
    MethodName,
    group_title,
    method_title,
)
from dga.lab.analysis.pooled_runs import PooledRuns
from dga.lab.analysis.saved_runs import MissingRun
from dga.lab.analysis.tables.accuracy import INTERVALS
from dga.lab.analysis.tables.table import Cells, Table, format_estimate, format_points

COMPARED_METHODS = ("dga-plus", "dga-plus+tent", "dga-guided")
"""Each is held against every other method."""


def make_stream_table(pooled: PooledRuns) -> Table:
    """Every method on the same stream: all, clean, each severity, each family."""
    rows = list[Cells]()
    for method in pooled.methods_to_compare:
        cells = {group: pooled.correct.accuracy(method, group) for group in STREAM_GROUPS}
        texts = {group_title(g): format_estimate(cells[g], interval=g == ALL) for g in cells}
        rows.append({"Method": method_title(method), **texts})
    return Table(
        f"{STREAMS[pooled.stream]}, {pooled.count_photographs(pooled.lines)}",
        "Top-1 accuracy in percent on one stream of clean pictures and all corruptions at "
        "severities 1 to 5, each photograph once, the same for every method; “all” with "
        f"{INTERVALS}. Families: at all severities.",
        rows,
        pooled.commands(pooled.methods_to_compare),
    )


def make_comparisons(pooled: PooledRuns) -> Table:
    """Differences of :func:`list_pairs`, on all and by family; in a stream by severity, too."""
    pairs = dict.fromkeys(list_pairs(pooled))
    if not pairs:
        raise MissingRun("no run of dga-plus or dga-guided beside other methods")
    rows = list[Cells]()
    for method, rival in pairs:
        texts = {
            group_title(group): format_points(pooled.correct.difference(method, rival, group))
            for group in pooled.groups
        }
        rows.append({"Method": method_title(method), "Minus": method_title(rival), **texts})
    return Table(
        f"{method_title(next(iter(pairs))[0])} against each rival, {pooled.description}",
        f"Difference in accuracy in points, with {INTERVALS}, on the images both have. Above 0, "
        "the method of the first column is ahead; an interval that holds 0 decides nothing. "
        "Permuted: each picture gets the choice made for another one of its batch.",
        rows,
        pooled.commands(name for pair in pairs for name in pair),
    )


def list_pairs(pooled: PooledRuns) -> Iterator[tuple[str, str]]:
    """Ours and each rival, a pair and either part, DGA+ without a stage, a method's control."""
    methods = pooled.methods_to_compare
    for method in COMPARED_METHODS:
        if method in methods:
            yield from ((method, rival) for rival in methods if rival != method)
    for name in map(MethodName.parse, pooled.methods):
        yield from ((name.name, part) for part in name.parts if part in pooled.methods)
        if name.is_permuted and name.without_permutation in pooled.methods:
            yield name.without_permutation, name.name
        elif name.is_stage_left_out and name.base in pooled.methods:
            yield name.base, name.name
