"""The page where one picture is adapted: its handlers and its layout."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import gradio as gr

from app.board import CARDS, Board, Card, blank_timeline
from app.cards import card_html, legend_html
from app.examples import Example, load_examples
from app.pictures import picture_input
from app.runs import Runs
from app.session import CancelledError, RunError, Session, check_settings
from app.text import CORRUPTION_NAMES, NO_CORRUPTION, SEED_HELP
from app.timeline import timeline
from dga.pipeline import Denoised

CONCURRENCY_ID = "models"
PICTURE_INTERVAL = 0.2  # seconds between two previews of a reverse process

_log = logging.getLogger(__name__)

_THUMBNAILS = """<div class="thumbs" role="group" aria-label="Example pictures">
{{#each value}}<button type="button" data-name="{{name}}" aria-label="{{name}}" title="{{name}}">
<img src="{{thumbnail}}" alt=""></button>{{/each}}</div>"""
_PICK = """element.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  window.dgaPressed(button);
  trigger("select", { name: button.dataset.name });
});
window.dgaPressed = (pressed) => element.querySelectorAll("button").forEach(
  (button) => button.setAttribute("aria-pressed", button === pressed));
window.dgaPressed(element.querySelector("button"));"""
_START = "(...a) => { a[4] = window.dga.tau(); window.dga.waiting(); return a; }"


@dataclass(frozen=True)
class Parts:
    """The components that handlers write to."""

    timeline: gr.HTML
    legend: gr.HTML
    adapt: gr.Button
    cancel: gr.Button
    cards: dict[str, gr.HTML]

    def all(self) -> list[Any]:
        """Every component that a run may change."""
        return [self.timeline, self.legend, self.adapt, self.cancel, *self.cards.values()]

    def buttons(self, running: bool) -> dict[Any, Any]:
        """While a run goes on only Cancel can be pressed."""
        return {
            self.adapt: gr.update(interactive=not running),
            self.cancel: gr.update(interactive=running),
        }

    def show(self, board: Board, cards: Iterable[str] = CARDS) -> dict[Any, Any]:
        """The board's timeline and the named cards."""
        legend = legend_html(board.subject.clean_prediction)
        return {self.timeline: board.timeline(), self.legend: legend} | {
            self.cards[name]: card_html(board.cards[name]) for name in cards
        }


def adapt_page(session: Session) -> None:
    """Lay the page out and connect it."""
    examples = load_examples()
    with gr.Row(elem_id="input"):
        picture, thumbnails = _picture_column(examples)
        with gr.Column():
            corruption = _corruption_picker()
        severity, seed, adapt, cancel = _settings_column()
    with gr.Column(elem_id="result"):
        curve = timeline(session.profile)
    legend = gr.HTML(legend_html(None), apply_default_css=False, elem_id="section")
    cards, dda_depth = _result_row(session)
    tau = gr.Number(session.profile.stopping.tau, visible=False)
    parts = Parts(curve, legend, adapt, cancel, cards)
    inputs = [picture, corruption, severity, seed, tau, dda_depth]
    _connect_run(session, parts, inputs)
    _connect_inputs(picture, thumbnails, examples, corruption, severity, dda_depth)


