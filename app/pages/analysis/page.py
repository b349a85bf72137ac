"""The page of tables and figures, ours beside the paper's."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.components.plot import PlotData

from app.pages.analysis.cards import commands_html, table_html, text_html, title_html
from app.pages.analysis.exhibits import Exhibit, Exhibits, FigureContent, TableContent
from app.parts.html import html
from app.server.strict_blocks import picked
from app.words.analysis import ANALYSIS_SECTIONS
from app.words.analysis import ANALYSIS_WORDS as WORDS
from dga.io.shipped import ROOT, shipped
from dga.profiles import Profile

DEFAULT_PROFILE = "everyday16"
_METHODS = (
    "source,tent,memo,diffpure-published,diffpure,dda-published,dda,dda-ensemble,"
    "dga,dga-guided,dga-quantile,dga-guided-quantile,dga-plus"
)
# Hover and zoom: nothing that selects, and no link to anyone's site.
_CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}
_BUTTONS = {"bgcolor": "rgba(0,0,0,0)", "color": "#767D8C", "activecolor": "#6E67F0"}


@dataclass(frozen=True)
class Section:
    """A question and the exhibits that answer it."""

    anchor: str
    title: str
    lead: str
    exhibits: tuple[Exhibit, ...]


def shipped_exhibits(profile: Profile) -> Path:
    """Where a profile's results lie."""
    return shipped("assets/results") / profile.name / "exhibits"


def sections(exhibits: tuple[Exhibit, ...]) -> list[Section]:
    """Exhibits under the first section that knows their name; the last takes the others."""
    left = list(exhibits)
    made = []
    for anchor, title, lead, names in ANALYSIS_SECTIONS:
        mine = [e for e in left if not names or any(_begins(e.name, name) for name in names)]
        left = [exhibit for exhibit in left if exhibit not in mine]
        if mine:
            made.append(Section(anchor, title, lead, tuple(mine)))
    return made


def _begins(name: str, start: str) -> bool:
    return name == start or name.startswith(f"{start}-")


def analysis_page(profile: Profile, exhibits: Exhibits) -> None:
    """Lay the page out and connect it."""
    intro = WORDS["intro"].format(size=profile.image_size)
    if not exhibits.exhibits:
        _html(_empty(profile, exhibits), "no-results", figures=[], severity=0)
        return
    html(_opening(intro, exhibits), elem_id="analysis-intro")
    found = sections(exhibits.exhibits)
    severities = exhibits.severities()
    plots: dict[str, gr.Plot] = {}
    with gr.Row(elem_id="analysis"):
        with gr.Column(elem_id="contents"):
            contents = _contents(found, exhibits.exhibits, max(severities, default=0))
            if severities:
                _severity_choice(severities)
        with gr.Column(elem_id="exhibits"):
            for section in found:
                html(_heading(section), elem_id=section.anchor)
                for exhibit in section.exhibits:
                    plots |= _exhibit(exhibit, exhibits.variants(exhibit))
            if exhibits.missing:
                html(_not_made(exhibits), elem_id="not-made")
    _connect(contents, plots, exhibits.exhibits)


def _connect(contents: gr.HTML, plots: dict[str, gr.Plot], exhibits: tuple[Exhibit, ...]) -> None:
    """A figure is sent when it comes near the window."""
    figures = {e.key: e.content for e in exhibits if isinstance(e.content, FigureContent)}

    def draw(event: gr.EventData) -> dict[Any, Any]:
        key = picked(event, "name")
        if key not in figures:
            return {plot: gr.skip() for plot in plots.values()}
        return {plots[key]: plot_data(figures[key], picked(event, "touch") == "True")}

    if plots:
        contents.select(
            draw,
            None,
            list(plots.values()),
            queue=False,
            trigger_mode="multiple",
            show_progress="hidden",
            api_visibility="private",
        )


def plot_data(figure: FigureContent, touch: bool) -> PlotData:
    """What ``gr.Plot`` draws. On touch screens a tap reads a value and a drag scrolls the page."""
    made = json.loads(figure.plotly)
    made["config"] = _CONFIG | {"displayModeBar": False if touch else "hover"}
    made.setdefault("layout", {}).update(dragmode=False if touch else "zoom", modebar=_BUTTONS)
    return PlotData(type="plotly", plot=json.dumps(made, ensure_ascii=False))


