"""The page where one picture meets all fifteen corruptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr

from app.pages.fifteen.cards import grid_value, heading_html, note_html, status_value
from app.pages.fifteen.handlers import Desk, Parts, Update
from app.pages.fifteen.sheet import Sheet, check_choice
from app.parts.examples import Example, load_examples
from app.parts.html import LIGHT, PRIVATE, html
from app.parts.pictures import picture_input
from app.runs.session import Session
from app.server.strict_blocks import picked
from app.server.waiting_line import CONCURRENCY_ID, LOOK_INTERVAL, Line
from app.words import fifteen as words
from app.words.errors import REFUSED

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


def fifteen_page(session: Session, page: gr.Blocks, line: Line) -> None:
    """Lay the page out and connect it; ``page``: the Blocks whose route is being built."""
    examples = load_examples()
    parts = _layout(session, examples)
    desk = Desk(session, {example.name: example.path for example in examples}, parts, line)
    _connect_inputs(page, desk, parts)
    _connect_run(desk, parts)


def _layout(session: Session, examples: list[Example]) -> Parts:
    first = examples[0].name
    paths = {example.name: example.path for example in examples}
    blank = Sheet(
        session.profile,
        check_choice(session.profile, paths, None, first, False, SEVERITY, "dga-guided"),
    )
    head = _html("head", heading_html(blank), _HEAD)
    with gr.Row(elem_id="fifteen-controls"):
        with gr.Column(elem_id="fifteen-source"):
            thumbs, picture, damaged = _picture_column(examples, first)
        severity = gr.Radio(
            [1, 2, 3, 4, 5],
            value=3,
            label=words.SEVERITY,
            elem_classes="segments",
            elem_id="fifteen-severity",
        )
        choices = [(title, name) for name, title in words.METHODS.items()]
        method = gr.Radio(
            choices,
            value="dga-guided",
            label=words.METHOD,
            elem_classes="segments",
            elem_id="fifteen-method",
        )
        with gr.Row(elem_id="fifteen-buttons"):
            cancel = gr.Button(words.CANCEL, interactive=False)
            run = gr.Button(words.RUN, variant="primary")
    with gr.Row(elem_id="fifteen-bar"):
        status = _html("status", status_value(blank), _STATUS, refused=REFUSED)
        _order_choice()
        table = gr.Button(words.TABLE, interactive=False, elem_id="fifteen-table")
        table.click(None, js="() => window.dgaFifteen.table()", api_visibility="private")
    grid = _html("grid", grid_value(blank), _GRID)
    note = html(note_html(blank), elem_id="fifteen-note")
    chosen = gr.Textbox(first, visible=False)
    return Parts(
        head, thumbs, chosen, picture, damaged, severity, method, run, cancel, status, table,
        grid, note, gr.Timer(LOOK_INTERVAL, active=False),
    )  # fmt: skip


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


def _order_choice() -> None:
    choices = [(title, name) for name, title in words.ORDERS.items()]
    order = gr.Radio(
        choices,
        value="family",
        label=words.ORDER,
        elem_classes="segments",
        elem_id="fifteen-order",
    )
    order.input(
        None, order, None, js="(o) => window.dgaFifteen.arrange(o)", api_visibility="private"
    )


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


def _connect_inputs(page: gr.Blocks, desk: Desk, parts: Parts) -> None:
    def pick(event: gr.EventData, request: gr.Request, *asked: Any) -> Update:
        """An example takes the place of an upload."""
        name = picked(event, "name")
        update = desk.preview(str(request.session_hash), None, name, *asked[2:])
        return update | {parts.picture: None, parts.chosen: name, parts.damaged: False}

    def preview(request: gr.Request, *asked: Any) -> Update:
        return desk.preview(str(request.session_hash), *asked)

    parts.thumbs.select(pick, parts.inputs, parts.outputs, **LIGHT)
    page.load(preview, parts.inputs, parts.outputs, **LIGHT)
    changes = (
        parts.picture.upload,
        parts.picture.clear,
        parts.damaged.input,
        parts.severity.input,
        parts.method.input,
    )
    for change in changes:
        change(preview, parts.inputs, parts.outputs, trigger_mode="always_last", **LIGHT)


def _connect_run(desk: Desk, parts: Parts) -> None:
    def press(request: gr.Request, *asked: Any) -> Update:
        return desk.press(str(request.session_hash), *asked)

    def look(request: gr.Request) -> Update:
        return desk.look(str(request.session_hash))

    def run(request: gr.Request, *asked: Any) -> Iterator[Update]:
        visitor = str(request.session_hash)
        with desk.line.served(visitor):
            yield from desk.run(visitor, *asked)

    def cancel(request: gr.Request, *asked: Any) -> Update:
        return desk.cancel(str(request.session_hash), *asked)

    def free(request: gr.Request, *asked: Any) -> Update:
        """The news of a cancelled run may come when the next one has begun."""
        sheet = desk.sheets.last(str(request.session_hash))
        return parts.lock(sheet is not None and sheet.running, asked[0], asked[1])

    pressed = parts.run.click(press, parts.inputs, parts.outputs, **LIGHT)
    parts.timer.tick(look, None, [parts.status, parts.timer], **LIGHT)
    event = pressed.then(
        run,
        parts.inputs,
        parts.outputs,
        concurrency_id=CONCURRENCY_ID,
        concurrency_limit=1,
        trigger_mode="multiple",  # else a run is dropped while the page still cancels the last
        **PRIVATE,
    )
    # What was cancelled, and what never reached the run: a full queue, a refused value.
    idle = "(...asked) => { window.dgaFifteen.idle(); return asked; }"
    event.failure(free, parts.inputs, parts.outputs, js=idle, **LIGHT)
    parts.cancel.click(cancel, parts.inputs, parts.outputs, cancels=[event], **LIGHT)
