"""Six steps that teach what the project does, for somebody who never heard of diffusion."""

from __future__ import annotations

from app.pages.shell import METHODS, PLAIN_NAMES, Page, render
from dga.profiles import get_profile

STEPS = (
    "The trouble",
    "Be the detector",
    "Find it, undo it",
    "Noise in, noise out",
    "Compare",
    "When it fails",
)


def learn_page() -> Page:
    """The page; its script asks for what ``app.recorded.learn`` made."""
    return Page(
        "learn",
        "Learn in six steps: DGA",
        "Why damaged pictures fool a classifier, and how they are repaired, in six steps.",
        render(
            "learn.html",
            steps=STEPS,
            methods=METHODS,
            compared=(("damaged", "Damaged"), *METHODS.items()),
            tau=get_profile("photo").stopping.tau,
        ),
        ("learn.css",),
        ("learn.js",),
        {"names": PLAIN_NAMES, "methods": METHODS},
    )
