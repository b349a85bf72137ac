"""Every table and figure that a folder of results allows, written with an index."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from dga.analysis.controls import Controls
from dga.analysis.discrimination import stops
from dga.analysis.judges import judge_of, same_discriminator, shipped_judge
from dga.analysis.pooled import PooledRuns, pool_runs
from dga.analysis.results import JudgeRun, MissingRun, SavedRuns
from dga.analysis.tables import accuracy as accuracy_tables
from dga.analysis.tables import depths as depth_tables
from dga.analysis.tables import discriminator as discriminator_tables
from dga.analysis.tables.rules import rules_table
from dga.analysis.tables.table import Table
from dga.corruptions import FAMILIES
from dga.figures import accuracy, depths, discriminator
from dga.figures.chart import Chart
from dga.figures.embedding import feature_map
from dga.figures.interactive import to_plotly
from dga.figures.pictures import save
from dga.figures.raster import to_matplotlib

INDEX = "index.json"
Commands = tuple[str, ...]


@dataclass(frozen=True)
class Figure:
    """A chart and the commands that made its data."""

    chart: Chart
    commands: Commands


@dataclass
class Published:
    """``written``: the index's entries; ``missing``: (name, what it lacks)."""

    written: list[dict[str, Any]] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Maker:
    """How to make one exhibit. ``optional``: nobody misses it."""

    name: str
    make: Callable[[], Table | Figure]
    optional: bool = False


