"""Photo: layout, and what its parts ask the handlers."""

from __future__ import annotations

from html import escape
from typing import Any

import gradio as gr

from app.pages.photo.handlers import PhotoComponents, PhotoHandlers
from app.pages.photo.value import lines, note, photo_value
from app.parts.html import LIGHT, PRIVATE, SAVE, event_field, for_event, for_visitor, html, rendered
from app.parts.marks import SIGNS, mark
from app.parts.photographs import load_photographs
from app.parts.pictures import uri
from app.presets import photo as recorded
from app.runs.damage import MAX_POINTS, SIZES, STRENGTHS
from app.runs.photo import DEEPEST, SURVEY
from app.runs.session import Session
from app.server.gate import FIRST_PHOTO
from app.server.limits import MAX_STROKES
from app.server.queue_position import CONCURRENCY_ID, LOOK_INTERVAL, QueuePositions
from app.words import photo as words
from dga.corruptions import CORRUPTIONS, SEVERITIES
from dga.data.uploads import MAX_BYTES
from dga.titles import title

_SCRIPTS = tuple(f"photo/{name}" for name in ("state", "picture", "chart", "brush", "screen"))
_FILLED = ("each", "single", "single_unknown", "single_waits")
_MEGABYTES = MAX_BYTES // 2**20
_NEWS = """watch("value", () => window.dgaPhoto?.news(props.value));"""


def photo_page(
    session: Session, page: gr.Blocks, line: QueuePositions
) -> tuple[str, str, dict[str, Any]]:
    """Lay the page out and connect it.

    Returns the heading and the sentence that it opens with, and the value that it asks for first.
    """
    opening, pictures = recorded.load(session)
    own = words.LABELS["own_detail"].format(most=_MEGABYTES)
    known: dict[str, Any] = {
        "words": words.LABELS | {"own_detail": own},
        "lines": lines(opening),
        "note": note(opening),
        "photographs": load_photographs().values(),
        "kinds": {name: title(name) for name in CORRUPTIONS},
        "severities": SEVERITIES,
        "sizes": SIZES,
        "strengths": STRENGTHS,
        "deepest": DEEPEST,
        "marks": {"each": mark("dga-plus"), "one": mark("dda")},
    }
    with gr.Row(elem_id="main", elem_classes="photo"):
        with gr.Column(elem_classes="ph-column"):
            stage = html(
                {"opens": FIRST_PHOTO},
                html_template=_plain("stage", known),
                scripts=_SCRIPTS,
                elem_id="ph-stage",
                words=known["words"] | {name: words.HEADINGS[name] for name in _FILLED},
                marks=known["marks"],
                tick=SIGNS["ok"],
                survey=list(SURVEY),
                most={"strokes": MAX_STROKES, "points": MAX_POINTS, "megabytes": _MEGABYTES},
                db=words.DB,
            )
            html(_plain("chart", known), elem_id="ph-chart")
        with gr.Column(elem_classes="ph-column"):
            html(_plain("said", known), elem_id="ph-said")
            html(_plain("rail", known), elem_id="ph-rail")
            with gr.Row(elem_id="ph-buttons"):
                run = gr.Button(words.RUN, variant="primary")
                cancel = gr.Button(words.CANCEL, interactive=False)
                html(_plain("files", known), elem_id="ph-files")
    panel = gr.HTML({}, html_template=" ", js_on_load=_NEWS, elem_id="ph-news")
    components = PhotoComponents(
        stage=stage,
        panel=panel,
        run=run,
        cancel=cancel,
        saved=gr.File(visible="hidden"),
        timer=gr.Timer(LOOK_INTERVAL, active=False),
    )
    _connect(PhotoHandlers(session, components, line, opening), line)
    first = photo_value(opening)
    first["pictures"] = {depth: uri(content, "webp") for depth, content in pictures.items()}
    heading = "<br>".join(escape("".join(said[:3]), quote=False) for said in lines(opening))
    return heading, note(opening), first


def _plain(name: str, known: dict[str, Any]) -> str:
    return rendered(f"photo/{name}", **known)


def _connect(handlers: PhotoHandlers, line: QueuePositions) -> None:
    parts = handlers.components
    stage = parts.stage
    handlers.connect([gr.Textbox(visible=False)], [stage], start="() => [window.dgaPhoto.begin()]")
    show, save = for_event(handlers.show, "ask"), for_event(handlers.save, "ask")
    outputs = [stage, parts.run, parts.cancel, parts.timer]
    stage.select(show, None, outputs, trigger_mode="always_last", **LIGHT)

    def single(event: gr.EventData, request: gr.Request) -> Any:
        visitor = str(request.session_hash)
        with line.served(visitor):
            yield from handlers.single(visitor, event_field(event, "ask"))

    asked = stage.expand(
        single,
        None,
        parts.panel,
        concurrency_id=CONCURRENCY_ID,
        concurrency_limit=1,
        trigger_mode="multiple",
        **PRIVATE,
    )
    stage.stop(for_visitor(handlers.stop), None, parts.saved, cancels=[asked], **LIGHT)
    saved = stage.download(save, None, [parts.saved, stage], **LIGHT)
    saved.then(None, parts.saved, None, js=SAVE, **PRIVATE)
