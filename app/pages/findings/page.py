"""Five questions answered from the results, and all that they rest on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from pathlib import Path

from app.pages.findings.answers import Answer, answers
from app.pages.findings.cards import commands_html, download, exhibit_html
from app.pages.findings.exhibits import BASE_SEVERITY, Exhibits
from app.parts.html import html
from app.words import findings as words
from app.words.common import NO_CORRUPTION
from app.words.findings import FINDINGS_WORDS as WORDS
from dga.io.shipped import ROOT, shipped
from dga.profiles import Profile

# What of Try it shows each answer: a recorded run, or for an undamaged picture one made at once.
SHOWN = dict.fromkeys(words.QUESTIONS, "run=cat-impulse-noise") | {
    "found": "run=cat-contrast",
    "clean": f"image=cat&corruption={NO_CORRUPTION}",
}


def shipped_exhibits(profile: Profile) -> Path:
    """Where a profile's results lie."""
    return shipped("assets/results") / profile.name / "exhibits"


def model_cards(profile: Profile) -> list[Path]:
    """What the weights that ship are and were trained on."""
    return sorted((shipped("assets/weights") / profile.name).glob("*/README.md"))


def findings_page(profile: Profile, exhibits: Exhibits) -> tuple[str, str]:
    """Lay the page out. Returns the heading and the sentence that it opens with."""
    if not exhibits.exhibits:
        _html(_empty(profile, exhibits), "no-results")
        return "", ""
    severities = exhibits.severities() or (BASE_SEVERITY,)
    recorded = (shipped("assets/presets") / profile.name).is_dir()
    given = [(severity, answers(exhibits, severity)) for severity in reversed(severities)]
    cards = "".join(
        _card(exhibits, place, [(severity, told[place]) for severity, told in given], recorded)
        for place in range(len(words.QUESTIONS))
    )
    _html(
        _opening(exhibits, severities) + cards + _all(profile, exhibits) + _citation(profile),
        "main",
    )
    return WORDS["title"], WORDS["intro"]


def _html(value: str, elem_id: str) -> None:
    html(
        value,
        scripts=["findings/findings"],
        elem_id=elem_id,
        elem_classes="findings",
        words={name: WORDS[name] for name in ("copy", "copied")},
    )


def _opening(exhibits: Exhibits, severities: Sequence[int]) -> str:
    problem = f'<p class="ex-note">{escape(exhibits.problem)}</p>' if exhibits.problem else ""
    return (
        f'<header class="fi-top"><h1>{WORDS["title"]}</h1><p class="lead">{WORDS["intro"]}</p>'
        f"{problem}{_severity_choice(severities)}</header>"
    )


def _severity_choice(severities: Sequence[int]) -> str:
    """What is shown of each severity follows from the checked one by the style sheet alone."""
    if len(severities) < 2:
        return ""
    radios = "".join(
        f'<label><input type="radio" name="fi-severity" id="fi-s{s}"'
        f"{' checked' if s == max(severities) else ''}>{WORDS['severity']} {s}</label>"
        for s in severities
    )
    legend = f'<fieldset class="choice"><legend class="hidden-words">{WORDS["of_damage"]}</legend>'
    return f"{legend}<div>{radios}</div></fieldset>"


def _card(
    exhibits: Exhibits, place: int, given: Sequence[tuple[int, Answer]], recorded: bool
) -> str:
    """A question, and its answer at each severity."""
    question = given[0][1].question
    said = "".join(
        f'<div class="fi-at s{severity}">{_said(exhibits, answer, recorded)}</div>'
        for severity, answer in given
    )
    drawn = "".join(
        f'<div class="fi-chart fi-at s{severity}">{answer.chart}</div>'
        for severity, answer in given
    )
    return (
        f'<section class="fi-card" id="{question}"><div class="fi-said"><h2><i>{place + 1}</i>'
        f"{words.QUESTIONS[question]}</h2>{said}</div>{drawn}</section>"
    )


def _said(exhibits: Exhibits, answer: Answer, recorded: bool) -> str:
    """The sentence, what belongs to it, and where it comes from."""
    more = [words.READING[answer.question], *answer.more] if answer.chart else answer.more
    exhibit = exhibits.table(answer.table)
    links = measured = ""
    if exhibit:
        links = f'<a href="./findings#{exhibit.key}">{WORDS["table"]}</a>'
        links += download(exhibit, "csv")
        measured = (
            f'<details class="fi-how"><summary>{WORDS["measured"]}</summary>'
            f"<p>{escape(exhibit.caption)}</p>{commands_html(exhibit.commands)}</details>"
        )
    if recorded:
        links += f'<a href="./?{escape(SHOWN[answer.question])}">{words.SEE[answer.question]}</a>'
    return (
        f'<p class="fi-answer">{escape(answer.sentence)}</p>'
        f'<p class="fi-more">{escape(" ".join(more))}</p>'
        f'<div class="fi-links">{links}</div>{measured}'
    )


def _all(profile: Profile, exhibits: Exhibits) -> str:
    """Every exhibit, folded; of several severities the chosen one's."""
    lists = ""
    for exhibit in exhibits.exhibits:
        at = f"fi-at s{exhibit.severity}" if len(exhibits.variants(exhibit)) > 1 else ""
        lists += f'<li class="{at}">{exhibit_html(exhibit)}</li>'
    missing = "".join(
        f"<li><b>{escape(name)}</b>: {escape(reason)}</li>" for name, reason in exhibits.missing
    )
    if missing:
        summary = f'<details class="ex-made"><summary>{WORDS["not_made"]}</summary>'
        missing = f"{summary}<ul>{missing}</ul></details>"
    more = WORDS["all_more"].format(n=len(exhibits.exhibits), size=profile.image_size)
    return (
        f'<details class="fi-card fi-all" id="all"><summary><h2>{WORDS["all"]}</h2>'
        f"<span>{more}</span></summary><ul>{lists}</ul>{missing}</details>"
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
    known = {"profile": profile.name, "folder": os.path.relpath(exhibits.folder, ROOT)}
    commands = [line.format(**known) for line in words.MAKE]
    return (
        f'<h1 id="main">{escape(sentence)}</h1><p>{WORDS["empty_help"]}</p>'
        f"{commands_html(commands)}"
    )
