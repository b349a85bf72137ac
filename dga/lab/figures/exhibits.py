"""Every table and figure that a folder of results allows, written with an index."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dga.io.files import write_json
from dga.lab.analysis.judges import choose_judge, has_same_discriminator
from dga.lab.analysis.pooled_runs import PooledRuns, pool_runs
from dga.lab.analysis.saved_runs import JudgeRun, MissingRun, SavedRuns
from dga.lab.analysis.tables.accuracy import make_table_1, make_table_2, make_table_3
from dga.lab.analysis.tables.comparisons import make_comparisons, make_stream_table
from dga.lab.analysis.tables.depths import make_controls_table, select_adaptive_lines
from dga.lab.analysis.tables.studies import make_studies
from dga.lab.analysis.tables.table import Table
from dga.lab.figures.draw import (
    Plot,
    draw_accuracy_by_depth,
    draw_depths_and_f1,
    draw_f1_by_depth,
    draw_features,
)

Exhibit = Table | Plot


@dataclass(frozen=True)
class ExhibitSpec:
    """``is_expected``: whether it is said where runs for it are missing."""

    name: str
    create: Callable[[], Exhibit]
    is_expected: bool = True


def publish(saved: SavedRuns, out: Path) -> dict[str, list[dict[str, Any]]]:
    """Write ``tables/`` and ``figures/`` and their index below ``out``; returns that index.

    What cannot be made is left out and named. The same results give the same bytes.
    """
    pools, left_out = pool_runs(saved.evaluations)
    exhibits, missing = [], [{"name": "left out", "reason": sentence} for sentence in left_out]
    if not pools:
        missing.append({"name": "tables and figures of methods", "reason": "no evaluation run"})
    for spec in list_exhibits(saved.judges, pools):
        try:
            exhibit = spec.create()
        except MissingRun as error:
            if spec.is_expected:
                missing.append({"name": spec.name, "reason": str(error)})
            continue
        exhibits.append(_write(exhibit, spec.name, out))
    index = {"exhibits": exhibits, "missing": missing}
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "index.json", index)
    return index


def _write(exhibit: Exhibit, name: str, out: Path) -> dict[str, Any]:
    """The exhibit's files; returns its entry in the index."""
    kind = "table" if isinstance(exhibit, Table) else "figure"
    files = exhibit.write(out / f"{kind}s", name)
    return {
        "kind": kind,
        "name": name,
        "title": exhibit.title,
        "caption": exhibit.caption,
        "files": {ending: path.relative_to(out).as_posix() for ending, path in files.items()},
        "commands": list(exhibit.commands),
    }


def list_exhibits(judges: Sequence[JudgeRun], pools: Sequence[PooledRuns]) -> Iterator[ExhibitSpec]:
    """All exhibits, in the order in which they are best read.

    Studies (taus, fixed depths) are expected at the highest severity alone.
    Names of severity 5 stand alone; others say theirs.
    """
    first = next((pooled for pooled in pools if not pooled.stream), None)
    for pooled in pools:
        if pooled.stream:
            yield ExhibitSpec(pooled.stream, partial(make_stream_table, pooled))
            yield ExhibitSpec(f"{pooled.stream}-comparisons", partial(make_comparisons, pooled))
            continue
        end = "" if pooled.severity == 5 else f"-severity-{pooled.severity}"
        is_studied = pooled is first
        yield ExhibitSpec(f"table-1{end}", partial(make_table_1, pooled))
        yield ExhibitSpec(f"table-2{end}", partial(make_table_2, pooled))
        yield ExhibitSpec(f"comparisons{end}", partial(make_comparisons, pooled))
        yield ExhibitSpec(f"table-3{end}", partial(make_table_3, pooled), is_studied)
        yield ExhibitSpec(f"controls{end}", partial(make_controls_table, pooled), is_studied)
        yield ExhibitSpec(
            f"accuracy-depth{end}", partial(draw_accuracy_by_depth, pooled), is_studied
        )
    yield ExhibitSpec("discriminator-f1", lambda: draw_f1_by_depth(choose_judge(judges, first)))
    yield ExhibitSpec("depths-f1-families", partial(_draw_depths_and_f1, judges, first))
    yield ExhibitSpec("studies", partial(make_studies, judges))
    # Features belong to the classifier: any judge run that saved them will do.
    with_features = [judge for judge in judges if judge.features is not None] or judges
    yield ExhibitSpec("features", lambda: draw_features(choose_judge(with_features, first)))


def _draw_depths_and_f1(judges: Sequence[JudgeRun], pooled: PooledRuns | None) -> Plot:
    """Depths and F1 of the discriminator that chose the runs' t*."""
    judge = choose_judge(judges, pooled)
    if pooled is None or not has_same_discriminator(judge, pooled):
        raise MissingRun(f"no evaluation run by the discriminator of {judge.name}")
    method, lines = select_adaptive_lines(pooled)
    return draw_depths_and_f1(judge, lines, (judge.command, *pooled.commands([method])))
