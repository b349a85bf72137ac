"""Questions answered from the results' tables: nothing here is a number of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from app.pages.findings.charts import Chart, Interval, bars, forest, whole_shares
from app.pages.findings.exhibits import BASE_SEVERITY, Exhibits
from app.words import findings as words
from app.words.findings import METHODS, NAMES
from dga.analysis.tables.table import signed
from dga.corruptions import SEVERITIES
from dga.titles import phrase

OURS = ("dga-plus", "dga-guided", "dga")  # whose answer is given: the first that was run
PROMISE = 1.0  # points that clean pictures may lose
MOSTLY = 50  # of 100 pictures
Row = Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """``question``: a key of ``QUESTIONS``; ``table``: where it comes from; ``more``: plain
    sentences that belong to it; ``chart``: None where nothing was measured; ``at``: severity of
    what has one, 0 where nothing has.
    """

    question: str
    table: str
    sentence: str
    more: tuple[str, ...] = ()
    chart: Chart | None = None
    at: int = 0


def answers(exhibits: Exhibits, severity: int) -> list[Answer]:
    """One a question, in order, as measured at this severity or at the nearest that was measured.

    Never raises for what tables hold.
    """
    made = []
    makers = (_help, _depth, _found, _clean, _cost)
    for question, make in zip(words.QUESTIONS, makers, strict=True):
        try:
            made.append(make(exhibits, severity))
        except (KeyError, ValueError):
            made.append(Answer(question, "", words.DAMAGED))
    return made


def _named(name: str, severity: int) -> str:
    return name if severity == BASE_SEVERITY else f"{name}-severity-{severity}"


def _nearest(exhibits: Exhibits, severity: int, *names: str) -> int:
    """This severity, or the nearest at which one of these tables was made."""
    made = [at for at in SEVERITIES if any(exhibits.table(_named(name, at)) for name in names)]
    return min(made, key=lambda at: abs(at - severity), default=severity)


def _not_measured(question: str, table: str) -> Answer:
    return Answer(question, table, words.NOT_MEASURED.format(table=table))


def _help(exhibits: Exhibits, severity: int) -> Answer:
    at = _nearest(exhibits, severity, "table-1")
    table = _named("table-1", at)
    rows = _by_method(exhibits, table)
    shown, gains = _estimates(rows, "accuracy"), _estimates(rows, "minus_source")
    own = _own(shown)
    gain = gains.get(own)
    if gain is None:
        return _not_measured("help", table)
    sentence = words.HELP[gain.verdict].format(
        method=NAMES[own], accuracy=_whole(shown[own].value), points=_size(gain.value)
    )
    more = [words.HELP_MORE["interval"].format(**_told(gain))]
    below = [
        words.HELP_BELOW[found.verdict].format(
            method=NAMES[name], accuracy=_size(shown[name].value)
        )
        for name, found in gains.items()
        if found.value < 0 and name != own
    ]
    if below and "source" in shown:
        source = _size(shown["source"].value)
        more.append(words.HELP_MORE["below"].format(source=source, names=", ".join(below)))
    paper = gains.get("dga-guided")
    if paper and own == "dga-plus":
        more.append(words.HELP_MORE["paper"].format(method=NAMES["dga-guided"], **_told(paper)))
    more += _beaten(exhibits.numbers(_named("comparisons", at)), own)
    chart = bars(shown)
    return Answer("help", table, sentence, tuple(more), chart, at)


def _beaten(comparisons: Sequence[Row], own: str) -> Iterator[str]:
    """Who is ahead of our method, and on what it does harm, where the intervals decide."""
    ours, tent = [row for row in comparisons if row.get("method") == own], False
    for row in ours:
        found = _estimate(row, "points")
        if row["group"] == "mean" and row["rival"] in NAMES and found and found.verdict == "no":
            tent |= row["rival"].endswith("tent")
            points, low, high = map(_size, (found.value, found.high, found.low))
            yield words.HELP_MORE["ahead"].format(
                rival=NAMES[row["rival"]], points=points, low=low, high=high
            )
    if tent:
        yield words.HELP_MORE["tent"]
    harmed = [
        f"{phrase(row['group'])} ({signed(found.value)})"
        for row in ours
        if row["rival"] == "source" and row["group"] not in ("mean", *words.GROUPS)
        and (found := _estimate(row, "points")) and found.verdict == "no"
    ]  # fmt: skip
    if harmed:
        yield words.HELP_MORE["harms"].format(method=NAMES[own], names=", ".join(harmed))


@dataclass(frozen=True)
class Permuted:
    """What ``method`` loses where pictures, the ``same`` damage or ``wild``, exchange ``what``."""

    table: str
    where: str
    method: str
    what: str
    found: Interval


def _depth(exhibits: Exhibits, severity: int) -> Answer:
    at = _nearest(exhibits, severity, "permuted", "controls")
    permuted = list(_all_permuted(exhibits, at))
    deciding = [d for d in permuted if d.what in words.WHOLE_DEPTH]
    if not deciding:
        return _not_measured("depth", _named("permuted", severity))
    own = min(deciding, key=lambda d: OURS.index(d.method)).method
    clauses: dict[str, Permuted] = {}
    for d in sorted(deciding, key=lambda d: words.WHOLE_DEPTH.index(d.what)):
        if d.method == own:
            clauses.setdefault(d.where, d)
    if clauses.keys() != words.AMONG.keys():
        return _not_measured("depth", _named("permuted", severity))
    told = [
        words.DEPTH[d.found.verdict].format(points=signed(d.found.value).lstrip("+"))
        + f" {words.AMONG[where]}"
        for where, d in clauses.items()
    ]
    yes = [d.found.verdict == "yes" for d in clauses.values()]
    verdict = "surely" if all(yes) else "partly" if any(yes) else "hardly"
    (what, *other) = dict.fromkeys(words.PERMUTED[d.what] for d in clauses.values())
    what = words.PERMUTED["depth"] if other else what
    known = {"what": what, "clauses": ", ".join(told)}
    rows = list[tuple[str, str, Interval | None]]()
    for where, alike in groupby(permuted, lambda d: d.where):
        rows.append(("", words.GIVEN[where], None))
        rows += (
            (d.method, f"{NAMES[d.method].capitalize()}: {words.PERMUTED[d.what]}", d.found)
            for d in alike
        )
    table = next(iter(clauses.values())).table
    return Answer("depth", table, words.DEPTH[verdict].format(**known), (), forest(rows), at)


def _all_permuted(exhibits: Exhibits, at: int) -> Iterator[Permuted]:
    tables = (("wild", "all", "wild-permuted"), ("same", "mean", _named("permuted", at)))
    for where, group, table in tables:
        for row in exhibits.numbers(table):
            found = _estimate(row, "points")
            what = row["rival"].partition("permute=")[2].partition(":")[0]
            if row["group"] == group and found and what in words.PERMUTED:
                yield Permuted(table, where, row["method"].partition(":")[0], what, found)
    table = _named("controls", at)
    for row in exhibits.numbers(table):
        found = _estimate(row, "adaptive_minus")
        if (row["control"], row["group"]) == ("permuted", "mean") and found:
            yield Permuted(table, "same", "dga-guided", "depth", found)


def _found(exhibits: Exhibits, severity: int) -> Answer:
    at = _nearest(exhibits, severity, "explanations")
    table = _named("explanations", at)
    rows = {row["group"]: row for row in exhibits.numbers(table)}
    groups = [group for group in words.GROUPS if group in rows]
    right = {"noise": "noise", "blur": "sharpness", "clean": "nothing"}
    hits = {g: float(rows[g][kind]) for g, kind in right.items() if g in rows}
    if not hits:
        return _not_measured("found", table)
    parts = [words.FOUND[group].format(share=_whole(share)) for group, share in hits.items()]
    kind = "mostly" if min(hits.values()) >= MOSTLY else "partly"
    sentence = words.FOUND[kind].format(parts=", ".join(parts))
    named = [
        (words.GROUPS[group], whole_shares([float(rows[group][kind]) for kind in words.KINDS]))
        for group in groups
    ]
    chart = Chart(named, heads=tuple(words.KINDS.values()))
    return Answer("found", table, sentence, (), chart, at)


def _clean(exhibits: Exhibits, severity: int) -> Answer:
    rows = _by_method(exhibits, "clean")
    moved = _estimates(rows, "minus_source")
    own = _own(moved)
    if not own:
        return _not_measured("clean", "clean")
    found = moved[own]
    kind = "no" if found.high < 0 else "yes" if found.low >= -PROMISE else "nearly"
    points = _size(found.value) if kind == "no" else signed(found.value)
    same = _whole(float(rows[own]["unchanged"]))
    sentence = words.CLEAN[kind].format(method=NAMES[own], same=same, points=points)
    more = (words.CLEAN["most"].format(most=_size(found.low)),) if kind == "nearly" else ()
    dots = [(name, METHODS[name], interval) for name, interval in moved.items()]
    return Answer("clean", "clean", sentence, more, forest(dots, band=PROMISE))


def _cost(exhibits: Exhibits, severity: int) -> Answer:
    at = _nearest(exhibits, severity, "table-1")
    table = _named("table-1", at)
    rows = _by_method(exhibits, table)
    seconds = {name: float(text) for name in METHODS if (text := rows.get(name, {}).get("seconds"))}
    own = _own(seconds)
    if not own:
        return _not_measured("cost", table)
    others = "".join(
        words.COST_OTHER.format(seconds=_seconds(seconds[name]), method=NAMES[name])
        for name in ("dga-guided", "dda")
        if name in seconds and name != own
    )
    sentence = words.COST.format(own=_seconds(seconds[own]), method=NAMES[own], others=others)
    exact = {name: Interval(value, value, value) for name, value in seconds.items()}
    chart = bars(exact, _seconds)
    return Answer("cost", table, sentence, (), chart, at)


def _own(measured: Mapping[str, object]) -> str:
    return next((name for name in OURS if name in measured), "")


def _by_method(exhibits: Exhibits, table: str) -> dict[str, Row]:
    return {row["method"]: row for row in exhibits.numbers(table)}


def _estimates(rows: Mapping[str, Row], name: str) -> dict[str, Interval]:
    return {m: found for m in METHODS if (found := _estimate(rows.get(m, {}), name))}


def _estimate(row: Row, name: str) -> Interval | None:
    """A CSV's value with its interval, if the row has them."""
    cells = [row.get(f"{name}{end}") for end in ("", "_low", "_high")]
    try:
        return Interval(*(float(cell or "") for cell in cells))
    except ValueError:
        return None


def _told(found: Interval) -> dict[str, str]:
    return {"points": signed(found.value), "low": signed(found.low), "high": signed(found.high)}


def _size(value: float) -> str:
    return f"{abs(value):.1f}"


def _whole(value: float) -> str:
    """Never 100 or 0 unless it is."""
    return f"{min(max(round(value), 1), 99) if 0 < value < 100 else value:.0f}"


def _seconds(value: float) -> str:
    """Two digits that count: 1.1, 0.20, 0.0047."""
    return f"{value:#.2g}" if value < 9.95 else f"{value:.0f}"
