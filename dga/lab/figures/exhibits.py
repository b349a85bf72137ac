"""Every table and figure that a folder of results allows, written with an index."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from dga.io.files import write_json
from dga.lab.analysis.comparisons import make_comparisons
from dga.lab.analysis.judges import choose_judge
from dga.lab.analysis.pooled_runs import PooledRuns, pool_runs
from dga.lab.analysis.saved_runs import MissingRun, Run, SavedRuns
from dga.lab.analysis.table import Table
from dga.lab.analysis.tables import make_stream_table, make_table_1, make_table_2
from dga.lab.figures.draw import Plot, draw_depths_and_f1, draw_f1_by_depth

Create = Callable[[], Table | Plot]


def publish(saved: SavedRuns, out: Path) -> dict[str, list[dict[str, Any]]]:
    """Write ``tables/`` and ``figures/`` and their index below ``out``; returns that index.

    What cannot be made is left out and named. The same results give the same bytes.
    """
    pools, left_out = pool_runs(saved.evaluations)
    exhibits = list[dict[str, Any]]()
    missing = [{"name": "left out", "reason": sentence} for sentence in left_out]
    if not pools:
        missing.append({"name": "tables and figures of methods", "reason": "no evaluation run"})
    for name, create in list_exhibits(saved.judges, pools):
        try:
            exhibit = create()
        except MissingRun as error:
            missing.append({"name": name, "reason": str(error)})
            continue
        path = out / f"{exhibit.kind}s" / f"{name}.{exhibit.ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        exhibit.save(path)
        exhibits.append({
            "kind": exhibit.kind,
            "name": name,
            "title": exhibit.title,
            "caption": exhibit.caption,
            "files": {exhibit.ending: path.relative_to(out).as_posix()},
            "commands": list(exhibit.commands),
        })  # fmt: skip
    index = {"exhibits": exhibits, "missing": missing}
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "index.json", index)
    return index


def list_exhibits(
    judges: Sequence[Run], pools: Sequence[PooledRuns]
) -> Iterator[tuple[str, Create]]:
    """The names of all exhibits, in the order in which they are best read, and what makes each.

    Names of severity 5 stand alone; others say theirs.
    """
    first = next((pooled for pooled in pools if not pooled.stream), None)
    for pooled in pools:
        if pooled.stream:
            yield pooled.stream, partial(make_stream_table, pooled)
            yield f"{pooled.stream}-comparisons", partial(make_comparisons, pooled)
            continue
        end = "" if pooled.severity == 5 else f"-severity-{pooled.severity}"
        yield f"table-1{end}", partial(make_table_1, pooled)
        yield f"table-2{end}", partial(make_table_2, pooled)
        yield f"comparisons{end}", partial(make_comparisons, pooled)
    yield "discriminator-f1", lambda: draw_f1_by_depth(choose_judge(judges, first))
    yield "depths-f1-families", lambda: draw_depths_and_f1(choose_judge(judges, first), first)
