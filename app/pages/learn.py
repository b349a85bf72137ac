"""Six steps that teach what the project does, for somebody who never heard of diffusion."""

from __future__ import annotations

from app.pages.shell import SHORT_NAMES, Page, render
from app.runs.sentences import PLAIN_NAMES
from dga.profiles import get_profile

STEPS = (
    "The trouble",
    "Be the detector",
    "Noise in, noise out",
    "Find it, undo it",
    "Compare",
    "When it fails",
)


def learn_page() -> Page:
    """The page; its script asks for what ``app.recorded.learn`` made."""
    rule, compared = get_profile("photo").stopping, {"damaged": "Damaged"} | SHORT_NAMES
    return Page(
        "learn",
        "Learn in six steps: DGA+",
        "Why damaged pictures fool a classifier, and how they are repaired, in six steps.",
        render("learn.html", steps=STEPS, methods=SHORT_NAMES, compared=compared, rule=rule),
        {"names": PLAIN_NAMES, "methods": SHORT_NAMES},
    )
