"""Tables of mixed streams, of clean pictures alone, and of methods held against one another."""

from collections.abc import Sequence

from dga.analysis.names import ALL, GROUPS, SOURCE, STREAM_GROUPS, MethodName, method_title
from dga.analysis.pooled import PooledRuns
from dga.analysis.results import MissingRun
from dga.analysis.tables.accuracy import INTERVALS, OURS
from dga.analysis.tables.table import Rows, Table, bare_columns, columns, number, percent, points
from dga.corruptions import CLEAN
from dga.titles import STREAMS


def stream_table(pooled: PooledRuns) -> Table:
    """Every method on the same stream: all, clean, each severity, each family."""
    rows = Rows()
    for method in pooled.compared:
        cells = {group: pooled.correct.accuracy(method, group) for group in STREAM_GROUPS}
        texts = {group: percent(cell, interval=group == ALL) for group, cell in cells.items()}
        rows.add_groups({"Method": method_title(method)}, {"method": method}, cells, texts)
    return Table(
        pooled.stream,
        f"{STREAMS[pooled.stream]}, {pooled.counted(pooled.lines)}",
        "Top-1 accuracy in percent on one stream of clean pictures and all corruptions at "
        "severities 1 to 5, each photograph once, the same for every method; “all” with "
        f"{INTERVALS}, every cell's interval in the CSV. Families: at all severities.",
        *rows.frames,
        pooled.commands(pooled.compared),
    )


def comparisons(pooled: PooledRuns) -> Table:
    """Our methods minus every other, on all and by family; in a stream by severity, too."""
    methods = pooled.compared
    pairs = [(own, rival) for own in OURS if own in methods for rival in methods if rival != own]
    if not pairs:
        raise MissingRun("no run of dga-plus or dga-guided beside other methods")
    return Table(
        "comparisons",
        f"{method_title(pairs[0][0])} against each rival, {pooled.described}",
        f"Difference in accuracy in points, with {INTERVALS}, on the images both have. Above 0, "
        "the method of the first column is ahead; an interval that holds 0 decides nothing.",
        *_differences(pooled, pairs, pooled.groups if pooled.stream else tuple(GROUPS)).frames,
        pooled.commands(methods),
    )


def pairs_table(pooled: PooledRuns) -> Table:
    """Every pair of a repair and a reader: its accuracy, and what it adds to each of the two."""
    pairs = [MethodName.parse(name) for name in pooled.methods]
    pairs = [method for method in pairs if method.parts]
    if not pairs:
        raise MissingRun("no run of a pair of a repair and a reader (dga-plus+tent)")
    rows, shown = Rows(), [part for pair in pairs for part in (pair.name, *pair.parts)]
    for name in (name for name in dict.fromkeys(shown) if name in pooled.methods):
        cells = {group: pooled.correct.accuracy(name, group) for group in pooled.groups}
        texts = {group: percent(cell, interval=False) for group, cell in cells.items()}
        head = {"Method": method_title(name), "Minus": ""}
        rows.add_groups(head, {"method": name, "rival": ""}, cells, texts, "points")
    against = [(pair.name, part) for pair in pairs for part in pair.parts if part in pooled.methods]
    differences = _differences(pooled, against, pooled.groups)
    return Table(
        "pairs",
        f"A repair and a reader together, {pooled.described}",
        f"Accuracy in percent, then differences in points, with {INTERVALS}. A reader that adapts "
        "changes the classifier, on many pictures at once.",
        *Rows(rows.shown + differences.shown, rows.numbers + differences.numbers).frames,
        pooled.commands(shown),
    )


def permuted_table(pooled: PooledRuns) -> Table:
    """A method with its own choices against the same choices permuted between pictures."""
    pairs = [
        (method.unpermuted, name)
        for name in pooled.methods
        if (method := MethodName.parse(name)).permuted and method.unpermuted in pooled.methods
    ]
    if not pairs:
        raise MissingRun("no run of a method beside itself permuted (dga-plus:permute=depth)")
    rows = _differences(pooled, pairs, pooled.groups)
    for row in rows.numbers:
        row |= bare_columns(pooled.correct.accuracy(row["rival"], row["group"]), "permuted")
    return Table(
        "permuted",
        f"Own choices against permuted, {pooled.described}",
        "Own minus permuted: the difference in accuracy in points when each picture gets its own "
        f"choice and not that of another picture of its batch, with {INTERVALS}. Above 0, "
        "choosing per image pays.",
        *rows.frames,
        pooled.commands([name for pair in pairs for name in pair]),
    )


def _differences(
    pooled: PooledRuns, pairs: Sequence[tuple[str, str]], groups: Sequence[str]
) -> Rows:
    """The first of each pair minus the second; numbers of all ``groups``."""
    rows = Rows()
    for own, rival in pairs:
        head = {"Method": method_title(own), "Minus": method_title(rival)}
        cells = {group: pooled.correct.difference(own, rival, group) for group in groups}
        texts = {group: points(cells[group]) for group in pooled.groups}
        rows.add_groups(head, {"method": own, "rival": rival}, cells, texts, "points")
    return rows


def clean_table(pooled: PooledRuns) -> Table:
    """What methods do to pictures that nothing is wrong with."""
    lines = pooled.lines[pooled.lines["corruption"] == CLEAN]
    methods = [name for name in pooled.compared if name in set(lines["method"])]
    if not methods:
        raise MissingRun("no run on clean pictures (--corruptions clean)")
    rows = Rows()
    for method in methods:
        mean = pooled.correct.accuracy(method, CLEAN)
        gain = pooled.correct.difference(method, SOURCE, CLEAN) if method != SOURCE else None
        same = float(lines.loc[lines["method"] == method, "unchanged"].mean())
        shown = {
            "Method": method_title(method),
            "Accuracy (%)": percent(mean),
            "Gain over doing nothing": points(gain),
            "Returned bit for bit (%)": number(100 * same, 1),
            "Photos": str(mean.photographs if mean else 0),
        }
        shares = {**bare_columns(gain, "minus_source"), "unchanged": round(100 * same, 3)}
        rows.add(shown, {"method": method, **columns(mean), **shares})
    return Table(
        "clean",
        f"Undamaged pictures, {pooled.counted(lines)}",
        f"Top-1 accuracy with {INTERVALS}; the gain is in points, on the pictures both have. "
        "Returned bit for bit: the picture that the classifier saw is the one that came.",
        *rows.frames,
        pooled.commands(methods),
    )
