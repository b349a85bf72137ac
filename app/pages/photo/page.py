"""Photo: layout, and what its parts ask the handlers."""

from __future__ import annotations

from functools import partial
from typing import Any

import gradio as gr
from PIL import Image

from app.pages.photo.handlers import PhotoComponents, PhotoHandlers
from app.pages.photo.value import MARKS, lines, note, photo_value
from app.parts.examples import load_photographs
from app.parts.files import add_file, add_json
from app.parts.html import LIGHT, PRIVATE, SAVE, for_event, for_visitor, html, rendered
from app.parts.pictures import data_uri, encoded
from app.presets import photo as recorded
from app.runs.damage import BRUSHES, MAX_POINTS, NONE, RAMP, SIZES, STRENGTHS, STROKES
from app.runs.photo import DEEPEST, LOOKS, SURVEY
from app.runs.session import Session
from app.server.limits import MAX_STROKES
from app.server.queue_position import LOOK_INTERVAL, QueuePositions
from app.words import photo as words
from dga.corruptions import CORRUPTIONS, SEVERITIES
from dga.data.uploads import MAX_BYTES
from dga.images import Pixels, to_pixels, to_square
from dga.titles import title

PLAIN = {NONE: "already", STROKES: "two", RAMP: "ramp"}  # kinds of damage that are no corruption
SCRIPTS = tuple(f"photo/{name}" for name in ("state", "picture", "chart", "brush", "screen"))


def photo_page(
    session: Session, page: gr.Blocks, line: QueuePositions, opens: dict[str, bytes]
) -> tuple[str, str, str]:
    """Lay the page out and connect it.

    Returns the heading and the sentence that it opens with, and the picture above them as HTML.
    What it asks for goes into ``opens`` by name: a value as JSON, and the WebP files in it.
    """
    opening, pictures = recorded.load(session)
    first, file = photo_value(opening), partial(add_file, opens, "webp")
    first["pictures"] = {depth: file(content) for depth, content in pictures.items()}
    shown = {"damaged": opening.damaged, "clean": opening.clean}
    shown |= {"repaired": opening.result.image} if opening.result else {}
    first |= {name: file(encoded(pixels, "WEBP", **LOOKS)) for name, pixels in shown.items()}
    heading, most = "<br>".join(lines(opening)), MAX_BYTES // 2**20
    says = words.SCRIPT | {"own_detail": words.SCRIPT["own_detail"].format(most=most)}
    known: dict[str, Any] = {
        "words": says | words.LABELS,
        "heading": heading,
        "note": note(opening),
        "photographs": [
            (n, words.PHOTOGRAPHS[n], _thumbnail(p)) for n, p in load_photographs().items()
        ],
        "kinds": {name: title(name) for name in CORRUPTIONS},
        "severities": SEVERITIES,
        "brushes": BRUSHES,
        "sizes": SIZES,
        "strengths": STRENGTHS,
        "deepest": DEEPEST,
        "marks": MARKS,
    }
    with gr.Row(elem_id="main", elem_classes="photo"):
        with gr.Column(elem_classes="ph-column"):
            stage = html(
                {"opens": add_json(opens, first)},
                html_template=rendered("photo/stage", **known),
                scripts=SCRIPTS,
                elem_id="ph-stage",
                words=says,
                survey=list(SURVEY),
                most={"strokes": MAX_STROKES, "points": MAX_POINTS, "megabytes": most},
                db=words.DB,
                known={
                    "photo": words.PHOTOGRAPHS,
                    "damage": {kind: words.LABELS[name] for kind, name in PLAIN.items()}
                    | known["kinds"],
                    "severity": {f"{severity}": severity for severity in SEVERITIES},
                    "depth": {f"{depth}": depth for depth in range(DEEPEST + 1)},
                },
            )
        with gr.Column(elem_classes="ph-column"):
            html(rendered("photo/rail", **known), elem_id="ph-rail")
            with gr.Row(elem_id="ph-buttons"):
                run = gr.Button(words.RUN, variant="primary")
                cancel = gr.Button(words.CANCEL, interactive=False)
                html(rendered("photo/files", **known), elem_id="ph-files")
    timer = gr.Timer(LOOK_INTERVAL, active=False)
    components = PhotoComponents(stage, run, cancel, gr.File(visible="hidden"), timer)
    _connect(PhotoHandlers(session, components, line, opening))
    return heading, note(opening), rendered("photo/first", photo=first)


def _thumbnail(pixels: Pixels) -> str:
    square = to_square(Image.fromarray(pixels), 144)
    return data_uri(to_pixels(square), "JPEG")


def _connect(handlers: PhotoHandlers) -> None:
    parts = handlers.components
    stage, outputs = parts.stage, [parts.stage, parts.run, parts.cancel, parts.timer]
    begin = "() => [window.dgaPhoto.begin()]"
    run = handlers.connect([gr.Textbox(visible=False)], [stage], start=begin)
    asked = handlers.connect_more(stage.expand, handlers.single, "ask", [stage])
    stage.stop(for_visitor(handlers.stop), None, None, cancels=[asked], **LIGHT)
    show, every = for_event(handlers.show, "ask"), {"trigger_mode": "multiple"}
    shown = stage.select(show, None, outputs, cancels=[run, asked], **every, **LIGHT)
    handlers.connect_beside(shown, outputs)
    save = for_event(handlers.save, "ask")
    saved = stage.download(save, None, [parts.saved, stage], **LIGHT)
    saved.then(None, parts.saved, None, js=SAVE, **PRIVATE)
