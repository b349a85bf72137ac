"""Questions answered from the results, and all that they rest on."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
from pathlib import Path

from app.pages.findings.answers import answers
from app.pages.findings.exhibits import BASE_SEVERITY, Exhibits
from app.pages.findings.shown import shown
from app.parts.files import add_json
from app.parts.html import html, rendered
from app.parts.marks import mark
from app.runs.session import Session
from app.server.gate import PLOTLY
from app.words import findings as words
from app.words.findings import FINDINGS_WORDS as WORDS
from dga.figures.palette import ACCENT, GRID, METHOD, NEUTRAL
from dga.io.shipped import ROOT, shipped
from dga.profiles import Profile

SCRIPT_WORDS = ("copy", "copied", "lost", "panel", "series", "interval", "strayed")
# What a figure's colours are called on the page, where they follow the theme.
COLORS = {NEUTRAL: "--ink2", GRID: "--line", ACCENT: "--acc"} | {
    METHOD[name][0]: variable
    for name, variable in (
        ("dda", "--dda"), ("dga", "--dga"), ("dga-guided", "--dgag"), ("dga-plus", "--plus")
    )
}  # fmt: skip
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


def plotly_script() -> dict[str, Path]:
    """The file that draws figures, by the address that it gets; none where it is not installed."""
    found = importlib.util.find_spec("plotly")  # without importing it
    if found is None or found.origin is None:
        return {}
    script = Path(found.origin).parent / "package_data" / "plotly.min.js"
    address = f"{PLOTLY}{importlib.metadata.version('plotly')}.js"
    return {address: script} if script.is_file() else {}


def findings_page(session: Session, exhibits: Exhibits, opens: dict[str, bytes]) -> tuple[str, str]:
    """Lay the page out. Returns the heading and the sentence that it opens with.

    All tables and figures go into ``opens`` as JSON, by name.
    """
    profile = session.profile
    severities = exhibits.severities() or (BASE_SEVERITY,)
    given = [(severity, answers(exhibits, severity)) for severity in reversed(severities)]
    some = bool(exhibits.exhibits)
    every = rendered("findings/list", words=WORDS, exhibits=exhibits)
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
        shown=shown(session),
        cards=model_cards(profile),
        mark=lambda method: mark(MARKS.get(method) or str(method)),
    )
    html(
        page,
        scripts=["findings/findings"],
        elem_id="main" if some else "no-results",
        elem_classes="findings",
        words={name: WORDS[name] for name in SCRIPT_WORDS},
        listing=add_json(opens, every),
        plotly=[f".{address}" for address in plotly_script()],
        colors=COLORS,
    )
    return (WORDS["title"], WORDS["intro"]) if some else ("", "")