def _connect_run(session: Session, parts: Parts, inputs: list[Any]) -> None:
    runs = Runs()

    def run(
        picture: str | None,
        corruption: str,
        severity: int,
        seed: float,
        tau: float,
        dda_depth: int,
        request: gr.Request,
    ) -> Iterator[dict[Any, Any]]:
        """One run, as updates of the page."""
        asked = (corruption, severity, tau, seed, dda_depth)
        yield from start(session, runs, parts, picture, asked, str(request.session_hash))

    def stop(request: gr.Request) -> dict[Any, Any]:
        """Set the flag that the run looks at after every step, and show what there is."""
        buttons = parts.buttons(running=False)
        last = runs.last(str(request.session_hash))
        if last is not None and last.board.phase == "done":
            return buttons | {parts.timeline: last.board.timeline()}
        if last is None or not last.board.running:
            value = last.board.timeline() if last else blank_timeline(session.profile)
            return buttons | {parts.timeline: value | {"error": "Cancelled before it began."}}
        last.cancel.set()
        last.board.cancel()
        return buttons | parts.show(last.board)

    private = {"api_visibility": "private", "show_progress": "hidden"}
    buttons = [parts.adapt, parts.cancel]
    # The buttons change at once, also when the run itself has to wait in line.
    pressed = parts.adapt.click(
        lambda: parts.buttons(running=True), None, buttons, queue=False, **private
    )
    event = pressed.then(
        run,
        inputs,
        parts.all(),
        js=_START,
        concurrency_id=CONCURRENCY_ID,
        concurrency_limit=1,
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
    parts.cancel.click(stop, None, parts.all(), cancels=[event], queue=False, **private)


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
        board = Board(session.profile, settings, subject)
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


def _connect_inputs(
    picture: gr.Image,
    thumbnails: gr.HTML,
    examples: list[Example],
    corruption: gr.Radio,
    severity: gr.Radio,
    dda_depth: gr.Slider,
) -> None:
    paths = {example.name: example.path for example in examples}

    def pick(event: gr.EventData) -> str | None:
        return paths.get(str(event._data.get("name")))

    def allow_severity(name: str) -> dict[str, Any]:
        return gr.update(interactive=name != NO_CORRUPTION)

    light = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
    thumbnails.select(pick, None, picture, **light)
    for listen in (picture.upload, picture.clear):
        listen(None, None, None, js="() => window.dgaPressed(null)", api_visibility="private")
    corruption.input(allow_severity, corruption, severity, **light)
    dda_depth.input(
        None, dda_depth, None, js="(d) => window.dga.depth(d)", api_visibility="private"
    )


def _picture_column(examples: list[Example]) -> tuple[gr.Image, gr.HTML]:
    with gr.Column():
        gr.HTML('<p class="title">Picture</p>', apply_default_css=False)
        picture = picture_input(
            value=examples[0].path if examples else None,
            sources=["upload", "clipboard", "webcam"],
            show_label=False,
            label="Picture to adapt",
            alt_text="The chosen picture",
            buttons=[],
            height=224,
            elem_id="picture",
        )
        values = [{"name": e.name, "thumbnail": e.thumbnail} for e in examples]
        thumbnails = gr.HTML(
            values,
            html_template=_THUMBNAILS,
            js_on_load=_PICK,
            apply_default_css=False,
            elem_id="examples",
        )
    return picture, thumbnails


def _corruption_picker() -> gr.Radio:
    choices = [("Already corrupted", NO_CORRUPTION)]
    choices += [(title, name) for name, title in CORRUPTION_NAMES.items()]
    return gr.Radio(choices, value="gaussian_noise", label="Corruption", elem_id="corruption")


def _settings_column() -> tuple[gr.Radio, gr.Number, gr.Button, gr.Button]:
    with gr.Column():
        with gr.Row(elem_id="knobs"):
            severity = gr.Radio([1, 2, 3, 4, 5], value=3, label="Severity", elem_id="severity")
            seed = gr.Number(0, label="Seed", precision=0, elem_id="seed")
        gr.HTML(
            f'<p class="help">{SEED_HELP}</p>',
            apply_default_css=False,
        )
        with gr.Row(elem_id="buttons"):
            adapt = gr.Button("Adapt", variant="primary", elem_id="adapt")
            cancel = gr.Button("Cancel", interactive=False, elem_id="cancel")
    return severity, seed, adapt, cancel


def _result_row(session: Session) -> tuple[dict[str, gr.HTML], gr.Slider]:
    cards = {}
    with gr.Row(elem_id="results", equal_height=True):
        for name in CARDS:
            with gr.Column(elem_id=f"card-{name}", elem_classes="card-col"):
                cards[name] = gr.HTML(card_html(Card(name)), apply_default_css=False)
                if name == "dda":
                    dda_depth = gr.Slider(
                        1,
                        session.profile.schedule.steps,
                        session.profile.dda_depth,
                        step=1,
                        label="Fixed depth",
                        elem_id="dda-depth",
                    )
    return cards, dda_depth
