"""The page where one picture is adapted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import gradio as gr

from app.pages.adapt.handlers import Desk, Parts, Update
from app.pages.adapt.input_card import input_card
from app.pages.adapt.opening import Opening, notice_line
from app.pages.adapt.recorded_runs import Showcase, connect_showcase, first_board, preset_row
from app.pages.adapt.result_cards import card_html, depth_ticks, legend_html
from app.pages.adapt.takeaway import after_card, connect_after, copy_button
from app.pages.adapt.timeline import timeline
from app.parts.examples import load_examples
from app.parts.html import html
from app.presets.store import Presets
from app.runs.board import CARDS, Board, Card
from app.runs.links import Link
from app.runs.session import Session
from app.runs.visitors import Runs
from app.server.waiting_line import CONCURRENCY_ID, LOOK_INTERVAL, Line

_START = "(...a) => { a[4] = window.dga.tau(); window.dga.waiting(); return a; }"


def adapt_page(session: Session, demo: gr.Blocks, line: Line) -> None:
    """Lay the page out and connect it."""
    examples = load_examples()
    notice = notice_line()
    presets = Presets(session, examples)
    shown = next(iter(presets.all), None)
    card = input_card(session, examples, Link(shown.picture, shown.settings) if shown else None)
    first = first_board(presets)
    row = preset_row(presets)
    with gr.Column(elem_id="result"):
        copy_button()
        curve = timeline(session.profile, first.timeline() if first else None)
    clean = first.subject.clean_prediction if first else None
    legend = html(legend_html(clean), elem_id="section")
    cards, dda_depth = _result_row(session, first)
    tau = gr.Number(session.profile.stopping.tau, visible=False)
    timer = gr.Timer(LOOK_INTERVAL, active=False)
    parts = Parts(curve, legend, card.adapt, card.cancel, cards, timer)
    picture, corruption, severity, seed = card.picture, card.corruption, card.severity, card.seed
    inputs = [picture, corruption, severity, seed, tau, dda_depth, *card.advanced]
    after = after_card(session, examples)
    runs = Runs(line.address)
    ended = _connect_run(Desk(session, runs, line, parts), inputs)
    connect_after(after, runs, ended)
    opening = Opening(session, examples, card, dda_depth, curve, after.link, notice)
    connect_showcase(Showcase(presets, runs, opening, after, parts), row, demo, ended)
    dda_depth.input(
        None, dda_depth, None, js="(d) => window.dga.depth(d)", api_visibility="private"
    )


def _connect_run(desk: Desk, inputs: list[Any]) -> Mapping[str, Any]:
    """Connect the buttons; returns the events after which a run has ended."""
    parts, private = desk.parts, {"api_visibility": "private", "show_progress": "hidden"}
    buttons = [parts.adapt, parts.cancel, parts.timer]

    def press(request: gr.Request) -> Update:
        return desk.press(str(request.session_hash))

    def look(request: gr.Request) -> Update:
        return desk.look(str(request.session_hash))

    # The buttons change at once, also when the run itself has to wait in line.
    # More than once: a run that was cancelled is still pending for a moment.
    pressed = parts.adapt.click(
        press, None, buttons, queue=False, trigger_mode="multiple", **private
    )
    parts.timer.tick(look, None, buttons, queue=False, **private)
    event = _connect_models(desk, pressed, inputs, private)
    # Only what never reached the run: a full queue, a value that Gradio itself refuses.
    idle = "() => { window.dga.idle(); return []; }"
    event.failure(
        lambda: parts.buttons(running=False), None, buttons, js=idle, queue=False, **private
    )

    def cancel(request: gr.Request) -> Update:
        return desk.cancel(str(request.session_hash))

    cancelled = parts.cancel.click(
        cancel, None, parts.all(), cancels=[event], queue=False, **private
    )
    return {"run": event, "cancelled": cancelled}


def _connect_models(desk: Desk, pressed: Any, inputs: list[Any], private: dict[str, Any]) -> Any:
    """The run itself, once it is the visitor's turn."""

    def run(
        picture: str | None,
        corruption: str,
        severity: int,
        seed: float,
        tau: float,
        dda_depth: int,
        paths: int,
        scale: float,
        max_depth: int,
        rule: str,
        request: gr.Request,
    ) -> Iterator[Update]:
        """One run, as updates of the page."""
        asked = (corruption, severity, tau, seed, dda_depth, paths, scale, max_depth, rule)
        visitor = str(request.session_hash)
        with desk.line.served(visitor):
            yield from desk.run(visitor, picture, asked)

    return pressed.then(
        run,
        inputs,
        desk.parts.all(),
        js=_START,
        concurrency_id=CONCURRENCY_ID,
        concurrency_limit=1,
        trigger_mode="multiple",
        **private,
    )


def _result_row(session: Session, board: Board | None) -> tuple[dict[str, gr.HTML], gr.Slider]:
    cards = {}
    with gr.Row(elem_id="results", equal_height=True):
        for name in CARDS:
            with gr.Column(elem_id=f"card-{name}", elem_classes="card-col"):
                cards[name] = html(card_html(board.cards[name] if board else Card(name)))
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
