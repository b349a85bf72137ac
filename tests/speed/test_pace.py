"""What a run is expected to take: one count of network passes, two readings of it."""

from __future__ import annotations

from app.runs.gpu import expected_seconds
from dga.profiles import EVERYDAY16, IMAGENET
from dga.speed.pace import Pace, most_passes


def test_one_count_of_passes() -> None:
    """A guided step is three passes: DGA 60, DGA + G 3 x 60, DDA 3 x 50."""
    assert most_passes(IMAGENET, 2, 60, 50) == (2 * 101, 60 + 180 + 150)


def test_the_wait_on_a_processor_and_the_loan_of_a_gpu() -> None:
    pace = Pace(0.31, 0.017)
    assert [pace.longest(profile) for profile in (IMAGENET, EVERYDAY16)] == [122.617, 53.797]
    lent = [expected_seconds(IMAGENET, 1, 60, 50), expected_seconds(EVERYDAY16, 5, 24, 24)]
    assert lent == [44.63125, 6.247265625]
