"""Which runs are recorded for the first screen, and what is said of them."""

from __future__ import annotations

from dataclasses import dataclass

PATHS = 8  # noise paths of every recorded run


@dataclass(frozen=True)
class Case:
    """One run on an example picture."""

    name: str
    picture: str
    corruption: str
    severity: int
    seed: int


CASES = (
    Case("cat-gaussian-noise", "cat", "gaussian_noise", 2, 38),
    Case("horse-brightness", "horse", "brightness", 3, 0),
    Case("lake-contrast", "lake", "contrast", 5, 3),
    Case("cat-motion-blur", "cat", "motion_blur", 3, 0),
)

# What a run teaches: whether own depth, fixed depth and diagnosis are right. It is chosen by what
# was recorded, so that other weights cannot make it untrue.
LESSONS = {
    (True, True, True): "Every method is right",
    (True, True, False): "Only the diagnosis is wrong",
    (True, False, True): "The fixed depth is wrong",
    (True, False, False): "Only the own depth is right",
    (False, True, True): "The own depth is wrong",
    (False, True, False): "Only the fixed depth is right",
    (False, False, True): "Only the diagnosis is right",
    (False, False, False): "No method is right",
}
LEFT_ALONE = "Left alone, rightly"
BROKEN = "Every repair breaks it"


def lesson(truth: str, damaged: str, guided: str, fixed: str, plus: str, depth: int) -> str:
    """What a run earns, from the true class, labels before and after three methods, and its t*."""
    if not depth and (guided == truth) > (fixed == truth):
        return LEFT_ALONE
    if damaged == truth and truth not in (guided, fixed, plus):
        return BROKEN
    return LESSONS[guided == truth, fixed == truth, plus == truth]
