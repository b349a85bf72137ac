"""Statistics with known answers: bootstrap, discrimination."""

import numpy as np
import pytest
from scipy.stats import bootstrap

from dga.lab.analysis.names import GROUPS, MEAN
from dga.lab.analysis.saved_runs import read_runs
from dga.lab.analysis.statistics import CorrectTable, estimate_mean
from dga.lab.figures.exhibits import compute_f1
from tests.fixtures.results import frame, lines_of, write_judge


def test_intervals_are_scipys():
    """Its percentile bootstrap of the photographs' means, two corruptions each."""
    values = (np.random.default_rng(1).random((2, 60)) < 0.4).astype(np.float32)
    ours = estimate_mean(values)
    sample = (values.mean(axis=0),)
    theirs = bootstrap(sample, np.mean, n_resamples=9999, method="percentile", rng=0)
    bounds = theirs.confidence_interval
    assert (ours.low, ours.high) == pytest.approx((bounds.low, bounds.high), abs=0.012)


def test_a_photograph_is_resampled_with_all_its_corruptions():
    """Fifteen copies of one outcome are worth one; fifteen independent ones are worth more."""
    rng = np.random.default_rng(0)
    single = (rng.random((1, 80)) < 0.5).astype(np.float32)
    widths = [
        estimate.high - estimate.low
        for values in (single, np.repeat(single, 15, axis=0), rng.random((15, 80)) < 0.5)
        if (estimate := estimate_mean(np.asarray(values, np.float32)))
    ]
    assert widths[1] == pytest.approx(widths[0])
    assert widths[2] < 0.5 * widths[0]


def test_mean_of_a_group_is_the_mean_of_its_corruptions():
    """However many images each has."""
    snow = lines_of("source", lambda p, c: True, 30, ["snow"])
    rest = lines_of("source", lambda p, c: False, 5, ["frost", "fog"])
    correct = CorrectTable(frame(snow, rest))
    estimates = {group: correct.estimate_accuracy("source", group) for group in GROUPS}
    measured = {group: e.value for group, e in estimates.items() if e}
    third = pytest.approx(1 / 3)
    assert measured == {"weather": third, "snow": 1, "frost": 0, "fog": 0}
    assert correct.estimate_accuracy("tent", "snow") is None


def test_a_shift_is_found_and_pairing_makes_it_narrow():
    """Right on every fifth image more: +0.2, with less spread than either method has."""
    dda = lines_of("dda", lambda p, c: p % 5 < 2, 50)
    dga = lines_of("dga", lambda p, c: p % 5 < 3, 50)
    correct = CorrectTable(frame(dga, dda))
    gain = correct.estimate_difference("dga", "dda", MEAN)
    alone = correct.estimate_accuracy("dga", MEAN)
    assert gain.value == pytest.approx(0.2)
    assert 0 < gain.low < 0.2 < gain.high
    assert gain.high - gain.low < alone.high - alone.low
    back = correct.estimate_difference("dda", "dga", MEAN)
    assert back.value == pytest.approx(-0.2)


def test_only_images_that_both_have_are_compared():
    """The rival is right on its ten extra images; they count for nothing."""
    dga = lines_of("dga", lambda p, c: True, 10, ["fog"])
    dda = lines_of("dda", lambda p, c: p >= 10, 20, ["fog"])
    gap = CorrectTable(frame(dga, dda)).estimate_difference("dga", "dda", "fog")
    assert (gap.value, gap.low, gap.high, gap.photographs) == (1, 1, 1, 10)


def test_scores_against_hand_counts(tmp_path):
    """Called corrupted, of 4 and of 4 clean: at depth 0 3 and 1, at 5 none, at 9 all and 2."""
    logits = np.full((2, 4, 3), -1.0)
    logits[1, :3, 0] = 1
    logits[0, 0, 0] = 0  # a confidence of exactly 0.5 says corrupted
    logits[1, :, 2] = logits[0, 2:, 2] = 1
    f1 = compute_f1(read_runs(write_judge(tmp_path / "run", logits, (0, 5, 9))).judges[0])
    assert f1.loc["gaussian_noise"].to_dict() == {0: 0.75, 5: 0, 9: 0.8}