def _contents(found: list[Section], exhibits: tuple[Exhibit, ...], severity: int) -> gr.HTML:
    links = "".join(
        f'<li><a href="./analysis#{s.anchor}">{escape(s.title)}</a></li>' for s in found
    )
    figures = [
        {"id": e.key, "title": e.title, "height": e.content.height}
        for e in exhibits
        if isinstance(e.content, FigureContent)
    ]
    contents = f'<nav aria-label="{WORDS["contents"]}"><ul>{links}</ul></nav>'
    return _html(contents, "toc", figures=figures, severity=severity)


def _html(value: str, elem_id: str, **props: Any) -> gr.HTML:
    """HTML that brings the page's script with it."""
    return html(
        value,
        scripts=["shared/radios", "analysis/analysis"],
        elem_id=elem_id,
        words={name: WORDS[name] for name in ("copy", "copied")},
        **props,
    )


def _severity_choice(severities: tuple[int, ...]) -> None:
    choice = gr.Radio(
        list(severities),
        value=max(severities),
        label="Severity",
        info=WORDS["severity_info"],
        elem_id="exhibit-severity",
    )
    choice.change(
        None,
        choice,
        None,
        js="(severity) => window.dgaAnalysis.choose(severity)",
        api_visibility="private",
    )


def _exhibit(exhibit: Exhibit, variants: tuple[int, ...]) -> dict[str, gr.Plot]:
    """One card; the plot of a figure by its key."""
    classes = ["exhibit"]
    if len(variants) > 1:
        classes += ["varied", f"severity-{exhibit.severity}"]
    content = exhibit.content
    if isinstance(content, FigureContent):
        classes.append("with-figure")
    with gr.Column(elem_classes=classes):
        title = title_html(exhibit)
        shown = table_html(content, exhibit.title) if isinstance(content, TableContent) else ""
        html(title + shown)
        if isinstance(content, FigureContent):
            plot = gr.Plot(show_label=False, container=False, elem_id=exhibit.key)
        html(text_html(exhibit))
    return {exhibit.key: plot} if isinstance(content, FigureContent) else {}


def _opening(intro: str, exhibits: Exhibits) -> str:
    problem = f'<p class="ex-note">{escape(exhibits.problem)}</p>' if exhibits.problem else ""
    return f'<h1>{WORDS["title"]}</h1><p class="lead">{intro}</p>{problem}'


def _heading(section: Section) -> str:
    return f'<h2 class="section">{escape(section.title)}</h2><p class="lead">{section.lead}</p>'


def _not_made(exhibits: Exhibits) -> str:
    items = "".join(
        f"<li><b>{escape(name)}</b>: {escape(reason)}</li>" for name, reason in exhibits.missing
    )
    return (
        f'<details class="ex-made"><summary>{WORDS["not_made"]}</summary><ul>{items}</ul></details>'
    )


def _empty(profile: Profile, exhibits: Exhibits) -> str:
    words = WORDS["damaged"] if exhibits.problem else WORDS["empty"]
    sentence = words.format(profile=profile.name, problem=exhibits.problem)
    return (
        f"<h1>{escape(sentence)}</h1><p>{WORDS['empty_help']}</p>"
        f"{commands_html(_commands(profile, exhibits.folder))}"
    )


def _commands(profile: Profile, folder: Path) -> list[str]:
    """What makes the results, from pictures to this page."""
    inside = folder.is_relative_to(ROOT)
    place = folder.relative_to(ROOT) if inside else folder
    which = "" if profile.name == DEFAULT_PROFILE else f"--profile {profile.name} "
    which += "--data DATA/val.zip"
    return [
        f"python -m dga evaluate {which} --severity 5 --methods {_METHODS} --out runs/severity-5",
        f"python -m dga judge {which} --out runs/judge",
        f"python -m dga figures runs --out {place.as_posix()}",
    ]
