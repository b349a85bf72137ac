"""Six questions, answered from the results file, but for five sentences that are written here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.pages.results_numbers import (
    BATCH_STATISTICS,
    MARKS,
    NAMES,
    PAPER,
    RIVAL,
    STRENGTHS,
    TENT,
    Results,
    Row,
    points,
)
from app.pages.shell import CLASSIFIER
from app.runs.sentences import PLAIN_NAMES, join_words
from dga.corruptions import CORRUPTIONS, FAMILIES
from dga.io.numbers import SPACE, format_signed
from dga.io.numbers import format_percentage as percent
from dga.lab.analysis.names import PLUS, SOURCE
from dga.lab.analysis.paper import SETTING, TABLE_1

NOT_MEASURED = "Not measured yet."
MEASURED_BEFORE = (
    "Our repair was measured here as it was before a network that sees the damaged photo joined it."
)
TRAINED_ON = (
    "The networks that judge damage were trained, and settings were chosen, on other photographs "
    "with these same kinds of damage."
)
"""As the model cards say and ``assets/results/photo/README.md``."""
UNSEEN = (
    "Four other kinds, unseen in training, percent right at strength 5 before and after our "
    "repair: noise that multiplies each value 27.5 and 57.5, saturation 62.5 and 65.0, spatter "
    "37.5 and 37.5 (40 photographs each), Gaussian blur, which is measured, 13.3 and 34.4 (180)."
)
"""As ``assets/results/photo/README.md`` has it."""

LIMITS = (
    "The limit of 12 steps was chosen on 120 other photographs. There DGA reads 27.8, 27.8 and "
    f"27.3{SPACE}% right with limits of 8, 12 and 16, and nothing done 25.3{SPACE}%. On the 180, "
    "with guidance, 24 steps instead of 12 for every picture help against noise (18.9 instead of "
    "16.9 right) and harm on average (20.1 instead of 23.7)."
)
"""As ``assets/results/photo/README.md`` has it, of choices, and ``paper/controls.md`` there."""
OWN_DEPTH = (
    "Its depth fits the kind of damage rather than the photo: with depths exchanged between photos "
    "of the same damage it reads as well (own minus exchanged: +0.3, \N{MINUS SIGN}0.3 to 0.9)."
)
"""DGA with guidance, as ``assets/results/photo/paper/controls.md`` has it."""
TENT_STEPS = (
    "Tent and batch statistics agree: 180 pictures in batches of 64 allow Tent three steps, at its "
    "learning rate of 0.00025."
)
"""As profile photo has it."""
CHANGED_ALL_THE_SAME = (
    "JPEG and warping are not mended. Of 180 such pictures 6 and 9 are changed all the same, by "
    "19.9 and 15.1 dB at worst; none of them becomes right or wrong."
)
"""As ``assets/results/photo/README.md`` has it, of strength 5."""
TENT_AT_64 = (
    "At 64 pixels, with 16 kinds of things and one damage at a time, Tent is ahead of our repair: "
    "by 9.0 points (5.6 to 12.3) at strength 5."
)
"""As the results of profile everyday16, below on the page, have it."""


@dataclass(frozen=True)
class Line:
    """One line of a small chart: from ``start`` to ``end``, or ``end`` with its interval."""

    label: str
    text: str
    end: float
    start: float | None = None
    low: float | None = None
    high: float | None = None
    mark: str = "ours"


@dataclass(frozen=True)
class Answer:
    """``key``: its anchor; ``sentence``: at most 25 words; ``exhibit``: what it was read from."""

    key: str
    question: str
    sentence: str = NOT_MEASURED
    more: Sequence[str] = ()
    chart: Sequence[Line] = ()
    exhibit: str = ""


def answer_all(results: Results) -> list[Answer]:
    """The six answers, in the order of the page."""
    key = f"severity-{first_severity(results)}"
    answers = [_help(results), _damage(results, key), _harm(results)]
    return [*answers, _paper(results, key), _others(results, key), _failures(results, key)]


def headline(results: Results) -> tuple[str, str]:
    """The page's heading, and what it was measured on."""
    severity = first_severity(results)
    row = results.find(f"severity-{severity}", PLUS, SOURCE, "mean")
    if row is None:
        return "How often does repair help?", NOT_MEASURED
    right, before = f"{row['right']:.0f}", f"{row['other_right']:.0f}"
    return (
        f"Of every 100 badly damaged pictures, {right} are read right instead of {before}.",
        f"{row['photographs']} photographs {results.split}, each with {len(CORRUPTIONS)} kinds of "
        f"damage at strength {severity} of 5, read by one frozen classifier, {CLASSIFIER}. "
        f"{TRAINED_ON} In brackets: 95{SPACE}% intervals. {MEASURED_BEFORE}",
    )


