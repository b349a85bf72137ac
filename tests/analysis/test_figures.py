"""Figures: each described once and drawn by both renderers; the command that writes them."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import Result

from dga.analysis.pooled import pool_runs
from dga.analysis.results import MissingRun, read_runs
from dga.figures.accuracy import accuracy_by_depth, best_dda
from dga.figures.chart import Axis, Chart, Panel, Rule, Series
from dga.figures.discriminator import depths_and_f1
from dga.figures.embedding import embed, feature_map
from dga.figures.interactive import to_plotly
from dga.figures.labels import LETTER, place_labels, spread
from dga.figures.palette import ACCENT, FAMILY, METHOD, NEUTRAL
from dga.figures.pictures import picture_grid, save
from dga.figures.raster import to_matplotlib
from tests.fixtures.cli import done
from tests.fixtures.results import (
    depth_matters,
    falling_logits,
    lines_of,
    whole_results,
    write_judge,
    write_run,
)

CARDS = ("#FFFFFF", "#161A23")
FIGURES = {
    "gains", "accuracy-time", "depths", "controls", "accuracy-depth", "discriminator-f1",
    "depths-f1-families", "calibration", "studies", "features",
}  # fmt: skip
TABLES = {"table-1", "table-2", "table-3", "comparisons", "controls", "studies", "clean"}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """Every table and figure of the synthetic results, written once."""
    root = tmp_path_factory.mktemp("whole")
    return root / "out", done("figures", whole_results(root / "results"), "--out", root / "out")


def _every_kind() -> Chart:
    line = Series("line", (1, 2, 3), (1, 3, 2), ACCENT, "a", ("", "", "end"), (0, 2, 1), (2, 4, 3))
    points = Series("points", (1, 10), (1, 2), NEUTRAL, "b", ("one", "two"), (0, 1), (2, 3))
    across = Series("points", (3.0,), (0.0,), NEUTRAL, low=(2,), high=(4,), along="x", open=True)
    bars = Series("bars", (1, 2), (3, 4), ACCENT, width=1)
    ticks = Axis(limits=(-0.6, 0.6), ticks=((0, "row"),))
    panels = (
        Panel((line,), Axis("depth"), Axis("F1 (%)"), "Lines\nand bands", (Rule("y", 2),)),
        Panel((points,), Axis("seconds", (0.5, 20), log=True), Axis("%", (0, 4)), "Points"),
        Panel((across,), Axis("points"), ticks, rules=(Rule("x", 0),)),
        Panel((bars, bars), Axis(bare=True), Axis(bare=True)),
    )
    return Chart("all", "Every kind", "Nothing to read.", panels, columns=2, legend=True)


def test_both_renderers_draw_every_kind(tmp_path):
    chart = _every_kind()
    figure = to_plotly(chart)
    kinds = [trace.type for trace in figure.data]
    assert (kinds.count("scatter"), kinds.count("bar")) == (4, 2)  # one more for the band
    texts = {note.text for note in figure.layout.annotations}
    assert {"end", "one", "two", "<b>Lines<br>and bands</b>", "<b>Points</b>"} == texts
    assert figure.layout.xaxis2.ticktext == ("0.5", "1", "2", "5", "10", "20")
    assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert figure.layout.font.color == NEUTRAL
    drawn = to_matplotlib(chart)
    assert len(drawn.axes) == 4
    said = {text.get_text() for text in drawn.axes[0].texts}
    assert said == {"end"}
    with Image.open(save(drawn, tmp_path / "all.png")) as image:
        assert image.width == pytest.approx(390 * 160 / 90, abs=1)


def test_pictures_have_the_same_bytes_every_time(tmp_path):
    paths = [save(to_matplotlib(_every_kind()), tmp_path / f"{i}.png") for i in range(2)]
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert b"matplotlib" not in first.lower()
    assert to_plotly(_every_kind()).to_json() == to_plotly(_every_kind()).to_json()


def test_pictures_stand_in_a_grid(tmp_path):
    grid = picture_grid([np.zeros((8, 8, 3), np.uint8)] * 3, ["a", "b", ""], columns=2)
    assert [axis.get_title() for axis in grid.axes] == ["a", "b", "", ""]
    assert save(grid, tmp_path / "deep" / "grid.png").exists()


def _luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return float(np.dot((0.2126, 0.7152, 0.0722), linear))


def _contrast(a: str, b: str) -> float:
    dark, light = sorted((_luminance(a), _luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def test_methods_are_told_apart_on_light_and_dark():
    colours = {ACCENT, NEUTRAL, *FAMILY.values(), *(color for color, _ in METHOD.values())}
    for card in CARDS:
        assert all(_contrast(color, card) >= 3 for color in colours)
        assert _contrast(NEUTRAL, card) >= 4.1
    assert len(set(METHOD.values())) == len(METHOD)


def test_series_with_uneven_columns_are_refused():
    with pytest.raises(ValueError, match="different lengths"):
        Series("line", (1, 2), (1,), ACCENT)
    with pytest.raises(ValueError, match="limits above 0"):
        Axis(log=True)


def test_spread_keeps_order_gap_and_bounds():
    placed = spread([50, 51, 49, 10], gap=14, low=7, high=100)
    assert np.diff(sorted(placed)).min() >= 14 - 1e-9
    assert np.argsort(placed).tolist() == [3, 2, 0, 1]
    assert placed[3] == 10
    assert spread([95, 96], 10, 0, 100) == [90, 100]
    assert spread([1, 2, 3], 10, 0, 5) == [0, 10, 20]


def test_labels_cover_neither_each_other_nor_marks_nor_bars():
    """Twelve methods close together, as in the figure of accuracy against time."""
    rng = np.random.default_rng(0)
    spots = rng.uniform(0.2, 0.8, (12, 2))
    series = tuple(
        Series("points", (x,), (y,), NEUTRAL, "", (f"method {i}",), (y - 0.06,), (y + 0.06,))
        for i, (x, y) in enumerate(spots)
    )
    panel = Panel(series, Axis(limits=(0, 1)), Axis(limits=(0, 1)))
    labels = place_labels(panel, 400, 400)
    assert len(labels) == 12
    boxes = []
    for label in labels:
        long = LETTER * len(label.text)
        shift = {"right": 0, "left": -long, "center": -long / 2}[label.side]
        left, top = 400 * label.x + label.dx + shift, 400 * (1 - label.y) + label.dy - 7
        boxes.append((left, top, left + long, top + 14))
    boxes += [(400 * x - 4, 396 - 400 * y, 400 * x + 4, 404 - 400 * y) for x, y in spots]
    boxes += [(400 * x - 1, 376 - 400 * y, 400 * x + 1, 424 - 400 * y) for x, y in spots]
    for i, (a, b, c, d) in enumerate(boxes):
        for left, top, right, bottom in boxes[i + 1 :]:
            apart = c <= left or right <= a or d <= top or bottom <= b
            assert apart or i >= 12  # marks may touch marks


def test_adaptive_point_stands_at_its_mean_depth(tmp_path):
    write_run(tmp_path / "run", depth_matters(8))
    pooled = pool_runs(read_runs(tmp_path).evaluations)[0][0]
    chart = accuracy_by_depth(pooled)
    assert [panel.title for panel in chart.panels][:2] == ["Mean of 15", "Noise"]
    line, permuted, adaptive = chart.panels[0].series
    assert (line.x, line.y) == ((0, 4, 8), (0, 50, 50))
    assert (adaptive.x, adaptive.y) == ((6,), (100,))
    assert (permuted.x, permuted.y, permuted.open) == ((6,), (50,), True)


def test_histogram_holds_every_picture(tmp_path):
    """Crossed and not crossed together are all pictures of the corruption."""
    depths = range(0, 41, 4)
    write_judge(tmp_path / "judge", falling_logits(5, depths), depths)
    rows = lines_of("dga", lambda p, c: True, 5, ["fog"], lambda p, c: (0, 3, 9, 20, 20)[p])
    write_run(tmp_path / "run", rows)
    results = read_runs(tmp_path)
    halted = results.evaluations[0].lines
    chart = depths_and_f1(results.judges[0], halted)
    assert [panel.title for panel in chart.panels] == ["Weather"]
    crossed, late, curve = chart.panels[0].series
    assert (sum(crossed.y), sum(late.y)) == pytest.approx((60, 40))
    assert curve.kind == "line"
    with pytest.raises(MissingRun, match="no corruption with both"):
        depths_and_f1(results.judges[0], halted.assign(corruption="unheard of"))


def test_best_dda_is_the_one_to_beat(tmp_path):
    rows = lines_of("dda", lambda p, c: p < 1, 4) + lines_of("dda-published", lambda p, c: p < 2, 4)
    write_run(tmp_path / "run", rows)
    assert best_dda(pool_runs(read_runs(tmp_path).evaluations)[0][0]) == "dda-published"


def test_embedding_is_deterministic_and_needs_features(tmp_path):
    features = np.random.default_rng(0).normal(size=(24, 5)).astype(np.float32)
    assert np.array_equal(embed(features), embed(features))
    write_judge(tmp_path / "judge", falling_logits(2, (0, 4)), (0, 4))
    with pytest.raises(MissingRun, match=r"judge has no features\.npz"):
        feature_map(read_runs(tmp_path).judges[0])


def test_command_writes_every_exhibit(written):
    out, result = written
    index = json.loads((out / "index.json").read_text("utf-8"))
    for kind, names in (("figure", FIGURES), ("table", TABLES)):
        found = [entry["name"] for entry in index["exhibits"] if entry["kind"] == kind]
        assert sorted(found) == sorted(names)
    for entry in index["exhibits"]:
        assert entry["title"]
        assert entry["caption"].endswith(".")
        assert all(command.startswith("python -m dga ") for command in entry["commands"])
        assert entry["commands"]
        for file in entry["files"].values():
            assert (out / file).stat().st_size > 100
            assert str(out / file) in result.stdout


def test_missing_runs_are_said(written):
    out, result = written
    said = [row for row in result.stdout.splitlines() if ": " in row]
    assert said == [
        "table-1: no run of memo",
        "table-2: no run of memo",
        "ablation: no run of dga-plus beside variants (dga-plus:exposure=false)",
    ]
    missing = json.loads((out / "index.json").read_text("utf-8"))["missing"]
    assert [f"{row['name']}: {row['reason']}" for row in missing] == said


def test_interactive_files_are_small_and_plain(written):
    """No number but what JSON knows, no binary arrays, no theme."""
    out, _ = written
    for path in (out / "figures").glob("*.json"):
        assert path.stat().st_size < 60_000, path.name
        text = path.read_text("utf-8")
        assert "NaN" not in text
        assert "bdata" not in text
        figure = json.loads(text)
        assert "layout" not in figure["layout"]["template"]
        assert figure["layout"]["height"] < 1000


def test_a_part_of_the_runs_is_enough_and_bytes_are_the_same(tmp_path):
    write_run(tmp_path / "in" / "few", lines_of("source", lambda p, c: p < 3, 6, ["fog"]))
    results = [done("figures", tmp_path / "in", "--out", tmp_path / name) for name in ("a", "b")]
    files = [path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.*")]
    assert {path.name for path in files} >= {"table-1.md", "table-1.csv", "index.json"}
    for path in files:
        assert (tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes()
    said = results[0].stdout
    assert "table-3: no run at several taus (dga:tau=0.1,dga:tau=0.3,dga:tau=0.7)\n" in said
    assert "controls: no run of dga-guided at fixed depths" in said
    assert "discriminator-f1: no judge run of x_t\n" in said
    assert "gains: no run of dga-plus or dga-guided\n" in said


def test_judge_runs_alone_are_enough(tmp_path):
    """t* then come from the curves themselves."""
    depths = range(0, 65, 4)  # beyond the profile's horizon
    write_judge(tmp_path / "in", falling_logits(4, depths)[:4], depths)  # noise alone
    result = done("figures", tmp_path / "in", "--out", tmp_path / "out")
    assert (tmp_path / "out" / "figures" / "depths-f1-families.png").exists()
    assert "tables and figures of methods: no evaluation run\n" in result.stdout
    assert "features: no judge run with features.npz\n" in result.stdout
