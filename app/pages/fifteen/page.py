"""The page where one picture meets all fifteen corruptions."""

from __future__ import annotations

from typing import Any

import gradio as gr

from app.pages.fifteen.cards import grid_value, heading_html, note_html, status_value
from app.pages.fifteen.handlers import FifteenComponents, FifteenHandlers
from app.pages.fifteen.results import FifteenResults, check_choice
from app.pages.run_handlers import Update
from app.parts.examples import Example, load_examples
from app.parts.html import LIGHT, PRIVATE, for_visitor, html
from app.parts.pictures import picture_input
from app.runs.session import Session
from app.server.queue_position import LOOK_INTERVAL, QueuePositions
from app.server.strict_blocks import picked
from app.words import fifteen as words
from app.words.errors import REFUSED
from dga.corruptions import SEVERITIES

SEVERITY = 3

_HEAD = '<h1 class="ff-title" aria-live="polite"></h1><p class="lead"></p>'
_STATUS = (
    '<div class="ff-status"><span class="ff-words"></span>'
    '<div class="ff-track" role="progressbar" aria-label="Progress" aria-valuemin="0" hidden>'
    '<i></i></div></div><p class="ff-error" role="alert"></p>'
)
_GRID = '<ul class="ff-grid"></ul>'
_THUMBNAILS = """<div class="thumbs" role="group" aria-label="Example pictures">
{{#each examples}}<button type="button" data-name="{{name}}" aria-label="{{name}}" title="{{name}}">
<img src="{{thumbnail}}" alt=""></button>{{/each}}</div>"""


def fifteen_page(session: Session, page: gr.Blocks, line: QueuePositions) -> None:
    """Lay the page out and connect it; ``page``: the Blocks whose route is being built."""
    examples = load_examples()
    components = _layout(session, examples)
    paths = {example.name: example.path for example in examples}
    handlers = FifteenHandlers(session, paths, components, line)
    _connect_inputs(page, handlers, components)
    handlers.connect(
        (components.run, components.cancel),
        components.inputs,
        components.outputs,
        told=components.inputs,
        locked=components.outputs,
        idle="(...asked) => { window.dgaFifteen.idle(); return asked; }",
    )


def _layout(session: Session, examples: list[Example]) -> FifteenComponents:
    first = examples[0].name
    paths = {example.name: example.path for example in examples}
    choice = check_choice(session.profile, paths, None, first, False, SEVERITY, "dga-guided")
    blank = FifteenResults(session.profile, choice)
    head = _html("head", heading_html(blank), _HEAD)
    with gr.Row(elem_id="fifteen-controls"):
        with gr.Column(elem_id="fifteen-source"):
            thumbs, picture, damaged = _picture_column(examples, first)
        severity = _choice("severity", words.SEVERITY, list(SEVERITIES), SEVERITY)
        method = _choice("method", words.METHOD, _named(words.METHODS), "dga-guided")
        with gr.Row(elem_id="fifteen-buttons"):
            cancel = gr.Button(words.CANCEL, interactive=False)
            run = gr.Button(words.RUN, variant="primary")
    with gr.Row(elem_id="fifteen-bar"):
        status = _html("status", status_value(blank), _STATUS, refused=REFUSED)
        order = _choice("order", words.ORDER, _named(words.ORDERS), "family")
        order.input(None, order, None, js="(o) => window.dgaFifteen.arrange(o)", **PRIVATE)
        table = gr.Button(words.TABLE, interactive=False, elem_id="fifteen-table")
        table.click(None, js="() => window.dgaFifteen.table()", **PRIVATE)
    return FifteenComponents(
        head=head,
        thumbs=thumbs,
        picture=picture,
        damaged=damaged,
        severity=severity,
        method=method,
        run=run,
        cancel=cancel,
        status=status,
        table=table,
        grid=_html("grid", grid_value(blank), _GRID),
        note=html(note_html(blank), elem_id="fifteen-note"),
        chosen=gr.Textbox(first, visible=False),
        timer=gr.Timer(LOOK_INTERVAL, active=False),
    )


def _choice(name: str, label: str, choices: list[Any], value: Any) -> gr.Radio:
    return gr.Radio(
        choices, value=value, label=label, elem_classes="segments", elem_id=f"fifteen-{name}"
    )


def _named(titles: dict[str, str]) -> list[tuple[str, str]]:
    return [(title, name) for name, title in titles.items()]


def _picture_column(examples: list[Example], first: str) -> tuple[gr.HTML, gr.Image, gr.Checkbox]:
    damaged = gr.Checkbox(
        False, label=words.DAMAGED, interactive=False, container=False, elem_id="fifteen-damaged"
    )
    html(f'<p class="title">{words.PICTURE}</p>')
    with gr.Row(elem_id="fifteen-pictures"):
        shown = [{"name": e.name, "thumbnail": e.thumbnail} for e in examples]
        start = {"chosen": first, "locked": False}
        thumbs = _html("thumbs", start, _THUMBNAILS, examples=shown)
        picture = picture_input(
            sources=["upload"],
            show_label=False,
            label=words.UPLOAD,
            alt_text=words.UPLOAD,
            placeholder=words.UPLOAD,
            buttons=[],
            height=44,
            elem_id="fifteen-own",
        )
    return thumbs, picture, damaged


def _html(part: str, value: Any, template: str, **props: Any) -> gr.HTML:
    """A part of the page, kept up to date by its script."""
    return html(
        value,
        html_template=template,
        scripts=["shared/radios", "fifteen/fifteen"],
        elem_id=f"fifteen-{part}",
        part=part,
        **props,
    )


def _connect_inputs(
    page: gr.Blocks, handlers: FifteenHandlers, components: FifteenComponents
) -> None:
    inputs, outputs = components.inputs, components.outputs

    def pick(event: gr.EventData, request: gr.Request, *asked: Any) -> Update:
        """An example takes the place of an upload."""
        name = picked(event, "name")
        update = handlers.preview(str(request.session_hash), None, name, *asked[2:])
        chosen = {components.picture: None, components.chosen: name, components.damaged: False}
        return update | chosen

    preview = for_visitor(handlers.preview)
    components.thumbs.select(pick, inputs, outputs, **LIGHT)
    page.load(preview, inputs, outputs, **LIGHT)
    changes = (
        components.picture.upload,
        components.picture.clear,
        components.damaged.input,
        components.severity.input,
        components.method.input,
    )
    for change in changes:
        change(preview, inputs, outputs, trigger_mode="always_last", **LIGHT)