def first_severity(results: Results) -> int:
    """The strongest that was measured."""
    return next((s for s in STRENGTHS if f"severity-{s}" in results.exhibits), STRENGTHS[0])


def _help(results: Results) -> Answer:
    parts, more, chart = [], [], []
    for severity in STRENGTHS:
        name = f"Strength {severity}"
        row = results.find(f"severity-{severity}", PLUS, SOURCE, "mean")
        if row is None:
            parts.append(f"{name}: not measured yet.")
            continue
        before = percent(row["other_right"])
        parts.append(f"{name}: {percent(row['right'])} right instead of {before}, {points(row)}.")
        chart.append(_change(name, row))
        more.append(
            f"{name}, {row['photographs']} photographs: of {row['pictures']} damaged pictures "
            f"{row['gained']} become right and {row['lost']} become wrong."
        )
    question = "How much does it help?"
    sentence = "\n".join(parts) if chart else NOT_MEASURED
    return Answer("help", question, sentence, more, chart, f"severity-{first_severity(results)}")


def _damage(results: Results, key: str) -> Answer:
    question, rows = "On which damage?", _by_corruption(results, key)
    if not rows:
        return Answer("damage", question)
    best = [
        f"{PLAIN_NAMES[r['group']]} ({format_signed(r['gain'])})" for r in rows[:3] if r["gain"] > 0
    ]
    most = f", most on {join_words(best)}" if best else ""
    helps = sum(row["gain_low"] > 0 for row in rows)
    families = ((f"All {name}", results.find(key, PLUS, SOURCE, name)) for name in FAMILIES)
    chart = [_change(name, row) for name, row in families if row]
    sentence = f"It clearly helps on {helps} of {len(rows)} kinds{most}."
    more = (
        f"In brackets: points, at {_strength(key)}; clearly: with an interval above 0. Brightness "
        "counts as digital, as in the paper's tables; ImageNet-C has it under weather.",
        UNSEEN,
    )
    return Answer("damage", question, sentence, more, chart, key)


def _harm(results: Results) -> Answer:
    question, row = "Does it harm what is fine?", results.find("undamaged", PLUS, SOURCE, "clean")
    if row is None:
        return Answer("harm", question)
    count = row["pictures"]
    readings = _count_changes(row)
    sentence = f"{row['unchanged']} of {count} undamaged photographs come back bit for bit"
    more = [f"Read right: {row['other_right']:.1f}{SPACE}% before, {percent(row['right'])} after."]
    if mixed := results.find("wild", PLUS, SOURCE, "clean"):
        more.append(
            f"In a mixed stream {mixed['unchanged']} of {mixed['pictures']} undamaged ones come "
            f"back bit for bit; {_count_changes(mixed)}."
        )
    shares = (("Bit for bit", row["unchanged"]), ("Same reading", row["same_reading"]))
    chart = [Line(label, f"{n} of {count}", 100 * n / count, start=0) for label, n in shares]
    return Answer("harm", question, f"{sentence}; {readings}.", more, chart, "undamaged")


def _count_changes(row: Row) -> str:
    return f"{row['lost'] or 'none'} became wrong, {row['gained'] or 'none'} became right"


