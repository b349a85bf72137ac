"""The page where one picture is adapted: its handlers and its layout."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from app.adapt_words import INPUT_WORDS
from app.after import after_card, connect_after
from app.board import CARDS, Board, Card, blank_timeline
from app.cards import card_html, depth_ticks, legend_html
from app.examples import load_examples
from app.input_card import input_card
from app.links import Link
from app.opening import Opening, notice_line
from app.preset_row import preset_row
from app.presets import Presets
from app.runs import Runs
from app.session import CancelledError, RunError, Session, check_settings
from app.showcase import Showcase, connect_showcase, first_board
from app.take import copy_button
from app.text import ORDINALS, WAITING_PLACE
from app.timeline import timeline
from dga.pipeline import Denoised

CONCURRENCY_ID = "models"
LINE_INTERVAL = 2.0  # seconds between two looks at the place in the line
PICTURE_INTERVAL = 0.2  # seconds between two previews of a reverse process

_log = logging.getLogger(__name__)

_START = "(...a) => { a[4] = window.dga.tau(); window.dga.waiting(); return a; }"


@dataclass(frozen=True)
class Parts:
    """The components that handlers write to."""

    timeline: gr.HTML
    legend: gr.HTML
    adapt: gr.Button
    cancel: gr.Button
    cards: dict[str, gr.HTML]
    line: gr.Timer

    def all(self) -> list[Any]:
        """Every component that a run may change."""
        buttons = [self.adapt, self.cancel, self.line]
        return [self.timeline, self.legend, *buttons, *self.cards.values()]

    def buttons(self, running: bool, place: int = 0) -> dict[Any, Any]:
        """While a run goes on only Cancel can be pressed; ``place``: in the line, 0 for none."""
        said = INPUT_WORDS["adapt"]
        if place:
            said = WAITING_PLACE.format(place=ORDINALS.get(place, f"{place}th"))
        return {
            self.adapt: gr.update(interactive=not running, value=said),
            self.cancel: gr.update(interactive=running),
            self.line: gr.Timer(active=place > 0),
        }

    def show(self, board: Board, cards: Iterable[str] = CARDS) -> dict[Any, Any]:
        """The board's timeline and the named cards."""
        legend = legend_html(board.subject.clean_prediction)
        return {self.timeline: board.timeline(), self.legend: legend} | {
            self.cards[name]: card_html(board.cards[name]) for name in cards
        }


def adapt_page(session: Session, demo: gr.Blocks) -> None:
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
    legend = gr.HTML(legend_html(clean), apply_default_css=False, elem_id="section")
    cards, dda_depth = _result_row(session, first)
    tau = gr.Number(session.profile.stopping.tau, visible=False)
    line = gr.Timer(LINE_INTERVAL, active=False)
    parts = Parts(curve, legend, card.adapt, card.cancel, cards, line)
    picture, corruption, severity, seed = card.picture, card.corruption, card.severity, card.seed
    inputs = [picture, corruption, severity, seed, tau, dda_depth, *card.advanced]
    after = after_card(session, examples)
    runs = Runs()
    ended = _connect_run(session, runs, parts, inputs)
    connect_after(after, runs, ended)
    opening = Opening(session, examples, card, dda_depth, curve, after.link, notice)
    connect_showcase(Showcase(presets, runs, opening, after, parts), row, demo, ended)
    dda_depth.input(
        None, dda_depth, None, js="(d) => window.dga.depth(d)", api_visibility="private"
    )


def _connect_run(
    session: Session, runs: Runs, parts: Parts, inputs: list[Any]
) -> Mapping[str, Any]:
    """Connect the buttons; returns the events after which a run has ended."""

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
    ) -> Iterator[dict[Any, Any]]:
        """One run, as updates of the page."""
        asked = (corruption, severity, tau, seed, dda_depth, paths, scale, max_depth, rule)
        visitor = str(request.session_hash)
        with runs.served(visitor):
            yield from start(session, runs, parts, picture, asked, visitor)

    def stop(request: gr.Request) -> dict[Any, Any]:
        return _stop(session, runs, parts, str(request.session_hash))

    def press(request: gr.Request) -> dict[Any, Any]:
        return parts.buttons(running=True, place=runs.wait(str(request.session_hash)))

    def look(request: gr.Request) -> dict[Any, Any]:
        """The place in the line, for those who are in it: the run itself says the rest."""
        place = runs.place(str(request.session_hash))
        return parts.buttons(True, place) if place else {parts.line: gr.Timer(active=False)}

    return _connect_buttons(parts, inputs, run, stop, press, look)


