"""Statistics with known answers: bootstrap, controls, discrimination, the paper's numbers."""

import numpy as np
import pytest
from scipy.stats import bootstrap

from dga.lab.analysis.depth_controls import compute_controls, correlate_depths
from dga.lab.analysis.judges import compute_f1
from dga.lab.analysis.names import GROUPS, MEAN
from dga.lab.analysis.saved_runs import read_runs
from dga.lab.analysis.statistics import CorrectTable, estimate_mean
from tests.fixtures.results import depth_matters, frame, lines_of, needed, write_judge


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


def test_depth_per_image_beats_every_control():
    """Each image is right at one of two depths, which t* names; half need each."""
    controls = compute_controls(frame(depth_matters(40)))
    values = {name: groups[MEAN].value for name, groups in controls.accuracy.items()}
    assert values == {
        "measured": 1, "adaptive": 1, "permuted": pytest.approx(0.5), "median": 0.5,
        "global": 0.5, "oracle": 1, "depth=0": 0, "depth=4": 0.5, "depth=8": 0.5,
    }  # fmt: skip
    gain = controls.lead["permuted"][MEAN]
    assert gain.value == pytest.approx(0.5)
    assert 0.3 < gain.low < gain.high < 0.7
    assert controls.mean_depth[MEAN] == 6
    informative, *rhos = correlate_depths(controls)
    assert informative == 40 * 15
    assert [rho.value for rho in rhos] == pytest.approx([1, 1])


def test_where_depth_does_not_matter_the_controls_are_equal():
    """Right or wrong at every depth alike: no control loses, and no correlation exists."""
    rows = lines_of("dga-guided", lambda p, c: True, 20, depth=needed)
    for name in ("source", "dga-guided:depth=4", "dga-guided:depth=8"):
        rows += lines_of(name, lambda p, c: p % 2 == 0, 20)
    controls = compute_controls(frame(rows))
    for name in ("permuted", "median", "global", "oracle"):
        gap = controls.lead[name][MEAN]
        assert (gap.value, gap.low, gap.high) == pytest.approx((0, 0, 0), abs=1e-9)
    assert correlate_depths(controls) == (0, None, None)


def test_scores_against_hand_counts(tmp_path):
    """Called corrupted, of 4 and of 4 clean: at depth 0 3 and 1, at 5 none, at 9 all and 2."""
    logits = np.full((2, 4, 3), -1.0)
    logits[1, :3, 0] = 1
    logits[0, 0, 0] = 0  # a confidence of exactly 0.5 says corrupted
    logits[1, :, 2] = logits[0, 2:, 2] = 1
    f1 = compute_f1(read_runs(write_judge(tmp_path / "run", logits, (0, 5, 9))).judges[0])
    assert f1.loc["gaussian_noise"].to_dict() == {0: 0.75, 5: 0, 9: 0.8}
