"""The page Results: today's figures, what lies behind them, and the tables they come from.

Numbers are read from result files, so that a newer file changes the page without a change here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from markupsafe import Markup

from app.pages.results_answers import answer_all, headline, list_settings, name_kind
from app.pages.results_exhibits import draw_figure, read_exhibits, read_markdown_table, tabulate
from app.pages.results_numbers import Diagnoses, Results, full_name
from app.pages.shell import SNIPPET, Page, render
from app.runs.samples import EXAMPLES
from app.runs.sentences import DAMAGE_NAMES
from dga.io.shipped import find_shipped_folder
from dga.systems import DAMAGED_SHARE

FOLDS = (
    (
        "paper-224", "photo/paper", "The paper's tables and figures, at 224 px",
        "Its methods and rivals on the photographs above, with depths exchanged and fixed, "
        "run on a GPU: a few readings differ from those above.",
    ),
    (
        "small", "everyday16/exhibits", "Results on pictures of 64 px",
        "16 everyday classes, a classifier of ours, profile everyday16; below, studies of the "
        "paper's method that an earlier version made.",
    ),
)  # fmt: skip
"""Folders of exhibits that ``dga figures`` wrote, some in earlier versions: anchor, folder, title
and a sentence."""


def results_page(folder: Path | None = None) -> Page:
    """``folder``: with ``photo`` and ``everyday16/exhibits``; what ships if None.

    In ``photo`` are ``results.json``, its readings and ``diagnosis.json``, of labelled pictures.
    """
    folder = folder or find_shipped_folder("assets/results")
    now = Results.read(folder / "photo" / "results.json")
    rows = [row for exhibit in now.exhibits.values() for row in exhibit["rows"]]
    drawn = {key: draw_figure(exhibit) for key, exhibit in now.exhibits.items()}
    figures = {key: figure for key, figure in drawn.items() if figure}
    title, lead = headline(now)
    diagnoses = Diagnoses.read(folder / "photo" / "diagnosis.json")
    small = Results.read(folder / "everyday16" / "results.json")
    main = render(
        "results.html",
        title=title,
        lead=lead,
        settings=list_settings(now),
        answers=answer_all(now, diagnoses, small),
        exhibits=list(now.exhibits.values()),
        figures=figures,
        tabulate=tabulate,
        folds=[(*fold, list(read_exhibits(folder / fold[1]))) for fold in FOLDS],
        cards=list(model_cards()),
        snippet=SNIPPET,
        damaged_share=round(100 * DAMAGED_SHARE),
        credits=list(credit_lines()),
    )
    return Page(
        path="results",
        title="Results: DGA+",
        description="How often repaired photographs are read right, on which damage, and when not.",
        main=main,
        data={
            "figures": figures,
            "kinds": {row["group"]: name_kind(row["group"]) for row in rows},
            "methods": {row["method"]: full_name(row["method"]) for row in rows},
            "onRepair": list(DAMAGE_NAMES),
        },
    )


def model_cards() -> Iterator[Mapping[str, str]]:
    """What the weights that ship are and were trained on."""
    from markdown_it import MarkdownIt  # here: other pages must not wait for it

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    for path in sorted(find_shipped_folder("assets/weights").glob("*/*/README.md")):
        name, _, text = path.read_text("utf-8").partition("\n")
        html = markdown.render(re.sub(r"\[(.+?)\]\(.+?\)", r"\1", text))  # no links to other files
        html = re.sub("(</?h)2>", r"\g<1>5>", html)  # below the card's own heading
        yield {"key": "-".join(path.parts[-3:-1]), "title": name.strip("# "), "html": Markup(html)}


def credit_lines() -> Iterator[Mapping[str, str]]:
    """Who made each photograph that ships or that settings were chosen on."""
    _, *rows = read_markdown_table(find_shipped_folder("assets/samples") / "README.md")
    for file, author, licence, source in rows:
        name = Path(file).stem.replace("-", " ")
        yield {"name": name, "credit": f"{author}, {licence}", "source": source.strip("<>")}
    for name, photograph in EXAMPLES.items():
        credit = f"{photograph.licence}, with the package {photograph.package}"
        yield {"name": name, "credit": credit, "source": ""}
