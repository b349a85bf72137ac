"""The page Try it: one picture, damaged and repaired."""

from __future__ import annotations

import gradio as gr

from app.pages.adapt.input_card import input_card
from app.pages.adapt.screen import screen
from app.pages.adapt.try_handlers import TryComponents, connect_try, first_value
from app.parts.examples import load_examples
from app.parts.html import html
from app.parts.pictures import data_uri
from app.presets.store import Preset, Presets
from app.runs.session import Session
from app.server.queue_position import LOOK_INTERVAL, QueuePositions
from app.words.common import PRESET_WORDS
from dga.titles import short


def adapt_page(session: Session, demo: gr.Blocks, line: QueuePositions) -> None:
    """Lay the page out and connect it."""
    examples = load_examples()
    presets = Presets(session, examples)
    first = next(iter(presets.all), None)
    opening = (presets.example(first), first.settings) if first else None
    recorded = [_example(presets, preset) for preset in presets.all]
    with gr.Column(elem_id="main"):
        card = input_card(session, examples, recorded, opening)
        notice = html("", elem_id="notice")
        shown = screen(first_value(presets, session.profile))
    page = TryComponents(
        screen=shown,
        timer=gr.Timer(LOOK_INTERVAL, active=False),
        saved=gr.File(visible="hidden"),
        notice=notice,
        **vars(card),
    )
    connect_try(session, demo, line, page, examples, presets)


def _example(presets: Presets, preset: Preset) -> dict[str, str]:
    """A recorded run as one of the line's examples."""
    settings = preset.settings
    damage = short(settings.corruption) if settings.corruption else ""
    title = presets.example(preset).title
    return {
        "name": preset.name,
        "title": PRESET_WORDS["detail"].format(
            picture=title, damage=damage, severity=settings.severity
        ),
        "lesson": preset.lesson,
        "src": data_uri(presets.picture(preset), "JPEG"),
    }
