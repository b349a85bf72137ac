"""What the page Results says, from today's figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.pages.results_numbers import (
    MARKS,
    NAMES,
    Diagnoses,
    Results,
    Row,
    accuracies,
    full_name,
    points,
)
from app.pages.shell import CLASSIFIER
from app.runs.sentences import DAMAGE_NAMES, begin_small, join_words
from dga.corruptions import CLEAN, EVERYDAY, FAMILIES
from dga.io.numbers import SPACE
from dga.io.numbers import format_percentage as percent
from dga.lab.analysis.names import MEAN, PLUS, SOURCE, format_title

NOT_MEASURED = "Not measured yet."
HARDLY_FOUND = 0.7
"""Area under the curve below which a kind of damage is named as one that is not found."""


@dataclass(frozen=True)
class Line:
    """One line of a small chart: from ``start`` to ``end``, perhaps with the interval of ``end``.

    ``cells``: its numbers, below the heads of their columns; ``behind``: exhibit, kind of damage
    and method of the readings that it counts.
    """

    label: str
    cells: Sequence[str]
    end: float
    start: float | None = None
    low: float | None = None
    high: float | None = None
    mark: str = "ours"
    behind: tuple[str, str, str] | None = None


@dataclass(frozen=True)
class Answer:
    """``key``: its anchor; ``exhibit``: what it was read from."""

    key: str
    question: str
    sentence: str = NOT_MEASURED
    more: Sequence[str] = ()
    chart: Sequence[Line] = ()
    exhibit: str = ""


@dataclass(frozen=True)
class Setting:
    """Today's figures of one kind of pictures: all methods, and ours by kind of damage.

    ``key``: of the exhibit; ``title``: the page's heading while it is shown; ``condition``: the
    damage; ``strength``: of 5; ``methods``: by heading.
    """

    key: str
    title: str
    condition: str
    strength: str
    sentence: str
    methods: Mapping[str, Sequence[Line]]
    kinds: Sequence[Line]

    @property
    def name(self) -> str:
        """``All 15, saved as JPEG 85, 5 of 5``."""
        return f"{self.condition}, {self.strength}"


def name_kind(kind: str) -> str:
    """Of a kind of damage, also one of everyday."""
    return "Undamaged" if kind == CLEAN else DAMAGE_NAMES.get(kind) or format_title(kind)


def name_condition(key: str) -> str:
    """``All 15, saved as JPEG 85``, of ``saved-85-severity-5``; as the pages name them."""
    if key.startswith("everyday"):
        return "Everyday damage"
    return f"All 15, saved as JPEG {key.split('-')[1]}" if key.startswith("saved") else "All 15"


def list_settings(now: Results) -> list[Setting]:
    """Pictures that are saved as ImageNet-C is released come first."""
    keys = [key for key in now.exhibits if now.find(key, PLUS, SOURCE, MEAN)]
    keys = [key for key in keys if "severity-" in key]
    return [_describe_setting(now, key) for key in sorted(keys, key=lambda k: "saved" not in k)]


def _describe_setting(now: Results, key: str) -> Setting:
    mean = now.find(key, PLUS, SOURCE, MEAN)
    assert mean is not None
    rows = [row for row in now.exhibits[key]["rows"] if row["group"] == MEAN]
    against = [row for row in rows if row["method"] == PLUS]
    methods = dict[str, list[Line]]()
    for count in sorted({row["photographs"] for row in against}, reverse=True):
        heading = f"On {count} {'photographs' if count == mean['photographs'] else 'of them'}"
        methods[heading] = _draw_methods(
            now, key, [r for r in against if r["photographs"] == count]
        )
    sentence = (
        f"{percent(mean['right'])} right instead of {percent(mean['other_right'])}, "
        f"{points(mean)}: of {mean['pictures']:,} pictures {_count_changes(mean)}."
    )
    kinds = [_change(key, row) for row in list_kinds(now.exhibits[key]["rows"])]
    strength = f"{key.rpartition('-')[2]}{SPACE}of{SPACE}5"
    condition = name_condition(key)
    where = begin_small(condition.replace("All 15", "fifteen kinds of damage"))
    right, before = (int(mean[name] + 0.5) for name in ("right", "other_right"))
    title = (
        f"Of every 100 pictures, {right} are read right instead of {before}: "
        f"{where}, strength {strength}."
    )
    return Setting(key, title, condition, strength, sentence, methods, kinds)


def _draw_methods(now: Results, key: str, against: Sequence[Row]) -> list[Line]:
    """A line a method, the best last: what it reads right, and by how much ours is ahead of it.

    ``against``: ours against each, on the same photographs.
    """
    untouched = now.find(key, against[0]["other"], SOURCE, MEAN)
    shares = accuracies([*against, untouched] if untouched else against)
    ahead = {row["other"]: points(row, unit="") for row in against}
    unlinked = {SOURCE} if SOURCE in ahead else {SOURCE, PLUS}  # readings of ours are of all
    lines = []
    for name, (right, low, high) in sorted(shares.items(), key=lambda share: share[1]):
        cells, mark = (f"{right:.1f}", ahead.get(name, "")), MARKS.get(name.partition(":")[0], "")
        behind = None if name in unlinked else (key, MEAN, name)
        label = NAMES.get(name) or full_name(name)
        lines.append(Line(label, cells, right, None, low, high, mark, behind))
    return lines


def headline(now: Results) -> tuple[str, str]:
    """The page's heading, and what it was measured on."""
    settings = list_settings(now)
    if not settings:
        return "How often does repair help?", NOT_MEASURED
    return settings[0].title, (
        "Photographs that we never trained on, each under each of fifteen kinds of damage. "
        f"{CLASSIFIER} reads them, and has most likely seen them undamaged; figures of earlier "
        "versions were known when the last rules were chosen."
    )


