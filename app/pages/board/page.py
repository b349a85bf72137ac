"""The Board: layout, and what its parts ask the handlers."""

from __future__ import annotations

import gradio as gr

from app.pages.board.handlers import SEVERITY, BoardComponents, BoardHandlers
from app.pages.board.value import board_value, status_value
from app.parts.examples import load_examples
from app.parts.html import LIGHT, PRIVATE, SAVE, for_event, for_visitor, html
from app.parts.marks import SIGNS, mark
from app.presets.boards import EXAMPLES, Boards
from app.runs.board import COLUMNS, Board
from app.runs.session import Session
from app.server.limits import MAX_OWN
from app.server.queue_position import LOOK_INTERVAL, QueuePositions
from app.words import board as words
from app.words.errors import REFUSED
from dga.corruptions import SEVERITIES

_SCRIPTS = ("board/cells", "board/board")
_LINE = """<div class="bd-what"><img alt=""><span class="bd-title"></span>
<details class="bd-change"><summary>${words.change}</summary><div class="bd-menu">
{{#each examples}}<button type="button" data-image="{{name}}">
<img src="{{thumbnail}}" alt="">{{title}}</button>{{/each}}
<button type="button" data-image="own">${words.own}</button></div></details></div>
<fieldset class="bd-segments" data-knob="severity"><legend>${words.severity}</legend>
{{#each severities}}<label><input type="radio" name="bd-severity" value="{{this}}">
<span>{{this}}</span></label>{{/each}}</fieldset>
<fieldset class="bd-segments" data-knob="order"><legend>${words.order}</legend>
{{#each orders}}<label title="{{title}}"><input type="radio" name="bd-order" value="{{name}}">
<span>{{label}}</span></label>{{/each}}</fieldset>
<button type="button" class="bd-tool" data-tool="table" disabled>${words.table}</button>
<button type="button" class="bd-tool" data-tool="zip" hidden>${words.zip}</button>"""
_STATUS = (
    '<div class="bd-status"><span class="bd-words" role="status"></span>'
    '<div class="bd-track" role="progressbar" aria-label="Progress" aria-valuemin="0" hidden>'
    '<i></i></div></div><p class="bd-error" role="alert"></p>'
)
_SCREEN = """<p class="bd-notice" role="status"></p><h1></h1><p class="bd-lead"></p>
<section class="bd-totals" aria-label="${words.right}"></section><div class="bd-panels"></div>
<p class="bd-legend"><span class="bd-badge right"></span>${words.right}
<span class="bd-badge wrong"></span>${words.wrong}<span class="bd-under">${words.under}</span></p>
<label class="bd-drop"><svg viewBox="0 0 16 16" aria-hidden="true">
<path d="M8 10.5V2.5M4.5 6L8 2.5 11.5 6M2.5 11v2.5h11V11"/></svg><span><b>${words.drop}</b>
<span class="bd-sending">${words.dropped}</span></span>
<input type="file" multiple accept="image/*"></label>
<p class="bd-command">${words.command} <code>${command}</code></p>"""
# Whoever reloads the page finds her runs again by a name that only this browser tab knows.
_OPEN = """() => {
  const told = Object.fromEntries(new URLSearchParams(location.search));
  (window.dgaBoard ??= {}).opened = true;
  let token = sessionStorage.getItem("dga-board");
  if (!token) {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    token = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    sessionStorage.setItem("dga-board", token);
  }
  return [JSON.stringify({ ...told, token })];
}"""


def board_page(session: Session, page: gr.Blocks, line: QueuePositions) -> None:
    """Lay the page out and connect it; ``page``: the Blocks whose route is being built."""
    examples = load_examples()
    boards = Boards(session, examples)
    asked = gr.Textbox(visible=False)
    shown = [{"name": e.name, "title": e.title, "thumbnail": e.thumbnail} for e in examples]
    with gr.Row(elem_id="board-bar"):
        orders = [
            {"name": name, "label": label, "title": words.ORDER_TITLES[name]}
            for name, label in words.ORDERS.items()
        ]
        html(
            html_template=_LINE,
            elem_id="board-line",
            words=words.LABELS,
            examples=shown,
            severities=list(SEVERITIES),
            orders=orders,
        )
        cancel = gr.Button(words.CANCEL, interactive=False)
        start = gr.Button(words.RUN, variant="primary")
    first = boards.find(EXAMPLES[0], SEVERITY)  # else the page asks for it when it opens
    components = BoardComponents(
        status=html(
            status_value(first) if first else None,
            html_template=_STATUS,
            scripts=("board/status",),
            elem_id="board-status",
            refused=REFUSED,
        ),
        screen=_screen(first, len(session.profile.classifier.classes)),
        run=start,
        cancel=cancel,
        saved=gr.File(visible="hidden"),
        timer=gr.Timer(LOOK_INTERVAL, active=False),
    )
    handlers = BoardHandlers(session, examples, components, line, boards)
    _connect(page, handlers, components, asked)
    handlers.connect(
        (start, cancel),
        [asked],
        components.outputs,
        told=[],
        locked=components.outputs,
        start="() => [window.dgaBoard.ask()]",
        idle="(...asked) => { window.dgaBoard.idle(); return asked; }",
    )


def _screen(first: Board | None, kinds: int) -> gr.HTML:
    known = {"most": MAX_OWN, "kinds": kinds}
    texts = {
        name: text.format(**known) for name, text in words.LABELS.items() if "{done" not in text
    }
    texts["uploading"] = words.LABELS["uploading"]
    return html(
        board_value(first) if first else None,
        html_template=_SCREEN,
        scripts=_SCRIPTS,
        elem_id="board",
        words=texts,
        columns=[{"name": n, "title": words.COLUMNS[n], "mark": mark(n)} for n in COLUMNS],
        signs={"right": SIGNS["ok"], "wrong": SIGNS["bad"]},
        most=MAX_OWN,
        command=words.COMMAND,
    )


def _connect(
    page: gr.Blocks, handlers: BoardHandlers, components: BoardComponents, asked: gr.Textbox
) -> None:
    screen, outputs = components.screen, components.outputs

    page.load(for_visitor(handlers.show), [asked], outputs, js=_OPEN, **LIGHT)
    screen.select(
        for_event(handlers.show, "ask"), None, outputs, trigger_mode="always_last", **LIGHT
    )
    screen.upload(for_event(handlers.drop, "ask", "files"), None, outputs, **LIGHT)
    renamed = for_event(handlers.name, "ask", "row", "truth")
    screen.edit(renamed, None, outputs, trigger_mode="multiple", **LIGHT)
    save = for_event(handlers.save, "ask")
    saved = screen.download(save, None, [components.saved, components.status], **LIGHT)
    saved.then(None, components.saved, None, js=SAVE, **PRIVATE)