def _connect_buttons(
    parts: Parts,
    inputs: list[Any],
    run: Callable[..., Any],
    stop: Callable[..., Any],
    press: Callable[..., Any],
    look: Callable[..., Any],
) -> Mapping[str, Any]:
    private = {"api_visibility": "private", "show_progress": "hidden"}
    buttons = [parts.adapt, parts.cancel, parts.line]
    # The buttons change at once, also when the run itself has to wait in line.
    # More than once: a run that was cancelled is still pending for a moment.
    pressed = parts.adapt.click(
        press, None, buttons, queue=False, trigger_mode="multiple", **private
    )
    parts.line.tick(look, None, buttons, queue=False, **private)
    event = pressed.then(
        run,
        inputs,
        parts.all(),
        js=_START,
        concurrency_id=CONCURRENCY_ID,
        concurrency_limit=1,
        trigger_mode="multiple",
        **private,
    )
    # Only what never reached the run: a full queue, a value that Gradio itself refuses.
    event.failure(
        lambda: parts.buttons(running=False),
        None,
        buttons,
        js="() => { window.dga.idle(); return []; }",
        queue=False,
        **private,
    )
    cancelled = parts.cancel.click(stop, None, parts.all(), cancels=[event], queue=False, **private)
    return {"run": event, "cancelled": cancelled}


def _stop(session: Session, runs: Runs, parts: Parts, visitor: str) -> dict[Any, Any]:
    """Set the flag that the run looks at after every step, and show what there is."""
    buttons = parts.buttons(running=False)
    waited, last = runs.leave(visitor), runs.last(visitor)
    if last is not None and last.board.running:
        last.cancel.set()
        last.board.cancel()
        return buttons | parts.show(last.board)
    value = last.board.timeline() if last else blank_timeline(session.profile)
    ended = last is not None and last.board.phase == "done" and not waited
    error = "" if ended else "Cancelled before it began."
    return buttons | {parts.timeline: value | {"error": error}}


def start(
    session: Session,
    runs: Runs,
    parts: Parts,
    picture: str | None,
    asked: tuple[object, ...],
    visitor: str,
) -> Iterator[dict[Any, Any]]:
    """Check, prepare and run; whatever goes wrong becomes one sentence on the page."""
    yield parts.buttons(running=True)
    board: Board | None = None
    try:
        settings = check_settings(session.profile, *asked)
        subject = session.subject(picture, settings)
        board = Board(session.profile, settings, subject, session.bound(settings))
        running = runs.start(visitor, board)
        yield parts.show(board)
        changed: set[str] = set()
        shown = time.monotonic()
        for event in session.events(subject.input, settings, running.cancel):
            changed.update(board.take(event))
            if isinstance(event, Denoised) and time.monotonic() - shown < PICTURE_INTERVAL:
                continue
            yield parts.show(board, changed)
            changed, shown = set(), time.monotonic()
        yield parts.buttons(running=False)
    except CancelledError:
        yield parts.buttons(running=False)
    except (ValueError, RunError, OSError, FloatingPointError) as error:
        yield _failed(session, runs, parts, board, visitor, str(error))
    except Exception:
        _log.exception("A run failed")
        sentence = "The run failed unexpectedly; the server's log says why. Please try again."
        yield _failed(session, runs, parts, board, visitor, sentence)


def _failed(
    session: Session, runs: Runs, parts: Parts, board: Board | None, visitor: str, sentence: str
) -> dict[Any, Any]:
    """The last run stays, dimmed, under a sentence that says what to do."""
    buttons = parts.buttons(running=False)
    if board is not None:
        board.fail(sentence)
        return buttons | parts.show(board)
    last = runs.last(visitor)
    value = last.board.timeline() if last else blank_timeline(session.profile)
    return buttons | {parts.timeline: value | {"phase": "error", "error": sentence}}


def _result_row(session: Session, board: Board | None) -> tuple[dict[str, gr.HTML], gr.Slider]:
    cards = {}
    with gr.Row(elem_id="results", equal_height=True):
        for name in CARDS:
            with gr.Column(elem_id=f"card-{name}", elem_classes="card-col"):
                cards[name] = gr.HTML(
                    card_html(board.cards[name] if board else Card(name)), apply_default_css=False
                )
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
                    gr.HTML(
                        depth_ticks(session.profile), apply_default_css=False, elem_id="dda-ticks"
                    )
    return cards, dda_depth
