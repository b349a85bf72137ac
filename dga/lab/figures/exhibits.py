"""Every table and figure that a folder of results allows, written with an index."""

from pathlib import Path
from typing import Any

from dga.io.files import write_json
from dga.lab.analysis.report import make_report
from dga.lab.analysis.saved_runs import Run, SavedRuns
from dga.lab.analysis.tables import tabulate_comparisons
from dga.lab.figures.draw import draw_f1_by_depth

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
