"""Statistics with known answers: bootstrap, discrimination."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import bootstrap

from dga.lab.analysis.comparisons import compare_methods
from dga.lab.analysis.names import GROUPS, MEAN
from dga.lab.analysis.saved_runs import read_runs
from dga.lab.analysis.statistics import estimate_mean
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
    many = (rng.random((15, 80)) < 0.5).astype(np.float32)
    estimates = [estimate_mean(values) for values in (single, np.repeat(single, 15, axis=0), many)]
    widths = [estimate.high - estimate.low for estimate in estimates]
    assert widths[1] == pytest.approx(widths[0])
    assert widths[2] < 0.5 * widths[0]


def _compare(lines: pd.DataFrame, method: str, other: str, group: str) -> dict[str, Any]:
    lines = lines.assign(unchanged=False, psnr=None)
    (row,) = compare_methods(lines, method, other, [group], is_mixed=False)
    return row


def test_a_group_is_there_where_all_of_it_was_measured():
    some = [lines_of(name, lambda p, c: c == "fog", 4, ["fog", "snow"]) for name in ("dga", "dda")]
    lines = frame(*some).assign(unchanged=False, psnr=None)
    rows = compare_methods(lines, "dga", "dda", list(GROUPS), is_mixed=False)
    assert {row["group"]: row["right"] for row in rows} == {"snow": 0, "fog": 100}


def test_a_shift_is_found_and_pairing_makes_it_narrow():
    """Right on every fifth image more: +20, with less spread than either method has."""
    dda = lines_of("dda", lambda p, c: p % 5 < 2, 50)
    dga = lines_of("dga", lambda p, c: p % 5 < 3, 50)
    row = _compare(frame(dga, dda), "dga", "dda", MEAN)
    assert row["gain"] == pytest.approx(20)
    assert 0 < row["gain_low"] < 20 < row["gain_high"]
    assert row["gain_high"] - row["gain_low"] < row["right_high"] - row["right_low"]
    assert _compare(frame(dga, dda), "dda", "dga", MEAN)["gain"] == pytest.approx(-20)


def test_only_images_that_both_have_are_compared():
    """The rival is right on its ten extra images; they count for nothing."""
    dga = lines_of("dga", lambda p, c: True, 10, ["fog"])
    dda = lines_of("dda", lambda p, c: p >= 10, 20, ["fog"])
    row = _compare(frame(dga, dda), "dga", "dda", "fog")
    assert [row[name] for name in ("gain", "gain_low", "gain_high", "photographs")] == [
        100, 100, 100, 10,
    ]  # fmt: skip


def test_scores_against_hand_counts(tmp_path):
    """Called corrupted, of 4 and of 4 clean: at depth 0 3 and 1, at 5 none, at 9 all and 2."""
    logits = np.full((2, 4, 3), -1.0)
    logits[1, :3, 0] = 1
    logits[0, 0, 0] = 0  # a confidence of exactly 0.5 says corrupted
    logits[1, :, 2] = logits[0, 2:, 2] = 1
    f1 = compute_f1(read_runs(write_judge(tmp_path / "run", logits, (0, 5, 9))).judges[0])
    assert f1.loc["gaussian_noise"].to_dict() == {0: 0.75, 5: 0, 9: 0.8}
