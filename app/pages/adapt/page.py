"""The page Try it: one picture, damaged and repaired."""

from __future__ import annotations

from html import escape
from typing import Any

import gradio as gr

from app.pages.adapt.input_card import input_card
from app.pages.adapt.screen import screen
from app.pages.adapt.try_handlers import TryComponents, connect_try
from app.parts.examples import load_examples
from app.parts.files import add_json
from app.parts.html import html
from app.parts.marks import mark
from app.parts.pictures import data_uri
from app.presets.store import Preset, Presets
from app.runs.run_value import blank_value, run_value
from app.runs.session import Session
from app.server.queue_position import LOOK_INTERVAL, QueuePositions
from app.words.common import PRESET_WORDS
from app.words.screen import SCREEN_WORDS
from dga.titles import short


def adapt_page(
    session: Session, demo: gr.Blocks, line: QueuePositions, opens: dict[str, bytes]
) -> tuple[str]:
    """Lay the page out and connect it. Returns the sentence that it opens with, as HTML.

    The run that it asks for then goes into ``opens`` as JSON, by name.
    """
    examples = load_examples()
    presets = Presets(session, examples)
    first = next(iter(presets.all), None)
    recorded = [_example(preset) for preset in presets.all]
    with gr.Column(elem_id="main"):
        card = input_card(session, examples, recorded, presets.opening)
        notice = html("", elem_id="notice")
        run = run_value(first.state) if first else {}
        shown = screen(blank_value(session.profile) | {"opens": run and add_json(opens, run)})
    page = TryComponents(
        screen=shown,
        timer=gr.Timer(LOOK_INTERVAL, active=False),
        saved=gr.File(visible="hidden"),
        notice=notice,
        **card,
    )
    connect_try(session, demo, line, page, examples, presets)
    return (opens_with(run) if run else "",)


def opens_with(run: dict[str, Any]) -> str:
    """What the opening begins with: how a finished run's damaged picture is read, and why noise."""
    words: dict[str, Any] = SCREEN_WORDS
    shares = run["input"]["probs"]
    best = shares.index(max(shares))
    kind = "opens_wrong" if best != run["truth"] else "opens_right_first"
    said = escape(words[kind].format(label=run["classes"][best]), quote=False)
    reads, _, verdict = said.rstrip(".").rpartition(" ")
    why = words["why"]["dga-guided"].format(kind=run["classes"][run["truth"]])
    pictures = "".join(
        f'<figure class="pic of-{name}"><figcaption><span class="choose">{mark(name)}'
        f'<b>{words["short"][name]}</b></span></figcaption><p class="gloss"></p>'
        f'<div class="im"><img src="{run[key]["src"]}" alt=""></div></figure>'
        for name, key in (("clean", "clean"), ("damaged", "input"))
    )
    return (
        f'<div class="try"><div class="say"><h1>{reads} <b class="{verdict}">{verdict}</b>.</h1>'
        f'<p class="second">{why}</p></div><div class="shots">{pictures}</div></div>'
    )


def _example(preset: Preset) -> dict[str, str]:
    """A recorded run as one of the line's examples."""
    settings = preset.state.settings
    damage = short(settings.corruption) if settings.corruption else ""
    return {
        "name": preset.name,
        "title": PRESET_WORDS["detail"].format(
            picture=preset.example.title, damage=damage, severity=settings.severity
        ),
        "lesson": preset.lesson,
        "src": data_uri(preset.state.subject.input, "JPEG"),
    }
