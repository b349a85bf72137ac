"""Five questions answered from the results' tables: nothing here is a number of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.pages.findings.charts import Chart, Interval, bars, forest, signed
from app.pages.findings.exhibits import BASE_SEVERITY, Exhibits
from app.words import findings as words
from app.words.findings import METHODS, NAMES
from dga.corruptions import SEVERITIES
from dga.titles import phrase

OURS = ("dga-plus", "dga-guided", "dga")  # whose answer is given: the first that was run
PROMISE = 1.0  # points that clean pictures may lose
MOSTLY = 50  # of 100 pictures
Row = Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """``question``: a key of ``QUESTIONS``; ``table``: where it comes from; ``more``: plain
    sentences that belong to it; ``chart``: None where nothing was measured.
    """

    question: str
    table: str
    sentence: str
    more: tuple[str, ...] = ()
    chart: Chart | None = None


def answers(exhibits: Exhibits, severity: int) -> list[Answer]:
    """One a question, in order, as measured at this severity. Never raises for what tables hold."""
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


def _nearest(exhibits: Exhibits, name: str, severity: int) -> tuple[str, str]:
    """A table of this severity, else of the nearest at which it was made; and which that is."""
    made = [at for at in SEVERITIES if exhibits.table(_named(name, at))]
    at = min(made, key=lambda other: abs(other - severity), default=severity)
    return _named(name, at), words.AT.format(severity=at)


def _not_measured(question: str, table: str) -> Answer:
    return Answer(question, table, words.NOT_MEASURED.format(table=table))


def _help(exhibits: Exhibits, severity: int) -> Answer:
    table = _named("table-1", severity)
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
    paper = gains.get("dga-guided")
    if paper and own == "dga-plus":
        more.append(words.HELP_MORE["paper"].format(method=NAMES["dga-guided"], **_told(paper)))
    more += _beaten(exhibits.numbers(_named("comparisons", severity)), own)
    chart = bars(shown, words.FINDINGS_WORDS["read_right"])
    return Answer("help", table, sentence, tuple(more), chart)


def _beaten(comparisons: Sequence[Row], own: str) -> Iterator[str]:
    """Who is ahead of our method, and on what it does harm, where the intervals decide."""
    ours = [row for row in comparisons if row.get("method") == own]
    for row in ours:
        found = _estimate(row, "points")
        if row["group"] == "mean" and row["rival"] in NAMES and found and found.verdict == "no":
            why = words.HELP_MORE["tent"] if row["rival"].endswith("tent") else ""
            points, low, high = map(_size, (found.value, found.high, found.low))
            yield words.HELP_MORE["ahead"].format(
                rival=NAMES[row["rival"]], points=points, low=low, high=high, why=why
            )
    harmed = [
        f"{phrase(row['group'])} ({signed(found.value)})"
        for row in ours
        if row["rival"] == "source" and row["group"] not in ("mean", *words.GROUPS)
        and (found := _estimate(row, "points")) and found.verdict == "no"
    ]  # fmt: skip
    if harmed:
        yield words.HELP_MORE["harms"].format(names=", ".join(harmed))


@dataclass(frozen=True)
class Permuted:
    """What ``method`` loses where pictures, ``at`` a severity, have their ``what`` permuted."""

    table: str
    where: str
    at: str
    method: str
    what: str
    found: Interval


def _depth(exhibits: Exhibits, severity: int) -> Answer:
    permuted = list(_all_permuted(exhibits, severity))
    deciding = [d for d in permuted if d.what in words.WHOLE_DEPTH]
    if not deciding:
        return _not_measured("depth", _named("permuted", severity))
    own = min(deciding, key=lambda d: OURS.index(d.method)).method
    clauses: dict[str, Permuted] = {}
    for d in sorted(deciding, key=lambda d: words.WHOLE_DEPTH.index(d.what)):
        if d.method == own:
            clauses.setdefault(d.where, d)
    yes = [d.found.verdict == "yes" for d in clauses.values()]
    told = [
        words.DEPTH["loss" if d.found.verdict == "yes" else "chance"].format(
            where=words.AMONG[d.where] + d.at, size=_size(d.found.value),
            what=words.PERMUTED[d.what], **_told(d.found),
        )
        for d in clauses.values()
    ]  # fmt: skip
    unknown = [f"not measured {text}" for name, text in words.AMONG.items() if name not in clauses]
    if any(yes):
        verdict = "yes" if all(yes) and not unknown else "partly"
    else:
        verdict = "open" if unknown else "hardly"
    sentence = words.DEPTH[verdict].format(method=NAMES[own], clauses="; ".join(told + unknown))
    absent = [NAMES[name] for name in OURS[:2] if name not in {d.method for d in permuted}]
    more = [words.DEPTH["unmeasured"].format(methods=", ".join(absent))] if absent else []
    title = "{}: {}, {}{}".format
    rows = [
        (
            d.method,
            title(NAMES[d.method], words.PERMUTED[d.what], words.SHORT[d.where], d.at),
            d.found,
        )
        for d in permuted
    ]
    return Answer("depth", next(iter(clauses.values())).table, sentence, tuple(more), forest(rows))


def _all_permuted(exhibits: Exhibits, severity: int) -> Iterator[Permuted]:
    for where, group, table, at in (
        ("wild", "all", "wild-permuted", ""),
        ("same", "mean", *_nearest(exhibits, "permuted", severity)),
    ):
        for row in exhibits.numbers(table):
            found = _estimate(row, "points")
            what = row["rival"].partition("permute=")[2].partition(":")[0]
            if row["group"] == group and found and what in words.PERMUTED:
                yield Permuted(table, where, at, row["method"].partition(":")[0], what, found)
    table, at = _nearest(exhibits, "controls", severity)
    for row in exhibits.numbers(table):
        found = _estimate(row, "adaptive_minus")
        if (row["control"], row["group"]) == ("permuted", "mean") and found:
            yield Permuted(table, "same", at, "dga-guided", "depth", found)


def _found(exhibits: Exhibits, severity: int) -> Answer:
    table = _named("explanations", severity)
    rows = {row["group"]: row for row in exhibits.numbers(table)}
    groups = [group for group in words.GROUPS if group in rows]
    shares = {group: [float(rows[group][kind]) for kind in words.KINDS] for group in groups}
    right = {"noise": "noise", "blur": "sharpness", "clean": "nothing"}
    hits = {group: float(rows[group][kind]) for group, kind in right.items() if group in shares}
    if not hits:
        return _not_measured("found", table)
    parts = [words.FOUND[group].format(share=_whole(share)) for group, share in hits.items()]
    kind = "mostly" if min(hits.values()) >= MOSTLY else "partly"
    sentence = words.FOUND[kind].format(parts=", ".join(parts))
    named = [(words.GROUPS[group], cells) for group, cells in shares.items()]
    return Answer("found", table, sentence, (), Chart(named, heads=words.KINDS))


def _clean(exhibits: Exhibits, severity: int) -> Answer:
    rows = _by_method(exhibits, "clean")
    moved = _estimates(rows, "minus_source")
    own = _own(moved)
    if not own:
        return _not_measured("clean", "clean")
    found = moved[own]
    kind = "no" if found.high < 0 else "yes" if found.low >= -PROMISE else "nearly"
    points = _size(found.value) if kind == "no" else signed(found.value)
    same, most = _whole(float(rows[own]["unchanged"])), _size(found.low)
    sentence = words.CLEAN[kind].format(method=NAMES[own], same=same, points=points, most=most)
    dots = [(name, METHODS[name], interval) for name, interval in moved.items()]
    return Answer("clean", "clean", sentence, (), forest(dots, band=PROMISE))


def _cost(exhibits: Exhibits, severity: int) -> Answer:
    table = _named("table-1", severity)
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
    chart = bars(exact, words.FINDINGS_WORDS["seconds"], _seconds)
    return Answer("cost", table, sentence, (), chart)


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
