"""Five questions answered from the results, and all that they rest on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from app.pages.findings.answers import Answer, answers
from app.pages.findings.cards import DOWN, address, commands_html, exhibit_html
from app.pages.findings.exhibits import BASE_SEVERITY, Exhibit, Exhibits
from app.parts.html import html
from app.words import findings as words
from app.words.findings import FINDINGS_WORDS as WORDS
from dga.io.shipped import ROOT, shipped
from dga.profiles import Profile

DEFAULT_PROFILE = "everyday16"
_COMPARED = "source,tent,memo,diffpure,dda,dda-ensemble,dga,dga-guided,dga-plus"
_PHOTOGRAPHS = re.compile(r"\b(\d+) photographs \(report\)")


def shipped_exhibits(profile: Profile) -> Path:
    """Where a profile's results lie."""
    return shipped("assets/results") / profile.name / "exhibits"


def model_cards(profile: Profile) -> list[Path]:
    """What the weights that ship are and were trained on."""
    return sorted((shipped("assets/weights") / profile.name).glob("*/README.md"))


def findings_page(profile: Profile, exhibits: Exhibits, seen: Mapping[str, str]) -> None:
    """Lay the page out. ``seen``: a link to a recorded run by question."""
    if not exhibits.exhibits:
        _html(_empty(profile, exhibits), "no-results")
        return
    severities = exhibits.severities() or (BASE_SEVERITY,)
    given = {severity: answers(exhibits, severity) for severity in reversed(severities)}
    cards = "".join(
        _card(exhibits, n, [(s, given[s][n]) for s in given], seen)
        for n in range(len(given[max(given)]))
    )
    _html(
        _opening(exhibits, severities) + cards + _all(profile, exhibits) + _citation(profile),
        "main",
    )


def _html(value: str, elem_id: str) -> None:
    html(
        value,
        scripts=["findings/findings"],
        elem_id=elem_id,
        elem_classes="findings",
        words={name: WORDS[name] for name in ("copy", "copied")},
    )


def _opening(exhibits: Exhibits, severities: Sequence[int]) -> str:
    told = exhibits.table("table-1")
    found = _PHOTOGRAPHS.search(told.title) if told else None
    intro = WORDS["intro"].format(photographs=found[1]) if found else WORDS["intro_bare"]
    problem = f'<p class="ex-note">{escape(exhibits.problem)}</p>' if exhibits.problem else ""
    return (
        f'<header class="fi-top"><h1>{WORDS["title"]}</h1><p class="lead">{intro}</p>{problem}'
        f"{_severity_choice(severities)}</header>"
    )


def _severity_choice(severities: Sequence[int]) -> str:
    """What is shown of each severity follows from the checked one by the style sheet alone."""
    if len(severities) < 2:
        return ""
    radios = "".join(
        f'<label><input type="radio" name="fi-severity" value="{s}" id="fi-s{s}"'
        f"{' checked' if s == max(severities) else ''}><span>{WORDS['severity']} {s}</span></label>"
        for s in severities
    )
    legend = f'<legend class="hidden-words">{WORDS["of_damage"]}</legend>'
    return f'<fieldset class="fi-choice">{legend}{radios}</fieldset>'


def _card(
    exhibits: Exhibits, place: int, given: Sequence[tuple[int, Answer]], seen: Mapping[str, str]
) -> str:
    """A question; answers that are the same at several severities stand once."""
    alike: dict[Answer, list[int]] = {}
    for severity, answer in given:
        alike.setdefault(answer, []).append(severity)
    said = "".join(
        f'<div class="{_at(severities, len(given))}">{_said(exhibits, answer, seen)}</div>'
        for answer, severities in alike.items()
    )
    drawn = "".join(
        f'<div class="fi-chart {_at(severities, len(given))}">{answer.chart}</div>'
        for answer, severities in alike.items()
    )
    question = given[0][1].question
    return (
        f'<section class="fi-card" id="{question}"><div class="fi-said"><h2><i>{place + 1}</i>'
        f"{words.QUESTIONS[question]}</h2>{said}</div>{drawn}</section>"
    )


def _at(severities: Sequence[int], of: int) -> str:
    if len(severities) == of:
        return ""
    return " ".join(["fi-at", *(f"s{severity}" for severity in severities)])


