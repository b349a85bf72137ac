"""The Board: layout, and what its parts ask the handlers."""

from __future__ import annotations

from typing import Any

import gradio as gr

from app.pages.board.handlers import SEVERITY, BoardComponents, BoardHandlers
from app.pages.board.value import board_value, headline, lead, line_value, status_value
from app.parts.examples import load_examples
from app.parts.html import LIGHT, PRIVATE, SAVE, for_event, for_visitor, html, rendered
from app.parts.marks import SIGNS, mark
from app.presets.boards import EXAMPLES, Boards
from app.runs.board import METHODS, Board
from app.runs.session import Session
from app.server.limits import MAX_OWN
from app.server.queue_position import LOOK_INTERVAL, QueuePositions
from app.words import board as words
from dga.corruptions import SEVERITIES

FILLED = ("drop", "dropped", "unsure")  # labels with numbers
_SHEET = 'watch("value", () => window.dgaBoard?.sheet?.(props.value))'
# Whoever reloads the page finds her runs again by a name that only this browser tab knows.
_OPEN = """() => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const fresh = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const token = sessionStorage.getItem("dga-board") ?? fresh;
  sessionStorage.setItem("dga-board", token);
  const told = Object.fromEntries(new URLSearchParams(location.search));
  return [JSON.stringify({ ...told, token })];
}"""


def board_page(session: Session, page: gr.Blocks, line: QueuePositions) -> tuple[str, str]:
    """Lay the page out and connect it; ``page``: the Blocks whose route is being built.

    Returns the heading and the sentence that it opens with.
    """
    examples = load_examples()
    boards = Boards(session, examples)
    # Without a recorded one the page asks for its rows when it opens.
    first = boards.find(EXAMPLES[0], SEVERITY) or Board(session.profile, EXAMPLES[0], SEVERITY, [])
    shown = {e.name: {"title": e.title, "thumbnail": e.thumbnail} for e in examples}
    kind, deepest = session.profile.classifier.classes[0], session.profile.stopping.max_depth
    filled = {"most": MAX_OWN, "kind": kind, "deepest": deepest}
    labels = words.LABELS | {name: words.LABELS[name].format(**filled) for name in FILLED}
    known: dict[str, Any] = {
        "words": labels,
        "command": words.COMMAND,
        "severities": SEVERITIES,
        "methods": {name: f"{mark(name)} {words.ATLAS_METHODS[name]}" for name in METHODS},
    }
    asked, status = gr.Textbox(visible=False), rendered("board/status")
    with gr.Row(elem_id="board-bar"):
        choices = html(
            line_value(first),
            html_template=rendered("board/line", **known),
            scripts=("board/line",),
            elem_id="board-line",
            shown=shown | {"own": {"title": words.LABELS["own"], "thumbnail": ""}},
        )
        cancel = gr.Button(words.CANCEL, interactive=False)
        start = gr.Button(words.RUN, variant="primary")
    components = BoardComponents(
        line=choices,
        status=html(status_value(first), html_template=status, elem_id="board-status"),
        screen=html(
            board_value(first),
            html_template=rendered("board/screen", **known),
            scripts=("board/screen", "board/atlas"),
            elem_id="board",
            words=labels,
            signs={"right": SIGNS["ok"], "wrong": SIGNS["bad"]},
            marks={"dda": mark("dda")},
            most=MAX_OWN,
        ),
        sheet=html({}, html_template=" ", js_on_load=_SHEET, elem_id="board-sheet"),
        run=start,
        cancel=cancel,
        saved=gr.File(visible="hidden"),
        timer=gr.Timer(LOOK_INTERVAL, active=False),
    )
    handlers = BoardHandlers(session, examples, components, line, boards)
    screen = components.screen
    written = [choices, screen, components.status]
    handlers.connect([asked], written, start="() => [window.dgaBoard.ask()]")
    outputs = [*written, components.run]
    show, drop, name, save, pictures = (
        for_event(getattr(handlers, handler), "ask")
        for handler in ("show", "drop", "name", "save", "pictures")
    )
    page.load(for_visitor(handlers.show), [asked], outputs, js=_OPEN, **LIGHT)
    choices.select(show, None, outputs, trigger_mode="always_last", **LIGHT)
    screen.upload(drop, None, outputs, **LIGHT)
    screen.edit(name, None, outputs, trigger_mode="multiple", **LIGHT)
    row = [components.sheet, components.status]
    screen.expand(pictures, None, row, trigger_mode="multiple", **LIGHT)
    saved = choices.download(save, None, [components.saved, components.status], **LIGHT)
    saved.then(None, components.saved, None, js=SAVE, **PRIVATE)
    return headline(first), lead(first)
