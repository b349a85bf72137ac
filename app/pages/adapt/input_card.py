"""What a run is made from: the line above it, and the sheet behind Change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import gradio as gr

from app.pages.adapt.corruption_thumbnails import SIDE, style_sheet, style_sheets
from app.parts.examples import Example
from app.parts.html import PRIVATE, event_field, html
from app.parts.pictures import picture_input
from app.runs.session import Session
from app.runs.settings import MAX_PATHS, MAX_SCALE
from app.server.decoder import read_square
from app.words.common import NO_CORRUPTION
from app.words.try_it import ADVANCED
from app.words.try_it import INPUT_WORDS as WORDS
from dga.corruptions import CORRUPTIONS, SEVERITIES
from dga.data.uploads import UploadError
from dga.profiles import IMAGENET
from dga.titles import short

LINE = """<div class="line"><img alt="" width="40" height="40">
<p><b>${words.none}</b><span></span></p>
<button type="button" aria-haspopup="dialog" aria-controls="sheet">${words.change}</button></div>"""
RECORDED = """<div class="recorded" role="group" aria-label="${words.recorded}">
<span>${words.recorded}</span>
{{#each value}}<button type="button" data-name="{{name}}" data-lesson="{{lesson}}"
aria-label="{{title}}: {{lesson}}" title="{{title}}: {{lesson}}" tabindex="-1">
<img src="{{src}}" alt=""></button>{{/each}}
<button type="button" data-present tabindex="-1">${words.present}
<kbd class="key">F</kbd></button></div>"""
HEAD = """<h2>${words.sheet}</h2>
<button type="button" class="close" aria-label="${words.close}">✕</button>"""
PHOTOGRAPHS = """<div class="thumbs" role="group" aria-label="{{words.examples}}">
{{#each value}}<button type="button" data-name="{{name}}" aria-label="{{title}}" title="{{title}}">
<img src="{{thumbnail}}" alt=""></button>{{/each}}</div>"""
SOURCES = """<button type="button">{{words.upload}}</button>
<p class="by-mouse">{{words.other_ways}}</p>"""
_PICK = """element.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) trigger("select", { name: button.dataset.name });
});"""
_CHANGED = "() => { window.dga?.changed(); return []; }"


def input_card(
    session: Session,
    examples: list[Example],
    recorded: Sequence[dict[str, str]],
    opening: dict[str, Any],
) -> dict[str, Any]:
    """Lay out line and sheet and connect what needs no run. Returns components by name.

    ``recorded``: of each example run name, title, lesson and src; ``opening``: the page's.
    """
    paths = {example.name: example.path for example in examples}
    path = paths.get(opening["image"])
    pictures = [{"name": e.name, "title": e.title, "thumbnail": e.thumbnail} for e in examples]
    card: dict[str, Any] = {"good": gr.State(path)}
    with gr.Row(elem_id="bar"):
        scripts = ["shared/radios", "try/line"]
        line = html(html_template=LINE, scripts=scripts, elem_id="line", words=WORDS)
        card["severity"] = gr.Radio(
            list(SEVERITIES), value=opening["severity"], label=WORDS["severity"], elem_id="severity"
        )
        html(list(recorded), html_template=RECORDED, elem_id="examples", words=WORDS)
        with gr.Row(elem_id="buttons"):
            card["adapt"] = gr.Button(WORDS["adapt"], variant="primary", elem_id="adapt")
            card["cancel"] = gr.Button(WORDS["cancel"], interactive=False, elem_id="cancel")
    with gr.Column(elem_id="sheet"):
        html(html_template=HEAD, elem_id="sheet-head", words=WORDS)
        with gr.Row(elem_id="picture-row"):
            card["picture"] = picture_input(
                value=path,
                sources=["upload"],
                show_label=False,
                label=WORDS["picture"],
                alt_text=WORDS["alt"],
                buttons=[],
                elem_id="picture",
            )
            with gr.Column(elem_id="picture-from"):
                html(html_template=SOURCES, elem_id="sources", words=WORDS)
                card["upload_note"] = html("", elem_id="upload-note")
                photographs = html(
                    pictures,
                    html_template=PHOTOGRAPHS,
                    js_on_load=_PICK,
                    elem_id="photographs",
                    words=WORDS,
                )
        with gr.Column(elem_id="input-corruption"):
            card["corruption"] = gr.Radio(
                [*((short(name), name) for name in CORRUPTIONS), (WORDS["as_is"], NO_CORRUPTION)],
                value=opening["corruption"],
                label=WORDS["corruption"],
                elem_id="corruption",
            )
            styles = html(style_sheet({}), elem_id="swatches")
        with gr.Accordion(WORDS["advanced"], open=False, elem_id="advanced"):
            card["seed"] = gr.Number(
                opening["seed"], label=WORDS["seed"], precision=0, elem_id="seed"
            )
            ranges = {
                "max_depth": (1, session.profile.schedule.steps, 1),
                "scale": (0, MAX_SCALE, 0.05),
                "paths": (1, MAX_PATHS, 1),
            }
            for name, (label, info) in ADVANCED.items():
                low, high, step = ranges[name]
                card[name] = gr.Slider(
                    low,
                    high,
                    opening[name],
                    step=step,
                    label=label,
                    info=info.format(paper=IMAGENET.guidance.scale),
                    elem_classes="knob",
                )
        for name in ("tau", "dda_depth"):
            card[name] = gr.Number(opening[name], visible=False)
        card["method"] = gr.Textbox(visible=False)
    # What the browser does alone.
    chosen = [card[name].input for name in ("severity", "corruption", "seed")]
    sliders = [card[name].release for name in ranges]
    gr.on([*chosen, *sliders], js=_CHANGED, trigger_mode="multiple", **PRIVATE)

    def pick(event: gr.EventData) -> tuple[str | None, str | None]:
        path = paths.get(str(event_field(event, "name")))
        return path, path

    previewed: dict[str, str | None] = {}  # by visitor: the picture that she chose last

    def preview(path: str | None, request: gr.Request) -> Iterator[Any]:
        """The picker's thumbnails; a file that is no picture gets its sentence elsewhere."""
        visitor = str(request.session_hash)
        previewed[visitor] = path
        try:
            for sheet in style_sheets(read_square(path, SIDE)):
                yield sheet if previewed.get(visitor) == path else gr.skip()
                _ = session.models  # what compiles for seconds comes after them
        except UploadError:
            yield gr.skip()  # the last ones stay
        finally:
            if previewed.get(visitor) == path:
                del previewed[visitor]

    chosen = photographs.select(pick, None, [card["picture"], card["good"]], queue=False, **PRIVATE)
    chosen.then(None, None, None, js=_CHANGED, **PRIVATE)
    # When the sheet is first opened, and whenever its picture changes.
    gr.on(
        [line.expand, card["picture"].change],
        preview,
        card["picture"],
        styles,
        concurrency_id="swatches",
        concurrency_limit=4,
        trigger_mode="multiple",  # the last one wins, and does not wait for the others
        **PRIVATE,
    )
    return card
