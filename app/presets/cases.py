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
    Case("cat-impulse-noise", "cat", "impulse_noise", 2, 1),
    Case("cat-motion-blur", "cat", "motion_blur", 5, 7),
    Case("cat-zoom-blur", "cat", "zoom_blur", 5, 7),
    Case("coffee-jpeg", "coffee", "jpeg_compression", 5, 7),
    Case("cat-frost", "cat", "frost", 5, 7),
    Case("cat-noise", "cat", "gaussian_noise", 3, 7),
    Case("cat-contrast", "cat", "contrast", 3, 7),
)

# What became of the label, in the order in which the runs are shown. A caption is chosen
# by what was recorded, so that other weights cannot make it untrue.
CAPTIONS = {
    "mended": "Rebuilt, right again",
    "kept": "Rebuilt, still right",
    "untouched": "Left as it is",
    "hopeless": "Noise cannot hide it",
    "lost": "Rebuilt, still wrong",
    "spoilt": "Rebuilt, made wrong",
}


def outcome(clean: str, before: str, after: str, depth: int, crossed: bool) -> str:
    """Which of :data:`CAPTIONS` a run earns, from three labels and where it stopped."""
    if depth == 0:
        return "untouched" if crossed else "hopeless"
    if after == clean:
        return "kept" if before == clean else "mended"
    return "spoilt" if before == clean else "lost"
