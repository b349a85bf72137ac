"""Every table and figure that a folder of results allows, written with an index."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from dga.analysis.discrimination import stops
from dga.analysis.judges import same_discriminator, shipped_judge
from dga.analysis.pooled import PooledRuns, pool_runs, pool_streams
from dga.analysis.results import JudgeRun, MissingRun, SavedRuns
from dga.analysis.tables import accuracy as accuracy_tables
from dga.analysis.tables import depths as depth_tables
from dga.analysis.tables import discriminator as discriminator_tables
from dga.analysis.tables import streams as stream_tables
from dga.analysis.tables.plus import ablation, explanations
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


Exhibit = Table | Chart
Maker = tuple[str, Callable[[], Exhibit], bool]
"""An exhibit's name, what makes it, and whether somebody misses it."""


def publish(saved: SavedRuns, out: Path) -> Written:
    """Write ``tables/`` and ``figures/`` and their index below ``out``.

    What cannot be made is left out and named. The same results give the same bytes.
    """
    severities, left_out = pool_runs(saved.evaluations)
    streams, others = pool_streams(saved.evaluations)
    written = Written(missing=[("left out", sentence) for sentence in (*left_out, *others)])
    if not severities and not streams:
        written.missing.append(("tables and figures of methods", "no evaluation run"))
    for name, make, needed in makers(saved.judges, severities, streams):
        try:
            exhibit = replace(make(), name=name)
        except MissingRun as error:
            if needed:
                written.missing.append((name, str(error)))
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


def _write(exhibit: Exhibit, out: Path) -> dict[str, Any]:
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
) -> Iterator[Maker]:
    """One for each exhibit, in the order in which they are best read.

    Studies (taus, fixed depths) belong to the highest severity; at others they are made if
    they were run, and not missed if they were not. Names of
    severity 5 stand alone; others say theirs.
    """
    for i, pooled in enumerate(severities):
        end = "" if pooled.severity == 5 else f"-severity-{pooled.severity}"
        for name, made_from, needed in _of_severity(studied=i == 0):
            yield f"{name}{end}", partial(made_from, pooled), needed
    if severities:
        yield "clean", partial(stream_tables.clean_table, severities[0]), False
        for make in (depth_tables.depths_by_severity, depths_by_severity):
            yield "depths-by-severity", partial(make, severities), False
    for pooled in streams:
        kind = pooled.stream
        yield kind, partial(stream_tables.stream_table, pooled), True
        yield f"{kind}-comparisons", partial(stream_tables.comparisons, pooled), True
        yield f"{kind}-permuted", partial(stream_tables.permuted_table, pooled), False
        yield f"{kind}-pairs", partial(stream_tables.pairs_table, pooled), False
    first = severities[0] if severities else None

    def judge() -> JudgeRun:
        return shipped_judge(judges, first)

    yield "discriminator-f1", lambda: discriminator.f1_by_depth(judge()), True
    yield "depths-f1-families", lambda: _depths_and_f1(judge(), first), True
    yield "calibration", lambda: discriminator.calibration_by_depth(judge()), True
    yield "studies", lambda: discriminator_tables.studies(judges), True
    yield "studies", lambda: discriminator.studies(judges), True
    yield "features", lambda: _features(judges, first), True


def _of_severity(studied: bool) -> list[tuple[str, Callable[[PooledRuns], Exhibit], bool]]:
    """What the runs of a severity should have; of a ``studied`` one, also stages and sweeps."""
    return [
        ("table-1", accuracy_tables.table_1, True),
        ("table-2", accuracy_tables.table_2, True),
        ("comparisons", stream_tables.comparisons, True),
        ("permuted", stream_tables.permuted_table, False),
        ("pairs", stream_tables.pairs_table, False),
        ("gains", accuracy.gains, True),
        ("accuracy-time", accuracy.accuracy_by_time, True),
        ("explanations", explanations, False),
        ("depths", depth_spread, True),
        ("ablation", ablation, studied),
        ("table-3", accuracy_tables.table_3, studied),
        ("controls", depth_tables.controls_table, studied),
        ("controls", accuracy.controls_figure, studied),
        ("accuracy-depth", accuracy.accuracy_by_depth, studied),
    ]


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
