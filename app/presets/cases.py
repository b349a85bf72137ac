"""Which runs are recorded for the first screen, and what each of them teaches."""

from __future__ import annotations

from dataclasses import dataclass

PATHS = 8  # noise paths of every recorded run


@dataclass(frozen=True)
class Case:
    """One run on an example picture; ``lesson``: what is said of it."""

    name: str
    picture: str
    corruption: str
    severity: int
    seed: int
    lesson: str = ""


# A test holds the lessons against what was recorded; other weights do not show it.
CASES = (
    Case("cat-gaussian-noise", "cat", "gaussian_noise", 2, 38, "The fixed depth is wrong"),
    Case("horse-brightness", "horse", "brightness", 3, 0, "Left alone, rightly"),
    Case("lake-contrast", "lake", "contrast", 5, 3, "Only the diagnosis is right"),
    Case("cat-motion-blur", "cat", "motion_blur", 3, 6, "The diagnosis breaks it"),
)