def _said(exhibits: Exhibits, answer: Answer, seen: Mapping[str, str]) -> str:
    """The sentence, what belongs to it, and where it comes from."""
    more = [words.READING[answer.question], *answer.more] if answer.chart else answer.more
    exhibit = exhibits.table(answer.table)
    links = ""
    if exhibit:
        links += f'<a href="./findings#{exhibit.key}">{WORDS["table"]}</a>'
        if "csv" in exhibit.downloads:
            links += (
                f'<a href="{address(exhibit, "csv")}" download="{exhibit.name}.csv">{DOWN}CSV</a>'
            )
    if answer.question in seen:
        links += f'<a href="{escape(seen[answer.question])}">{words.SEE[answer.question]}</a>'
    measured = (
        f'<details class="fi-how"><summary>{WORDS["measured"]}</summary>'
        f"<p>{escape(exhibit.caption)}</p>{commands_html(exhibit.commands)}</details>"
        if exhibit
        else ""
    )
    return (
        f'<p class="fi-answer">{escape(answer.sentence)}</p>'
        f'<p class="fi-more">{escape(" ".join(more))}</p>'
        f'<div class="fi-links">{links}</div>{measured}'
    )


def sections(exhibits: Sequence[Exhibit]) -> list[tuple[str, list[Exhibit]]]:
    """Exhibits under the first question that knows their name; the last takes the others."""
    left, made = list(exhibits), []
    for question, names in words.SECTIONS:
        mine = [e for e in left if not names or any(_begins(e.name, name) for name in names)]
        left = [exhibit for exhibit in left if exhibit not in mine]
        if mine:
            made.append((question, mine))
    return made


def _begins(name: str, start: str) -> bool:
    return name == start or name.startswith(f"{start}-")


def _all(profile: Profile, exhibits: Exhibits) -> str:
    """Every exhibit, folded; of several severities the chosen one's."""
    several = len(exhibits.severities()) > 1

    def shown(exhibit: Exhibit) -> str:
        varied = several and len(exhibits.variants(exhibit)) > 1
        at = _at([exhibit.severity], 0) if varied else ""
        return f'<li class="{at}">{exhibit_html(exhibit)}</li>'

    lists = "".join(
        f"<h3>{words.QUESTIONS[question]}</h3><ul>{''.join(map(shown, mine))}</ul>"
        for question, mine in sections(exhibits.exhibits)
    )
    missing = "".join(
        f"<li><b>{escape(name)}</b>: {escape(reason)}</li>" for name, reason in exhibits.missing
    )
    if missing:
        lists += (
            f'<details class="ex-made"><summary>{WORDS["not_made"]}</summary>'
            f"<ul>{missing}</ul></details>"
        )
    more = WORDS["all_more"].format(n=len(exhibits.exhibits), size=profile.image_size)
    return (
        f'<details class="fi-card fi-all" id="all"><summary><h2>{WORDS["all"]}</h2>'
        f"<span>{more}</span></summary>{lists}</details>"
    )


def _citation(profile: Profile) -> str:
    cards = "".join(
        f'<a href="gradio_api/file={path}" download="{path.parent.name}.md">{path.parent.name}</a>'
        for path in model_cards(profile)
    )
    outside = 'target="_blank" rel="noopener noreferrer"'
    return (
        f'<section class="fi-card fi-cite" id="cite"><div><h2>{WORDS["cite"]}</h2>'
        f"<p>{WORDS['cite_more']}</p>"
        f'<div class="fi-links"><a href="{words.PAPER}" {outside}>{WORDS["paper"]} ↗</a>'
        f'<a href="{words.AUTHORS_CODE}" {outside}>{WORDS["authors_code"]} ↗</a></div>'
        f'<p>{WORDS["licence"]}</p><div class="fi-links">{WORDS["cards"]}: {cards}</div></div>'
        f"{commands_html(words.BIBTEX.splitlines())}</section>"
    )


def _empty(profile: Profile, exhibits: Exhibits) -> str:
    told = WORDS["damaged"] if exhibits.problem else WORDS["empty"]
    sentence = told.format(profile=profile.name, problem=exhibits.problem)
    return (
        f'<h1 id="main">{escape(sentence)}</h1><p>{WORDS["empty_help"]}</p>'
        f"{commands_html(_commands(profile, exhibits.folder))}"
    )


def _commands(profile: Profile, folder: Path) -> list[str]:
    """What makes the results, from pictures to this page."""
    inside = folder.is_relative_to(ROOT)
    place = folder.relative_to(ROOT) if inside else folder
    which = "" if profile.name == DEFAULT_PROFILE else f"--profile {profile.name} "
    evaluate = f"python -m dga evaluate {which}--data DATA/val.zip"
    return [
        f"{evaluate} --severity 5 --methods {_COMPARED} --out runs/severity-5",
        f"{evaluate} --corruptions clean --methods source,dga-plus --out runs/clean",
        f"python -m dga figures runs --out {place.as_posix()}",
    ]
