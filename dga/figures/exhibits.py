"""Every table and figure that a folder of results allows, written with an index."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from dga.analysis.discrimination import stops
from dga.analysis.judges import judge_of, same_discriminator, shipped_judge
from dga.analysis.pooled import PooledRuns, pool_runs, pool_streams
from dga.analysis.results import JudgeRun, MissingRun, SavedRuns
from dga.analysis.tables import accuracy as accuracy_tables
from dga.analysis.tables import depths as depth_tables
from dga.analysis.tables import discriminator as discriminator_tables
from dga.analysis.tables import streams as stream_tables
from dga.analysis.tables.ablation import ablation
from dga.analysis.tables.explanations import explanations
from dga.analysis.tables.rules import rules_table
from dga.analysis.tables.table import Table
from dga.figures import accuracy, discriminator
from dga.figures.chart import Chart
from dga.figures.depths import depth_spread, depths_by_severity
from dga.figures.embedding import feature_map
from dga.figures.interactive import to_plotly
from dga.figures.pictures import save
from dga.figures.raster import to_matplotlib
from dga.io.files import INDEX


@dataclass
class Written:
    """``entries``: the index's; ``missing``: (name, what it lacks)."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class ExhibitMaker:
    """How to make one exhibit. ``optional``: nobody misses it."""

    name: str
    make: Callable[[], Table | Chart]
    optional: bool = False


