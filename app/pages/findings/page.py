"""Five questions answered from the results, and all that they rest on."""

from __future__ import annotations

import os
from pathlib import Path

from app.pages.findings.answers import answers
from app.pages.findings.exhibits import BASE_SEVERITY, Exhibits
from app.parts.html import html, rendered
from app.parts.marks import mark
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
MARKS = {
    "source": "damaged",
    "tent": "noised",
    "dga-plus+tent": "dga-plus",
}  # of methods without a mark of their own


def shipped_exhibits(profile: Profile) -> Path:
    """Where a profile's results lie."""
    return shipped("assets/results") / profile.name / "exhibits"


def model_cards(profile: Profile) -> list[Path]:
    """What the weights that ship are and were trained on."""
    return sorted((shipped("assets/weights") / profile.name).glob("*/README.md"))


def findings_page(profile: Profile, exhibits: Exhibits) -> tuple[str, str]:
    """Lay the page out. Returns the heading and the sentence that it opens with."""
    severities = exhibits.severities() or (BASE_SEVERITY,)
    given = [(severity, answers(exhibits, severity)) for severity in reversed(severities)]
    some = bool(exhibits.exhibits)
    page = rendered(
        "findings/page" if some else "findings/empty",
        words=WORDS,
        all=words,
        profile=profile,
        exhibits=exhibits,
        folder=os.path.relpath(exhibits.folder, ROOT),
        severities=severities,
        given={
            question: [(severity, told[place]) for severity, told in given]
            for place, question in enumerate(words.QUESTIONS)
        },
        shown=SHOWN,
        recorded=(shipped("assets/presets") / profile.name).is_dir(),
        cards=model_cards(profile),
        mark=lambda method: mark(MARKS.get(method) or str(method)),
    )
    html(
        page,
        scripts=["findings/findings"],
        elem_id="main" if some else "no-results",
        elem_classes="findings",
        words={name: WORDS[name] for name in ("copy", "copied")},
    )
    return (WORDS["title"], WORDS["intro"]) if some else ("", "")
