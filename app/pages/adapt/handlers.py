"""What a visitor asks of the page Adapt, answered as updates of it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import gradio as gr

from app.pages.adapt.result_cards import card_html, legend_html
from app.pages.run_handlers import RunHandlers, Update
from app.runs.run_state import CARDS, RunState, blank_timeline
from app.runs.session import Session
from app.runs.settings import check_settings
from app.runs.visitors import Run, Runs
from app.server.queue_position import QueuePositions, place_words
from app.words.adapt import INPUT_WORDS
from app.words.errors import NEVER_BEGAN
from dga.explanation import Scored
from dga.pipeline import Denoised

PICTURE_INTERVAL = 0.2  # seconds between two previews of a reverse process


@dataclass(frozen=True)
class AdaptComponents:
    """The components that handlers write to."""

    timeline: gr.HTML
    legend: gr.HTML
    adapt: gr.Button
    cancel: gr.Button
    cards: dict[str, gr.HTML]
    timer: gr.Timer

    def all(self) -> list[Any]:
        """Every component that a run may change."""
        return [self.timeline, self.legend, *self.buttons(), *self.cards.values()]

    def buttons(self) -> list[Any]:
        """What is locked while a run goes on, and the timer that looks at the line."""
        return [self.adapt, self.cancel, self.timer]

    def lock(self, running: bool) -> Update:
        """While a run goes on only Cancel can be pressed."""
        return {
            self.adapt: gr.update(interactive=not running, value=INPUT_WORDS["adapt"]),
            self.cancel: gr.update(interactive=running),
            self.timer: gr.Timer(active=False),
        }

    def show(self, state: RunState, cards: Iterable[str] = CARDS) -> Update:
        """The state's timeline and the named cards."""
        legend = legend_html(state.subject.clean_prediction)
        return {self.timeline: state.timeline(), self.legend: legend} | {
            self.cards[name]: card_html(state.cards[name]) for name in cards
        }


class AdaptHandlers(RunHandlers[Run]):
    """One run a visitor, in turn. ``asked``: the picture, then what ``check_settings`` takes."""

    def __init__(
        self, session: Session, runs: Runs, line: QueuePositions, components: AdaptComponents
    ) -> None:
        super().__init__(line, components.timer)
        self.session, self.runs, self.components = session, runs, components

    def lock(self, running: bool, *_: Any) -> Update:
        return self.components.lock(running)

    def wait(self, place: int) -> Update:
        said = place_words(place) if place else INPUT_WORDS["adapt"]
        adapt = gr.update(interactive=False, value=said)
        return {self.components.adapt: adapt, self.timer: gr.Timer(active=place > 0)}

    def begin(self, visitor: str, *asked: Any) -> Run:
        picture, *others = asked
        settings = check_settings(self.session.profile, *others)
        subject = self.session.subject(picture, settings)
        bound = self.session.bound(settings)
        return self.runs.put(visitor, Run(RunState(self.session.profile, settings, subject, bound)))

    def news(self, run: Run) -> Iterator[Update]:
        """News as they come, previews a few times a second."""
        state = run.state
        yield self.components.show(state)
        changed: set[str] = set()
        shown = time.monotonic()
        for event in self.session.events(state.subject.input, state.settings, run.cancel):
            changed.update(state.take(event))
            if isinstance(event, Denoised | Scored) and time.monotonic() - shown < PICTURE_INTERVAL:
                continue
            yield self.components.show(state, changed)
            changed, shown = set(), time.monotonic()

    def leave(self, run: Run) -> None:
        if run.state.running:
            run.state.cancel()

    def cancel(self, visitor: str, *_: Any) -> Update:
        waited, last = self.line.leave(visitor), self.runs.last(visitor)
        if last is not None and last.state.running:
            last.cancel.set()
            last.state.cancel()
            return self.lock(False) | self.components.show(last.state)
        ended = last is not None and last.state.phase == "done" and not waited
        return self._complain(visitor, {"error": "" if ended else NEVER_BEGAN})

    def fail(self, visitor: str, run: Run | None, sentence: str) -> Update:
        """The last run stays, dimmed, under the sentence."""
        if run is None:
            return self._complain(visitor, {"phase": "error", "error": sentence})
        run.state.fail(sentence)
        return self.components.show(run.state)

    def _complain(self, visitor: str, said: dict[str, str]) -> Update:
        last = self.runs.last(visitor)
        value = last.state.timeline() if last else blank_timeline(self.session.profile)
        return self.lock(False) | {self.components.timeline: value | said}