def _paper(results: Results, key: str) -> Answer:
    question = "Is our repair ahead of the paper's method and of fixed noise?"
    rows = {name: results.find(key, PLUS, name, "mean") for name in (*PAPER, RIVAL)}
    paper = next((name for name in PAPER if rows[name]), PAPER[0])
    rivals = {paper: _label(paper).replace("The", "the"), RIVAL: "fixed noise"}
    if not any(rows.values()):
        return Answer("paper", question)
    chart = list(_compare_alike(results, key, rows))
    counts = sorted({row["photographs"] for row in rows.values() if row})
    count = join_words([str(count) for count in counts])
    more = [
        f"On {count} photographs, the same for every method.",
        "The paper's method stands here as we rebuilt it, with two limits of ours (Learn, step 3) "
        "and our small diffusion model, the same for every method. "
        + _against_nothing(results, paper),
        LIMITS,
        OWN_DEPTH,
        f"The paper's own figures ({SETTING}): nothing done {TABLE_1['source']:.0%}, its method "
        f"{TABLE_1[PAPER[0]]:.0%}, fixed noise {TABLE_1[RIVAL]:.0%} right.",
    ]
    return Answer("paper", question, f"It is {_against(rows, rivals)}", more, chart, key)


def _against_nothing(results: Results, method: str) -> str:
    """What a method gains or harms by itself, at each strength."""
    rows = ((s, results.find(f"severity-{s}", method, SOURCE, "mean")) for s in STRENGTHS)
    gains = [f"{points(row)} at strength {severity}" for severity, row in rows if row]
    return f"{_label(method)} against nothing done: {join_words(gains)}." if gains else ""


def _others(results: Results, key: str) -> Answer:
    question = "Is it ahead of others that adapt the classifier?"
    names = (PLUS, TENT, BATCH_STATISTICS, SOURCE)
    right = {name: results.accuracy("wild", name, "all") for name in names}
    if not right[PLUS]:
        return Answer("others", question)
    plain = {name: NAMES[name] if name == TENT else NAMES[name].lower() for name in names}
    parts = [f"{plain[name]} {percent(value[0])}" for name, value in right.items() if value]
    unmeasured = [plain[name] for name, value in right.items() if not value]
    sentence = f"Mixed pictures read right: {join_words(parts)}."
    if unmeasured:
        sentence += f" Not measured yet: {join_words(unmeasured)}."
    against = {TENT: "Tent", SOURCE: "doing nothing"}
    rows = {name: results.find("wild", PLUS, name, "all") for name in against}
    is_compared = any(rows.values())
    more = [f"On the same pictures our repair is {_against(rows, against)}"] if is_compared else []
    if one := results.find(key, PLUS, TENT, "mean"):
        ours = {row["group"]: row["right"] for row in _by_corruption(results, key)}
        theirs = {name: results.accuracy(key, TENT, name) for name in CORRUPTIONS}
        ahead = [PLAIN_NAMES[n].lower() for n, r in theirs.items() if r and r[0] > ours.get(n, 0)]
        more.append(
            f"One damage at a time, in batches: Tent {percent(one['other_right'])}, our repair "
            f"{percent(one['right'])}. Tent is ahead on: {join_words(ahead) or 'none'}."
        )
    if right[TENT] and right[TENT] == right[BATCH_STATISTICS]:
        more.append(TENT_STEPS)
    more.append(TENT_AT_64)
    chart = list(_intervals(results, "wild", names[::-1], "all"))
    return Answer("others", question, sentence, more, chart, "wild")


