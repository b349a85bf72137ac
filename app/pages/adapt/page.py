"""The page where one picture is adapted."""

from __future__ import annotations

import gradio as gr

from app.pages.adapt.handlers import AdaptComponents, AdaptHandlers
from app.pages.adapt.input_card import input_card
from app.pages.adapt.opening import Opening, notice_line
from app.pages.adapt.recorded_runs import (
    RecordedRuns,
    connect_recorded_runs,
    first_state,
    preset_row,
)
from app.pages.adapt.result_cards import card_html, depth_ticks, legend_html
from app.pages.adapt.takeaway import connect_after, copy_button, result_actions
from app.pages.adapt.timeline import timeline
from app.parts.examples import load_examples
from app.parts.html import PRIVATE, html
from app.presets.store import Presets
from app.runs.links import Link
from app.runs.run_state import CARDS, Card, RunState
from app.runs.session import Session
from app.runs.visitors import Runs
from app.server.queue_position import LOOK_INTERVAL, QueuePositions

_START = "(...a) => { a[3] = window.dga.tau(); window.dga.waiting(); return a; }"


def adapt_page(session: Session, demo: gr.Blocks, line: QueuePositions) -> None:
    """Lay the page out and connect it."""
    examples = load_examples()
    notice = notice_line()
    presets = Presets(session, examples)
    shown = next(iter(presets.all), None)
    card = input_card(session, examples, Link(shown.picture, shown.settings) if shown else None)
    first = first_state(presets)
    row = preset_row(presets)
    with gr.Column(elem_id="result"):
        copy_button()
        curve = timeline(session.profile, first.timeline() if first else None)
    clean = first.subject.clean_prediction if first else None
    legend = html(legend_html(clean), elem_id="section")
    cards, dda_depth = _result_row(session, first)
    tau = gr.Number(session.profile.stopping.tau, visible=False)
    timer = gr.Timer(LOOK_INTERVAL, active=False)
    components = AdaptComponents(curve, legend, card.adapt, card.cancel, cards, timer)
    chosen = [card.picture, card.corruption, card.severity, tau, card.seed]
    after = result_actions(session, examples)
    runs = Runs(line.address)
    ended = AdaptHandlers(session, runs, line, components).connect(
        (card.adapt, card.cancel),
        [*chosen, dda_depth, *card.advanced],  # in the order of check_settings
        components.all(),
        locked=components.buttons(),
        start=_START,
        idle="() => { window.dga.idle(); return []; }",
        trigger_mode="multiple",  # a run that was cancelled is still pending for a moment
    )
    connect_after(after, runs, ended)
    opening = Opening(session, examples, card, dda_depth, curve, after.link, notice)
    connect_recorded_runs(RecordedRuns(presets, runs, opening, after, components), row, demo, ended)
    dda_depth.input(None, dda_depth, None, js="(d) => window.dga.depth(d)", **PRIVATE)


def _result_row(session: Session, state: RunState | None) -> tuple[dict[str, gr.HTML], gr.Slider]:
    cards = {}
    with gr.Row(elem_id="results", equal_height=True):
        for name in CARDS:
            with gr.Column(elem_id=f"card-{name}", elem_classes="card-col"):
                cards[name] = html(card_html(state.cards[name] if state else Card(name)))
                if name == "dda":
                    dda_depth = gr.Slider(
                        1,
                        session.profile.schedule.steps,
                        session.profile.dda_depth,
                        step=1,
                        label="Fixed depth",
                        elem_id="dda-depth",
                        elem_classes="knob",
                    )
                    html(depth_ticks(session.profile), elem_id="dda-ticks")
    return cards, dda_depth