def publish(saved: SavedRuns, out: Path) -> Written:
    """Write ``tables/`` and ``figures/`` and their index below ``out``.

    What cannot be made is left out and told. The same results give the same bytes.
    """
    severities, left_out = pool_runs(saved.evaluations)
    streams, also_left_out = pool_streams(saved.evaluations)
    said = [("left out", sentence) for sentence in (*left_out, *also_left_out)]
    written = Written(missing=said)
    if not severities and not streams:
        written.missing.append(("tables and figures of methods", "no evaluation run"))
    for maker in makers(saved.judges, severities, streams):
        try:
            exhibit = replace(maker.make(), name=maker.name)
        except MissingRun as error:
            if not maker.optional:
                written.missing.append((maker.name, str(error)))
            continue
        written.entries.append(_write(exhibit, out))
        if isinstance(exhibit, Table):
            written.missing += [(exhibit.name, text) for text in exhibit.missing]
    written.missing = list(dict.fromkeys(written.missing))
    index = {
        "exhibits": written.entries,
        "missing": [{"name": name, "reason": reason} for name, reason in written.missing],
    }
    out.mkdir(parents=True, exist_ok=True)
    (out / INDEX).write_text(json.dumps(index, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return written


def _write(exhibit: Table | Chart, out: Path) -> dict[str, Any]:
    """The exhibit's files; returns its entry in the index."""
    if isinstance(exhibit, Table):
        kind, files = "table", exhibit.write(out / "tables")
    else:
        kind, stem = "figure", out / "figures" / exhibit.name
        files = {ending: stem.with_name(f"{stem.name}.{ending}") for ending in ("png", "json")}
        save(to_matplotlib(exhibit), files["png"])
        files["json"].write_text(to_plotly(exhibit).to_json() + "\n", "utf-8")
    return {
        "kind": kind,
        "name": exhibit.name,
        "title": exhibit.title,
        "caption": exhibit.caption,
        "files": {ending: path.relative_to(out).as_posix() for ending, path in files.items()},
        "commands": list(exhibit.commands),
    }


def makers(
    judges: Sequence[JudgeRun],
    severities: Sequence[PooledRuns],
    streams: Sequence[PooledRuns] = (),
) -> Iterator[ExhibitMaker]:
    """One for each exhibit, in the order in which they are best read.

    Studies (taus, fixed depths) belong to the highest severity; at others they are made if
    they were run, and not missed if they were not. Names of
    severity 5 stand alone; others say theirs.
    """
    for i, pooled in enumerate(severities):
        yield from _severity_makers(pooled, judges, studied=i == 0)
    if severities:
        clean = partial(stream_tables.clean_table, severities[0])
        yield ExhibitMaker("clean", clean, optional=True)
        for make in (depth_tables.depths_by_severity, depths_by_severity):
            yield ExhibitMaker("depths-by-severity", partial(make, severities), optional=True)
    for pooled in streams:
        kind = pooled.stream
        yield ExhibitMaker(kind, partial(stream_tables.stream_table, pooled))
        comparisons = partial(stream_tables.comparisons, pooled)
        yield ExhibitMaker(f"{kind}-comparisons", comparisons)
        permuted = partial(stream_tables.permuted_table, pooled)
        yield ExhibitMaker(f"{kind}-permuted", permuted, optional=True)
    yield from _judge_makers(judges, severities[0] if severities else None)


def _severity_makers(
    pooled: PooledRuns, judges: Sequence[JudgeRun], studied: bool
) -> Iterator[ExhibitMaker]:
    """What the runs of a severity should have; of a ``studied`` one, also stages and sweeps."""
    end = "" if pooled.severity == 5 else f"-severity-{pooled.severity}"

    def exhibit(
        name: str, make: Callable[[PooledRuns], Table | Chart], optional: bool = False
    ) -> ExhibitMaker:
        return ExhibitMaker(f"{name}{end}", partial(make, pooled), optional)

    yield exhibit("table-1", accuracy_tables.table_1)
    yield exhibit("table-2", accuracy_tables.table_2)
    yield exhibit("comparisons", stream_tables.comparisons)
    yield exhibit("permuted", stream_tables.permuted_table, optional=True)
    yield exhibit("gains", accuracy.gains)
    yield exhibit("accuracy-time", accuracy.accuracy_by_time)
    yield exhibit("explanations", explanations, optional=True)
    yield exhibit("depths", depth_spread)
    if pooled.config.get("split") == "tune":  # where settings are chosen, and nowhere else
        yield exhibit("rules", lambda pooled: rules_table(judge_of(judges, pooled), pooled))
    yield exhibit("ablation", ablation, optional=not studied)
    yield exhibit("table-3", accuracy_tables.table_3, optional=not studied)
    yield exhibit("controls", depth_tables.controls_table, optional=not studied)
    yield exhibit("controls", accuracy.controls_figure, optional=not studied)
    yield exhibit("accuracy-depth", accuracy.accuracy_by_depth, optional=not studied)


def _judge_makers(judges: Sequence[JudgeRun], pooled: PooledRuns | None) -> Iterator[ExhibitMaker]:
    """What the discriminator's curves allow."""

    def judge() -> JudgeRun:
        return shipped_judge(judges, pooled)

    yield ExhibitMaker("discriminator-f1", lambda: discriminator.f1_by_depth(judge()))
    yield ExhibitMaker("depths-f1-families", lambda: _depths_and_f1(judge(), pooled))
    yield ExhibitMaker("calibration", lambda: discriminator.calibration_by_depth(judge()))
    yield ExhibitMaker("studies", lambda: discriminator_tables.studies(judges))
    yield ExhibitMaker("studies", lambda: discriminator.studies(judges))
    yield ExhibitMaker("features", lambda: _features(judges, pooled))


def _depths_and_f1(judge: JudgeRun, pooled: PooledRuns | None) -> Chart:
    """With the runs' own t* if this discriminator chose them, else with its curves' t*."""
    if pooled is not None and same_discriminator(judge, pooled):
        method, halted = depth_tables.halted(pooled)
        commands = pooled.commands([method])
    else:
        halted, commands = stops(judge, depth_tables.stopping_config(judge, pooled)), ()
    chart = discriminator.depths_and_f1(judge, halted)
    return replace(chart, commands=(judge.command, *commands))


def _features(judges: Sequence[JudgeRun], pooled: PooledRuns | None) -> Chart:
    """Features belong to the classifier: any judge run that saved them will do."""
    saved = [judge for judge in judges if judge.features is not None]
    if not saved:
        raise MissingRun("no judge run with features.npz")
    shipped = shipped_judge(judges, pooled)
    return feature_map(shipped if shipped in saved else saved[0])
