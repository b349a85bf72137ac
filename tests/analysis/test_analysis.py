"""Statistics with known answers: bootstrap, controls, discrimination, the paper's numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dga.analysis import paper
from dga.analysis.controls import best_depths, control, rank_correlation
from dga.analysis.discrimination import (
    calibration,
    fit_temperature,
    negative_log_likelihood,
    reliability,
    scores,
    stops,
)
from dga.analysis.names import GROUPS, MEAN
from dga.analysis.results import MissingRun, read_judge
from dga.analysis.statistics import Outcomes, estimate
from dga.analysis.sweep import read_sweep
from dga.corruptions import CORRUPTIONS, FAMILIES
from dga.profiles import StoppingConfig
from tests.fixtures.results import depth_matters, frame, lines_of, needed, path_of, write_judge

# --- bootstrap


def test_interval_of_one_corruption_has_the_textbook_width() -> None:
    """Half of 100 right: 1.96 standard errors are 9.8 points to either side."""
    values = np.repeat([[0.0, 1.0]], 50, axis=0).reshape(1, 100).astype(np.float32)
    found = estimate(values)
    assert found is not None
    assert found.value == 0.5
    assert found.photographs == 100
    assert found.high - found.low == pytest.approx(2 * 0.098, rel=0.12)


def test_intervals_cover_the_truth() -> None:
    """Of 200 samples of 60 images at 30 %, about 95 % have the truth in their interval."""
    rng = np.random.default_rng(0)
    samples = (rng.random((200, 1, 60)) < 0.3).astype(np.float32)
    found = [estimate(sample, resamples=400) for sample in samples]
    covered = np.mean([e is not None and e.low <= 0.3 <= e.high for e in found])
    assert 0.9 <= covered <= 0.99


def test_a_photograph_is_resampled_with_all_its_corruptions() -> None:
    """Fifteen copies of one outcome are worth one; fifteen independent ones are worth more."""
    rng = np.random.default_rng(0)
    single = (rng.random((1, 80)) < 0.5).astype(np.float32)
    widths = [
        found.high - found.low
        for values in (single, np.repeat(single, 15, axis=0), rng.random((15, 80)) < 0.5)
        if (found := estimate(np.asarray(values, np.float32)))
    ]
    assert widths[1] == pytest.approx(widths[0])
    assert widths[2] < 0.5 * widths[0]


def test_mean_of_a_group_is_the_mean_of_its_corruptions() -> None:
    """However many images each has."""
    snow = lines_of("source", lambda p, c: True, 30, ["snow"])
    rest = lines_of("source", lambda p, c: False, 5, ["frost", "fog"])
    outcomes = Outcomes.of(frame(snow, rest))
    found = {group: outcomes.accuracy("source", group) for group in GROUPS}
    measured = {group: e.value for group, e in found.items() if e}
    third = pytest.approx(1 / 3)
    assert measured == {"weather": third, "snow": 1, "frost": 0, "fog": 0}
    assert outcomes.accuracy("tent", "snow") is None


def test_identical_methods_differ_by_exactly_nothing() -> None:
    rng = np.random.default_rng(0)
    right = rng.random((40, 15)) < 0.5

    def outcome(p: int, c: str) -> bool:
        return bool(right[p, CORRUPTIONS.index(c)])

    both = frame(lines_of("dga", outcome, 40), lines_of("dda", outcome, 40))
    outcomes = Outcomes.of(both)
    for found in (outcomes.difference("dga", "dda", group) for group in (MEAN, *FAMILIES)):
        assert found is not None
        assert (found.value, found.low, found.high) == (0, 0, 0)


def test_a_shift_is_found_and_pairing_makes_it_narrow() -> None:
    """Right on every fifth image more: +0.2, with less spread than either method has."""
    dda = lines_of("dda", lambda p, c: p % 5 < 2, 50)
    dga = lines_of("dga", lambda p, c: p % 5 < 3, 50)
    outcomes = Outcomes.of(frame(dga, dda))
    gain = outcomes.difference("dga", "dda", MEAN)
    alone = outcomes.accuracy("dga", MEAN)
    assert gain is not None
    assert alone is not None
    assert gain.value == pytest.approx(0.2)
    assert 0 < gain.low < 0.2 < gain.high
    assert gain.high - gain.low < alone.high - alone.low
    back = outcomes.difference("dda", "dga", MEAN)
    assert back is not None
    assert back.value == pytest.approx(-0.2)


def test_only_images_that_both_have_are_compared() -> None:
    """The rival is right on its ten extra images; they count for nothing."""
    dga = lines_of("dga", lambda p, c: True, 10, ["fog"])
    dda = lines_of("dda", lambda p, c: p >= 10, 20, ["fog"])
    found = Outcomes.of(frame(dga, dda)).difference("dga", "dda", "fog")
    assert found is not None
    assert (found.value, found.low, found.high, found.photographs) == (1, 1, 1, 10)


def test_order_of_lines_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    lines = frame(lines_of("dga", lambda p, c: bool(rng.random() < 0.5), 20, ["fog", "snow"]))
    shuffled = lines.sample(frac=1, random_state=1)
    first, second = (Outcomes.of(rows).accuracy("dga", "fog") for rows in (lines, shuffled))
    assert first == second


# --- controls


def test_depth_per_image_beats_every_control() -> None:
    """Each image is right at one of two depths, which t* names; half need each."""
    found = control(read_sweep(frame(depth_matters(40)), "dga-guided", "dga-guided"))
    values = {row.name: row.accuracy[MEAN].value for row in found.rows}
    assert values == {
        "measured": 1, "adaptive": 1, "permuted": pytest.approx(0.5), "median": 0.5,
        "global": 0.5, "oracle": 1, "depth=0": 0, "depth=4": 0.5, "depth=8": 0.5,
    }  # fmt: skip
    gain = found.row("permuted").adaptive_minus[MEAN]
    assert gain.value == pytest.approx(0.5)
    assert 0.3 < gain.low < gain.high < 0.7
    assert found.informative == 40 * 15
    assert found.mean_depth[MEAN] == 6
    for rho in (found.spearman, found.spearman_within):
        assert rho is not None
        assert rho.value == pytest.approx(1)


def test_permutation_is_the_mean_over_permutations() -> None:
    """Against a thousand sampled permutations of uneven depths."""
    rng = np.random.default_rng(0)
    rows = lines_of("source", lambda p, c: p % 7 == 0, 30, ["fog"])
    for k in (4, 8):
        rows += lines_of(f"dga:depth={k}", lambda p, c, k=k: p % k < 2, 30, ["fog"])
    rows += lines_of("dga", lambda p, c: True, 30, ["fog"], lambda p, c: (0, 3, 3, 9)[p % 4])
    sweep = read_sweep(frame(rows), "dga", "dga")
    found = control(sweep).row("permuted").accuracy["fog"].value
    depth, right = sweep.rounded[0], sweep.correct[0]
    sampled = [right[np.arange(30), rng.permutation(depth)].mean() for _ in range(1000)]
    assert found == pytest.approx(np.mean(sampled), abs=0.01)


def test_where_depth_does_not_matter_the_controls_are_equal() -> None:
    """Right or wrong at every depth alike: no control loses, and no correlation exists."""
    rows = lines_of("source", lambda p, c: p % 2 == 0, 20)
    for k in (4, 8):
        rows += lines_of(f"dga-guided:depth={k}", lambda p, c: p % 2 == 0, 20)
    rows += lines_of("dga-guided", lambda p, c: p % 2 == 0, 20, depth=needed)
    found = control(read_sweep(frame(rows), "dga-guided", "dga-guided"))
    for name in ("permuted", "median", "global", "oracle"):
        gap = found.row(name).adaptive_minus[MEAN]
        assert (gap.value, gap.low, gap.high) == pytest.approx((0, 0, 0), abs=1e-9)
    assert (found.spearman, found.spearman_within, found.informative) == (None, None, 0)


def test_depth_by_corruption_is_no_depth_by_image() -> None:
    """t* is right for its corruption, every image alike: permuting changes nothing."""
    names = ["fog", "snow"]

    def best(p: int, c: str) -> int:
        return 4 if c == "fog" else 8

    rows = lines_of("source", lambda p, c: False, 20, names)
    for k in (4, 8):
        rows += lines_of(f"dga:depth={k}", lambda p, c, k=k: best(p, c) == k, 20, names)
    rows += lines_of("dga", lambda p, c: True, 20, names, best)
    found = control(read_sweep(frame(rows), "dga", "dga"))
    gap = found.row("permuted").adaptive_minus[MEAN]
    assert (gap.low, gap.high) == pytest.approx((0, 0), abs=1e-9)
    assert found.row("global").adaptive_minus[MEAN].value == pytest.approx(0.5)
    assert found.spearman is not None
    assert found.spearman.value == pytest.approx(1)
    assert found.spearman_within is None


def test_t_star_goes_to_the_nearest_swept_depth() -> None:
    """Of two as near, the shallower; images that lack a depth are left out."""
    rows = lines_of("source", lambda p, c: False, 6, ["fog"])
    rows += lines_of("dga:depth=4", lambda p, c: True, 6, ["fog"])
    rows += lines_of("dga:depth=10", lambda p, c: True, 5, ["fog"])
    rows += lines_of("dga", lambda p, c: True, 6, ["fog"], lambda p, c: (0, 2, 3, 7, 20, 4)[p])
    sweep = read_sweep(frame(rows), "dga", "dga")
    assert sweep.depths == (0, 4, 10)
    assert sweep.photographs == tuple(path_of(p) for p in range(5))
    assert sweep.rounded.tolist() == [[0, 0, 1, 1, 2]]


def test_best_depth_is_the_shallowest_correct_one() -> None:
    right = {0: (False, True, True), 1: (True, True, True), 2: (False, False, False)}
    right[3] = (True, False, True)
    rows = lines_of("source", lambda p, c: right[p][0], 4, ["fog"])
    rows += lines_of("dga:depth=4", lambda p, c: right[p][1], 4, ["fog"])
    rows += lines_of("dga:depth=8", lambda p, c: right[p][2], 4, ["fog"])
    rows += lines_of("dga", lambda p, c: True, 4, ["fog"])
    best, informative = best_depths(read_sweep(frame(rows), "dga", "dga"))
    assert informative.tolist() == [[True, False, False, True]]
    assert best[informative].tolist() == [1, 0]


def test_rank_correlation_is_scipys() -> None:
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 6, 200), rng.integers(0, 4, 200)
    y = np.clip(y + x // 2, 0, 4)
    table = np.zeros((1, 6, 5))
    np.add.at(table, (0, x, y), 1)
    assert rank_correlation(table)[0] == pytest.approx(spearmanr(x, y).statistic)


def test_what_a_sweep_lacks_is_said() -> None:
    rows = depth_matters(4)
    lines = frame(rows)
    with pytest.raises(MissingRun, match="no run of dga at fixed depths"):
        read_sweep(lines, "dga", "dga")
    with pytest.raises(MissingRun, match="no run of source"):
        read_sweep(lines[lines["method"] != "source"], "dga-guided", "dga-guided")
    with pytest.raises(MissingRun, match="no run of dga-guided-quantile"):
        read_sweep(lines, "dga-guided", "dga-guided-quantile")


# --- discrimination


def test_scores_against_hand_counts(tmp_path: Path) -> None:
    """Depth 0: 3 of 4 corrupted and 1 of 4 clean called corrupted; depth 5: none at all."""
    logits = np.full((2, 4, 2), -1.0)
    logits[1, :3, 0] = 1
    logits[0, 0, 0] = 0  # a confidence of exactly 0.5 says corrupted
    table = scores(read_judge(write_judge(tmp_path / "run", logits, (0, 5))))
    assert table["corruption"].unique().tolist() == ["gaussian_noise"]
    first, second = table.to_dict("records")
    assert (first["precision"], first["recall"]) == (0.75, 0.75)
    assert (first["f1"], first["accuracy"]) == (0.75, 0.75)
    assert [second[k] for k in ("f1", "precision", "recall", "accuracy")] == [0, 0, 0, 0.5]


def test_four_measures_are_four_numbers(tmp_path: Path) -> None:
    """4 of 4 corrupted and 2 of 4 clean called corrupted."""
    logits = np.full((2, 4, 1), 1.0)
    logits[0, :2] = -1
    row = scores(read_judge(write_judge(tmp_path / "run", logits, (0,)))).iloc[0]
    expected = (0.8, 4 / 6, 1.0, 0.75)
    assert row[["f1", "precision", "recall", "accuracy"]].tolist() == pytest.approx(expected)


def test_temperature_is_recovered() -> None:
    """Logits three times too sure of labels that are otherwise calibrated."""
    z = np.linspace(-4, 4, 101)
    share = 1 / (1 + np.exp(-z))
    logits, truth = np.tile(3 * z, 2), np.repeat([True, False], len(z))
    weight = np.concatenate([share, 1 - share]) / len(z)
    heat = fit_temperature(logits, truth, weight)
    assert heat == pytest.approx(3, rel=1e-3)
    losses = [negative_log_likelihood(logits / t, truth, weight) for t in (heat, 2.8, 3.2, 1)]
    assert losses[0] == min(losses)
    assert reliability(0, logits / heat, truth, weight).error < 0.01
    assert reliability(0, logits, truth, weight).error > 0.05


def test_calibration_error_by_hand() -> None:
    """Sure at 90 % and right half of the time is off by 40 points."""
    logits = np.full(10, np.log(9.0))
    truth = np.arange(10) < 5
    found = reliability(7, logits, truth, np.full(10, 0.1))
    assert found.error == pytest.approx(0.4)
    assert found.confidence.tolist() == pytest.approx([0.9])
    assert found.corrupted.tolist() == pytest.approx([0.5])
    assert found.weight.tolist() == pytest.approx([1])


def test_clean_pictures_weigh_as_much_as_corrupted_ones(tmp_path: Path) -> None:
    """Fifteen corruptions stand against one clean set; undecided logits are calibrated."""
    logits = np.zeros((16, 5, 1))
    found = calibration(read_judge(write_judge(tmp_path / "run", logits, (0,))))
    assert found[0].reliability.error == pytest.approx(0)
    assert found[0].nll == pytest.approx(np.log(2))


def test_both_rules_stop_on_judged_depths(tmp_path: Path) -> None:
    """Curves cross at depth 20; the bound is higher, so the quantile rule stops at 10."""
    curve = np.array([3.0, 1.0, -1.0, -2.0, -3.0])
    logits = np.stack([np.full((4, 5), 2.0), np.tile(curve, (4, 1))])
    judge = read_judge(write_judge(tmp_path / "run", logits, (0, 10, 20, 30, 40)))
    config = StoppingConfig(max_depth=35)
    found = stops(judge, config)
    rows = found[found["corruption"] == "gaussian_noise"]
    assert rows["t_star"].tolist() == [20] * 4
    assert rows["crossed"].all()
    clean = found[found["corruption"] == "clean"]
    assert clean["t_star"].tolist() == [30] * 4
    assert not clean["crossed"].any()
    quantile = stops(judge, StoppingConfig(rule="quantile", max_depth=35))
    assert quantile.loc[quantile["corruption"] == "gaussian_noise", "t_star"].tolist() == [10] * 4


def test_horizon_is_a_depth_and_must_have_been_judged(tmp_path: Path) -> None:
    """One curve falls at depth 20, one at 30, one never: with a horizon of 20 the last two stay."""
    curves = np.array([[3.0, 1.0, -1.0, -2.0], [3.0, 2.0, 1.0, -2.0], [3.0, 3.0, 3.0, 3.0]])
    judge = read_judge(write_judge(tmp_path / "run", np.stack([curves, curves]), (0, 10, 20, 30)))
    found = stops(judge, StoppingConfig(max_depth=10, horizon=25))
    rows = found[found["corruption"] == "gaussian_noise"]
    assert rows["t_star"].tolist() == [10, 0, 0]
    assert not rows["crossed"].any()
    with pytest.raises(MissingRun, match="not judged to the horizon, depth 60"):
        stops(judge, StoppingConfig(max_depth=10, horizon=60))


# --- the paper


def _as_printed(mean: np.floating, printed: float) -> bool:
    return abs(mean - printed) <= 0.005 + 1e-9


def test_papers_averages_are_those_of_its_cells() -> None:
    """But for one: 0.35, 0.46 and 0.43 do not make 0.42."""
    rows = {
        (number, family, key): row
        for number, table in ((2, paper.TABLE_2), (3, paper.TABLE_3))
        for family, by_key in table.items()
        for key, row in by_key.items()
    }
    assert len(rows) == 4 * 5 + 4 * 4
    assert all(len(row.cells) == len(FAMILIES[family]) for (_, family, _), row in rows.items())
    apart = [key for key, row in rows.items() if not _as_printed(np.mean(row.cells), row.average)]
    assert apart == [(3, "weather", 0.5)]


def test_where_the_paper_agrees_with_itself_and_where_not() -> None:
    means = {
        system: np.mean([cell for rows in paper.TABLE_2.values() for cell in rows[system].cells])
        for system in ("source", "diffpure", "dda", "dga", "dga-guided")
    }
    agrees = {system: _as_printed(mean, paper.TABLE_1[system]) for system, mean in means.items()}
    assert agrees == {
        "source": True, "diffpure": False, "dda": False, "dga": True, "dga-guided": False,
    }  # fmt: skip
    assert means["dda"] > means["dga-guided"]
    assert paper.TABLE_1["dda"] < paper.TABLE_1["dga-guided"]
    apart = [
        name
        for family in FAMILIES
        for name in FAMILIES[family]
        if paper.table_2("dga", name) != paper.table_3(0.5, name)
    ]
    assert apart == ["snow"]


def test_papers_cells_are_found_by_group() -> None:
    assert paper.table_2("dda", "impulse_noise") == 0.51
    assert paper.table_2("dga-guided", "blur") == 0.23
    assert paper.table_2("tent", "blur") is None
    assert paper.table_2("dda", MEAN) is None
    assert paper.table_3(0.3, "pixelate") == 0.29
