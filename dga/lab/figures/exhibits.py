"""Every table and figure that a folder of results allows, written with an index."""

from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.style import context

from dga.corruptions import CLEAN, FAMILIES
from dga.io.files import write_json
from dga.lab.analysis.names import format_group, shorten_title
from dga.lab.analysis.report import make_report
from dga.lab.analysis.saved_runs import Run, SavedRuns
from dga.lab.analysis.tables import tabulate_comparisons

WIDTH = 4.33
"""The width of a figure in inches: on a phone, words of 9 points can still be read."""
Entry = dict[str, Any]
"""What the index says of an exhibit, by name."""


def publish(saved: SavedRuns, out: Path) -> dict[str, list[Any]]:
    """Write ``tables/`` and ``figures/`` and their index below ``out``; returns that index.

    The tables are those of :func:`dga.lab.analysis.report.make_report`, the figures the F1 of each
    judged discriminator. Runs that are left out are named. The same results give the same bytes.
    """
    report = make_report(saved.evaluations)
    for folder in ("tables", "figures"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    exhibits = [_write_table(exhibit, out) for exhibit in report["exhibits"]]
    exhibits += [_draw_judge(judge, out) for judge in saved.judges]
    index = {"exhibits": exhibits, "missing": report["left_out"]}
    write_json(out / "index.json", index)
    return index


def _write_table(exhibit: Entry, out: Path) -> Entry:
    file, title = f"tables/{exhibit['key']}.md", exhibit["title"]
    table = tabulate_comparisons(exhibit["rows"])
    text = f"### {title}\n\n{table}\n\n{exhibit['caption']}\n"
    (out / file).write_text(text, encoding="utf-8")
    facts = {name: exhibit[name] for name in ("caption", "commands")}
    return {"kind": "table", "name": exhibit["key"], "title": title, "files": {"md": file}, **facts}


def _draw_judge(judge: Run, out: Path) -> Entry:
    """The paper's Fig. 3 of one judged discriminator; of the same bytes for the same curves."""
    name = f"f1-{judge.name.replace('/', '-')}"
    file, title = f"figures/{name}.png", f"Discriminator {judge.name}: F1 by depth"
    figure = draw_f1_by_depth(judge, title)
    figure.savefig(out / file, format="png", facecolor="white", metadata={"Software": "dga"})
    caption = (
        f"How well corrupted and clean pictures ({judge.lines['path'].nunique()} of each, severity "
        f"{judge.severity}) are told apart at the same depth: the further a curve stays up, the "
        "deeper its corruption survives; 67 % is what calling everything corrupted gives."
    )
    facts = {"caption": caption, "commands": [judge.command]}
    return {"kind": "figure", "name": name, "title": title, "files": {"png": file}, **facts}


def compute_f1(judge: Run) -> pd.DataFrame:
    """F1 in [0, 1], with a row for each corruption and a column for each depth.

    Positives are the pictures under that corruption, and negatives are the same pictures clean, at
    the same depth. A confidence of 0.5 or more calls a picture corrupted.
    """
    lines = judge.lines
    is_positive = pd.DataFrame(lines["logits"].tolist(), columns=judge.config["depths"]) >= 0
    called = is_positive.groupby(lines["corruption"], sort=False).sum()
    hits, alarms = called.drop(CLEAN), called.loc[CLEAN]
    return 2 * hits / (hits + alarms + lines["path"].nunique())


@context(["seaborn-v0_8-whitegrid", "seaborn-v0_8-colorblind", {"font.size": 9}])
def draw_f1_by_depth(judge: Run, title: str) -> Figure:
    """A curve for each corruption and a panel for each family that was judged; without pyplot."""
    f1 = 100 * compute_f1(judge)
    families = [family for family, names in FAMILIES.items() if f1.index.isin(names).any()]
    rows, columns = -(-len(families) // 2), min(2, len(families))
    figure = Figure(figsize=(WIDTH, 0.6 + 2.2 * rows), dpi=160, layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontweight="bold", wrap=True)
    panels = figure.subplots(rows, columns, squeeze=False).flat
    for axes, family in zip(panels, families, strict=False):
        names = [name for name in FAMILIES[family] if name in f1.index]
        axes.plot(f1.columns, f1.loc[names].T, label=[shorten_title(name) for name in names])
        axes.set(title=format_group(family), xlabel="depth (steps of 100)", ylabel="F1 (%)")
        axes.set_ylim(min(50, f1.min(axis=None) - 2), 101)
        axes.legend(fontsize=7)
    for axes in panels:  # of three families the fourth panel is left
        axes.set_axis_off()
    return figure