def _failures(results: Results, key: str) -> Answer:
    question, rows = "When does it fail?", _by_corruption(results, key)
    mean = results.find(key, PLUS, SOURCE, "mean")
    if not mean:
        return Answer("failures", question)
    sentence = f"{percent(100 - mean['right'])} are read wrong at {_strength(key)}."
    unsure = [PLAIN_NAMES[r["group"]] for r in rows if r["gain_low"] <= 0 <= r["gain_high"]]
    worse = [PLAIN_NAMES[row["group"]] for row in rows if row["gain_high"] < 0]
    for words, names in (("No clear gain", unsure), ("Worse", worse)):
        sentence += f" {words}: {shorten(names)}." if names else ""
    chart = [_change(PLAIN_NAMES[row["group"]], row) for row in rows[::-1] if row["gain_low"] <= 0]
    more = (CHANGED_ALL_THE_SAME, *_weakest(results))
    return Answer("failures", question, sentence, more, chart, key)


def _weakest(results: Results) -> Iterator[str]:
    """Where our repair gains least, or loses most, in the mixed stream."""
    groups = ("clean", *"12345", *FAMILIES)
    rows = [row for name in groups if (row := results.find("wild", PLUS, SOURCE, name))]
    for row in sorted(rows, key=lambda row: row["gain"])[:1]:
        group = f"strength {row['group']}" if row["group"].isdecimal() else row["group"]
        yield (
            f"Weakest in the mixed stream: {group}, {percent(row['right'])} right instead of "
            f"{percent(row['other_right'])}, {points(row)}, of {row['pictures']} pictures."
        )


def _by_corruption(results: Results, key: str) -> list[Row]:
    """What was measured, the largest gain first."""
    rows = (results.find(key, PLUS, SOURCE, name) for name in CORRUPTIONS)
    return sorted((row for row in rows if row), key=lambda row: -row["gain"])


def _change(label: str, row: Row) -> Line:
    text = f"{row['other_right']:.1f} → {row['right']:.1f}"
    return Line(label, text, row["right"], start=row["other_right"])


def _intervals(results: Results, key: str, methods: Sequence[str], group: str) -> Iterator[Line]:
    for name in methods:
        if value := results.accuracy(key, name, group):
            right, low, high = value
            yield _interval(name, {"right": right, "right_low": low, "right_high": high}, "right")


def _compare_alike(results: Results, key: str, rows: Mapping[str, Row | None]) -> Iterator[Line]:
    """Methods and nothing done, each on the photographs that it shares with ours."""
    measured = {name: row for name, row in rows.items() if row}
    rivals = [name for name in (RIVAL, *PAPER[::-1]) if name in measured]
    if nothing := results.find(key, rivals[0], SOURCE, "mean"):
        yield _interval(SOURCE, nothing, "other_right")
    for name in rivals:
        yield _interval(name, measured[name], "other_right")
    yield _interval(PLUS, measured[rivals[0]], "right")


def _interval(name: str, row: Row, side: str) -> Line:
    right, low, high = row[side], row[f"{side}_low"], row[f"{side}_high"]
    text = f"{right:.0f} ({low:.0f} to {high:.0f})"
    return Line(_label(name), text, right, low=low, high=high, mark=MARKS.get(name, ""))


def _label(name: str) -> str:
    """``+ G``: with guidance."""
    return NAMES[name] + (" + G" if name == PAPER[0] else "")


def _against(rows: Mapping[str, Row | None], names: Mapping[str, str]) -> str:
    """Ahead or behind, not clearly where the interval holds 0."""
    clauses, unmeasured = [], []
    for name, words in names.items():
        if (row := rows.get(name)) is None:
            unmeasured.append(words)
            continue
        verdict = "ahead of" if row["gain"] >= 0 else "behind"
        verdict = "not clearly " * (row["gain_low"] <= 0 <= row["gain_high"]) + verdict
        clauses.append(f"{verdict} {words}, {points(row)}")
    rest = f" Not measured yet: {join_words(unmeasured)}." if unmeasured else ""
    return f"{'; '.join(clauses)}.{rest}"


def _strength(key: str) -> str:
    """``strength 5``, of the exhibit ``severity-5``."""
    return key.replace("severity-", "strength ")


def shorten(words: Sequence[str], most: int = 4) -> str:
    """The first of them, and how many more there are."""
    rest = len(words) - most
    return join_words([*words[:most], f"{rest} more"] if rest > 0 else words)