def answer_all(now: Results, diagnoses: Diagnoses, small: Results) -> list[Answer]:
    """Three answers, in the order of the page; ``small``: results at 64 px."""
    return [_harm(now), _describe_diagnoses(diagnoses), _failures(now, small)]


def _harm(now: Results) -> Answer:
    question, row = "Does it harm what is fine?", now.find("undamaged", PLUS, SOURCE, CLEAN)
    if row is None:
        return Answer("harm", question)
    count = row["pictures"]
    sentence = f"{row['unchanged']} of {count} undamaged photographs come back exactly as they were"
    more = [f"Read right: {row['other_right']:.1f}{SPACE}% before, {percent(row['right'])} after."]
    shares = (("Exactly as it was", row["unchanged"]), ("Same reading", row["same_reading"]))
    chart = [Line(label, [f"{n} of {count}"], 100 * n / count, start=0) for label, n in shares]
    return Answer("harm", question, f"{sentence}; {_count_changes(row)}.", more, chart, "undamaged")


def _count_changes(row: Row) -> str:
    return f"{row['gained'] or 'none'} became right, {row['lost'] or 'none'} became wrong"


def _failures(now: Results, small: Results) -> Answer:
    question, settings = "When does it fail?", list_settings(now)
    rows = [(one.key, row) for one in settings for row in list_kinds(now.exhibits[one.key]["rows"])]
    if not rows:
        return Answer("failures", question)
    lost = sorted((item for item in rows if item[1]["gain"] < 0), key=lambda item: item[1]["gain"])
    sentence = f"In some settings fewer are read right after repair: {_name_kinds(lost)}."
    clear = [item for item in lost if item[1]["gain_high"] < 0]
    chance = "Each of these losses may be chance: its 95 % interval includes 0."
    if clear:
        chance = f"More than chance, by 95 % intervals: {_name_kinds(clear)}."
    more = [chance] if lost else []
    tent = small.find("severity-5", PLUS, "tent", MEAN)
    if tent and tent["gain_high"] < 0:
        lead, low, high = (f"{-tent[name]:.1f}" for name in ("gain", "gain_high", "gain_low"))
        more.append(
            "At 64 pixels, with 16 kinds of things and one damage at a time, Tent is ahead of our "
            f"repair: by {lead} points ({low} to {high}) at strength 5."
        )
    places = {one.key: begin_small(one.name) for one in settings}
    chart = [_change(key, row, f", {places[key]}", f" of {row['pictures']}") for key, row in lost]
    return Answer("failures", question, sentence, more, chart)


def _name_kinds(rows: Sequence[tuple[str, Row]]) -> str:
    names = [f"{name_kind(row['group'])} (strength {key.rpartition('-')[2]})" for key, row in rows]
    return join_words([*dict.fromkeys(names)]) or "no damage"


def _describe_diagnoses(diagnoses: Diagnoses) -> Answer:
    """How much of what is damaged is found, and how much of what is not."""
    question, damaged, fine = "Is damage found?", diagnoses.damaged, diagnoses.undamaged
    if not damaged or not fine:
        return Answer("diagnosis", question)
    found, pictures = _count_found(damaged)
    sentence = (
        f"Of {pictures:,} damaged pictures {found:,} are called damaged, of {fine['pictures']:,} "
        f"undamaged ones {fine['damaged']:,}."
    )
    missed = [name_kind(row["corruption"]) for row in damaged if row["AUC"] < HARDLY_FOUND]
    way = "by measuring alone, as dga diagnose --fast does; Repair asks a network, too"
    more = [
        f"Looked for {'with networks, as on Repair' if diagnoses.has_networks else way}.",
        f"Hardly distinguished from undamaged ones: {join_words(missed) or 'no kind'} "
        f"(area under the ROC curve below {HARDLY_FOUND}, where 0.5 is guessing).",
    ]
    groups = {**FAMILIES, "everyday damage": EVERYDAY, name_kind(CLEAN): (CLEAN,)}
    chart = []
    for name, kinds in groups.items():
        found, pictures = _count_found([r for r in (*damaged, fine) if r["corruption"] in kinds])
        if pictures:
            cells = [f"{found:,} of {pictures:,}"]
            chart.append(Line(format_title(name), cells, 100 * found / pictures, start=0))
    return Answer("diagnosis", question, sentence, more, chart)


def _count_found(rows: Sequence[Row]) -> tuple[int, int]:
    """How many pictures are called damaged, of how many."""
    return sum(row["damaged"] for row in rows), sum(row["pictures"] for row in rows)


def list_kinds(rows: Sequence[Row]) -> list[Row]:
    """Of one exhibit ours against nothing done by kind of damage, the largest gain first."""
    pairs = [row for row in rows if (row["method"], row["other"]) == (PLUS, SOURCE)]
    kinds = [row for row in pairs if row["group"] not in (MEAN, *FAMILIES)]
    return sorted(kinds, key=lambda row: -row["gain"])


def _change(key: str, row: Row, where: str = "", total: str = "") -> Line:
    shares = f"{row['other_right']:.1f} → {row['right']:.1f}"
    cells = shares, f"{row['gained']} / {row['lost']}{total}"
    bounds = row["right_low"], row["right_high"]
    behind = key, row["group"], PLUS
    name = name_kind(row["group"]) + where
    return Line(name, cells, row["right"], row["other_right"], *bounds, behind=behind)