def publish(results: SavedRuns, out: Path) -> Published:
    """Write ``tables/`` and ``figures/`` and their index below ``out``.

    What cannot be made is left out and told. The same results give the same bytes.
    """
    made, left_out = pool_runs(results.evaluations)
    published = Published(missing=[("left out", sentence) for sentence in left_out])
    for maker in makers(results, made):
        try:
            exhibit = maker.make()
        except MissingRun as error:
            if not maker.optional:
                published.missing.append((maker.name, str(error)))
            continue
        if isinstance(exhibit, Table):
            published.written.append(_write_table(exhibit, out))
            published.missing += [(exhibit.name, text) for text in exhibit.missing]
        else:
            chart = replace(exhibit.chart, name=maker.name)
            published.written.append(_write_figure(replace(exhibit, chart=chart), out))
    published.missing = list(dict.fromkeys(published.missing))
    index = {
        "exhibits": published.written,
        "missing": [{"name": name, "reason": reason} for name, reason in published.missing],
    }
    out.mkdir(parents=True, exist_ok=True)
    (out / INDEX).write_text(json.dumps(index, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return published


def _write_table(table: Table, out: Path) -> dict[str, Any]:
    table.write(out / "tables")
    return {
        "kind": "table",
        "name": table.name,
        "title": table.title,
        "caption": table.caption,
        "files": {ending: f"tables/{table.name}.{ending}" for ending in ("md", "csv")},
        "commands": list(table.commands),
    }


def _write_figure(figure: Figure, out: Path) -> dict[str, Any]:
    chart = figure.chart
    save(to_matplotlib(chart), out / "figures" / f"{chart.name}.png")
    (out / "figures" / f"{chart.name}.json").write_text(to_plotly(chart).to_json() + "\n", "utf-8")
    return {
        "kind": "figure",
        "name": chart.name,
        "title": chart.title,
        "caption": chart.caption,
        "files": {ending: f"figures/{chart.name}.{ending}" for ending in ("png", "json")},
        "commands": list(figure.commands),
    }


def makers(results: SavedRuns, made: tuple[PooledRuns, ...]) -> Iterator[Maker]:
    """One for each exhibit, in the order in which they are best read.

    Studies (taus, fixed depths, the quantile rule) belong to the highest severity; at
    others they are made if they were run, and not missed if they were not.
    """
    if not made:
        yield Maker("tables and figures of methods", lambda: _nothing("no evaluation run"))
    for i, pooled in enumerate(made):
        yield from _method_makers(pooled)
        end = accuracy_tables.suffix(pooled)
        rules = partial(_rules_table, pooled, results.judges)
        yield Maker(f"rules{end}", rules, optional=pooled.config.get("split") != "tune")
        studies = _study_makers(pooled)
        yield from studies if i == 0 else (replace(maker, optional=True) for maker in studies)
    yield from _judge_makers(results.judges, made[0] if made else None)


def _nothing(reason: str) -> Table:
    raise MissingRun(reason)


def _method_makers(pooled: PooledRuns) -> Iterator[Maker]:
    """What the runs of every severity should have."""
    end = accuracy_tables.suffix(pooled)
    yield Maker(f"table-1{end}", lambda: accuracy_tables.table_1(pooled))
    for family in FAMILIES:
        yield Maker(f"table-2-{family}{end}", partial(accuracy_tables.table_2, pooled, family))
    yield Maker(f"comparisons{end}", lambda: accuracy_tables.comparisons(pooled))
    yield Maker(
        f"gains{end}", lambda: Figure(accuracy.gains(pooled), pooled.commands(pooled.compared))
    )
    yield Maker(
        f"accuracy-time{end}",
        lambda: Figure(accuracy.accuracy_by_time(pooled), pooled.commands(pooled.compared)),
    )
    yield Maker(f"depths{end}", lambda: depth_tables.depths(pooled, "threshold"))
    yield Maker(f"depths{end}", lambda: _depths_figure(pooled, "threshold"))


def _study_makers(pooled: PooledRuns) -> Iterator[Maker]:
    """Taus, fixed depths and the quantile rule."""
    end = accuracy_tables.suffix(pooled)
    yield Maker(f"table-3{end}", lambda: accuracy_tables.table_3(pooled))
    yield Maker(f"depths-quantile{end}", lambda: depth_tables.depths(pooled, "quantile"))
    yield Maker(f"depths-quantile{end}", lambda: _depths_figure(pooled, "quantile"))
    for rule, ending in (("threshold", end), ("quantile", f"-quantile{end}")):
        yield Maker(
            f"controls{ending}",
            partial(_controls_table, pooled, rule),
        )
        for draw in (accuracy.controls_figure, accuracy.accuracy_by_depth):
            name = "controls" if draw is accuracy.controls_figure else "accuracy-depth"
            yield Maker(
                f"{name}{ending}",
                partial(_controls_figure, pooled, rule, draw),
            )


def _rules_table(pooled: PooledRuns, judges: tuple[JudgeRun, ...]) -> Table:
    """For choosing settings, which is done on tune and nowhere else."""
    if pooled.config.get("split") != "tune":
        raise MissingRun("no run on tune")
    return rules_table(judge_of(judges, pooled), pooled)


def _depths_figure(pooled: PooledRuns, rule: str) -> Figure:
    method, rows = depth_tables.halted(pooled, rule)
    return Figure(depths.depth_spread(rows, rule, pooled.severity), pooled.commands([method]))


def _controls_table(pooled: PooledRuns, rule: str) -> Table:
    return depth_tables.controls_table(pooled, depth_tables.pooled_controls(pooled, rule), rule)


def _controls_figure(pooled: PooledRuns, rule: str, draw: Callable[[Controls], Chart]) -> Figure:
    controls = depth_tables.pooled_controls(pooled, rule)
    chart = draw(controls)
    chart = replace(chart, title=f"{chart.title}, severity {pooled.severity}")
    return Figure(chart, pooled.commands(depth_tables.control_methods(pooled, controls)))


def _judge_makers(judges: tuple[JudgeRun, ...], pooled: PooledRuns | None) -> Iterator[Maker]:
    """What the discriminator's curves allow."""

    def judged(draw: Callable[[JudgeRun], Chart]) -> Callable[[], Figure]:
        def make() -> Figure:
            judge = shipped_judge(judges, pooled)
            return Figure(draw(judge), (judge.command,))

        return make

    yield Maker("discriminator-f1", judged(discriminator.f1_by_depth))
    for name, groups in (
        ("depths-f1-families", discriminator.families()),
        ("depths-f1", discriminator.fifteen()),
    ):
        yield Maker(name, partial(_depths_and_f1, judges, pooled, groups))
    yield Maker("calibration", judged(discriminator.calibration_by_depth))
    yield Maker(
        "stopping-rules",
        lambda: depth_tables.stopping_rules(shipped_judge(judges, pooled), pooled),
    )
    yield Maker("studies", lambda: discriminator_tables.studies(judges))
    yield Maker(
        "studies", lambda: Figure(discriminator.studies(judges), tuple(j.command for j in judges))
    )
    yield Maker("features", lambda: _features(judges, pooled))


def _depths_and_f1(
    judges: tuple[JudgeRun, ...], pooled: PooledRuns | None, groups: dict[str, list[str]]
) -> Figure:
    """With the runs' own t* if this discriminator chose them, else with its curves' t*."""
    judge = shipped_judge(judges, pooled)
    if pooled is not None and same_discriminator(judge, pooled):
        method, halted = depth_tables.halted(pooled, "threshold")
        commands = (judge.command, *pooled.commands([method]))
    else:
        config = depth_tables.stopping_configs(judge, pooled)["threshold"]
        halted = stops(judge, config).rename(columns={"t_star": "depth"})
        commands = (judge.command,)
    return Figure(discriminator.depths_and_f1(judge, halted, groups), commands)


def _features(judges: tuple[JudgeRun, ...], pooled: PooledRuns | None) -> Figure:
    """Features belong to the classifier: any judge run that saved them will do."""
    saved = [judge for judge in judges if judge.features is not None]
    if not saved:
        raise MissingRun("no judge run with features.npz")
    shipped = shipped_judge(judges, pooled)
    judge = shipped if shipped in saved else saved[0]
    return Figure(feature_map(judge), (judge.command,))
