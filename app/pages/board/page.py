"""The Board: layout, and what its parts ask the handlers."""

from __future__ import annotations

import gradio as gr

from app.pages.board.handlers import SEVERITY, BoardComponents, BoardHandlers
from app.pages.board.value import board_value, headline, lead, line_value, status_value
from app.parts.examples import load_examples
from app.parts.html import LIGHT, PRIVATE, SAVE, for_event, for_visitor, html
from app.parts.marks import SIGNS, mark
from app.presets.boards import EXAMPLES, Boards
from app.runs.board import METHODS, Board
from app.runs.session import Session
from app.server.limits import MAX_OWN
from app.server.queue_position import LOOK_INTERVAL, QueuePositions
from app.words import board as words
from dga.corruptions import SEVERITIES
from dga.titles import SYSTEMS

FILLED = ("drop", "dropped", "unsure")  # labels with numbers
_LINE = """<div class="bd-what">
${value.image === "own" ? "" : `<img src="${shown[value.image].thumbnail}" alt="">`}
<span><b>${shown[value.image].title}</b>${value.image === "own" ? "" : words.detail}</span>
<details class="bd-change"><summary>${words.change}</summary><div class="bd-menu">
${Object.entries(shown).map(([name, { title, thumbnail }]) => `
<button type="button" data-image="${name}" aria-pressed="${name === value.image}"
${value.running ? "disabled" : ""}>
${thumbnail && `<img src="${thumbnail}" alt="">`}${title}</button>
`).join("")}</div></details></div>
<fieldset class="bd-segments" ${value.running ? "disabled" : ""}>
<legend class="hidden-words">${words.view}</legend>
<label><input type="radio" name="bd-view" value=""><span>${words.pictures}</span></label>
<label><input type="radio" name="bd-view" value="atlas"><span>${words.atlas}</span></label>
</fieldset>
<fieldset class="bd-segments" ${value.running ? "disabled" : ""} ${value.severity ? "" : "hidden"}>
<legend>${words.severity}</legend>
{{#each severities}}<label><input type="radio" name="bd-severity" value="{{this}}">
<span>{{this}}</span></label>{{/each}}</fieldset>
<fieldset class="bd-segments" ${value.running ? "disabled" : ""} ${value.method ? "" : "hidden"}>
<legend class="hidden-words">${words.method}</legend>
${Object.entries(methods).map(([name, label]) => `<label class="of-${name}">
<input type="radio" name="bd-method" value="${name}"><span>${label}</span></label>`).join("")}
</fieldset><button type="button" class="bd-tool" data-file="csv"
${value.files ? "" : "disabled"}>${words.table}</button>
<button type="button" class="bd-tool" data-file="zip"
${value.files ? "" : "disabled"}
${value.image === "own" && !value.method ? "" : "hidden"}>${words.zip}</button>"""
_STATUS = """<div class="bd-status"><span class="bd-words" role="status">${value.words}</span>
<progress aria-label="Progress"
value="${value.progress?.[0] ?? 0}" max="${value.progress?.[1] ?? 1}"
${value.progress ? "" : "hidden"}></progress></div>
<p class="bd-error" role="alert">${new Option(value.error).innerHTML}</p>"""
_SCREEN = """<div>${window.dgaBoard?.drawn?.(value) ?? ""}</div>
<p class="bd-legend" ${value.rows.length && !value.method ? "" : "hidden"}>
<span class="bd-badge right"></span>${words.right}
<span class="bd-badge wrong"></span>${words.wrong}<span class="bd-under">${words.under}</span></p>
<label class="bd-drop"><svg viewBox="0 0 16 16" aria-hidden="true">
<path d="M8 10.5V2.5M4.5 6L8 2.5 11.5 6M2.5 11v2.5h11V11"/></svg><span><b>${words.drop}</b>
<span class="bd-sending">${words.dropped}</span></span>
<input type="file" multiple accept="image/*" ${value.running ? "disabled" : ""}></label>
<p class="bd-command" ${value.image === "own" ? "" : "hidden"}>${words.command}
<code>${command}</code></p>"""
_SHEET = 'watch("value", () => window.dgaBoard?.sheet?.(props.value))'
# Whoever reloads the page finds her runs again by a name that only this browser tab knows.
_OPEN = """() => {
  const told = Object.fromEntries(new URLSearchParams(location.search));
  let token = sessionStorage.getItem("dga-board");
  if (!token) {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    token = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    sessionStorage.setItem("dga-board", token);
  }
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
    known = {"most": MAX_OWN, "kinds": len(session.profile.classifier.classes)}
    known["deepest"] = session.profile.stopping.max_depth
    asked = gr.Textbox(visible=False)
    with gr.Row(elem_id="board-bar"):
        choices = html(
            line_value(first),
            html_template=_LINE,
            scripts=("board/line",),
            elem_id="board-line",
            words=words.LABELS,
            shown=shown | {"own": {"title": words.LABELS["own"], "thumbnail": ""}},
            severities=list(SEVERITIES),
            methods={name: f"{mark(name)} {SYSTEMS[name]}" for name in METHODS},
        )
        cancel = gr.Button(words.CANCEL, interactive=False)
        start = gr.Button(words.RUN, variant="primary")
    components = BoardComponents(
        line=choices,
        status=html(status_value(first), html_template=_STATUS, elem_id="board-status"),
        screen=html(
            board_value(first),
            html_template=_SCREEN,
            scripts=("board/screen", "board/atlas"),
            elem_id="board",
            words=words.LABELS | {name: words.LABELS[name].format(**known) for name in FILLED},
            signs={"right": SIGNS["ok"], "wrong": SIGNS["bad"]},
            marks={"dda": mark("dda")},
            most=MAX_OWN,
            command=words.COMMAND,
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
