"""What a visitor asks of the page Adapt, answered as updates of it."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import gradio as gr

from app.pages.adapt.result_cards import card_html, legend_html
from app.runs.board import CARDS, Board, blank_timeline
from app.runs.session import CancelledError, Session
from app.runs.settings import check_settings
from app.runs.visitors import Run, Runs
from app.server.errors import SENTENCES
from app.server.waiting_line import Line, place_words
from app.words.adapt import INPUT_WORDS
from app.words.errors import FAILED, NEVER_BEGAN
from dga.pipeline import Denoised

PICTURE_INTERVAL = 0.2  # seconds between two previews of a reverse process

_log = logging.getLogger(__name__)
Update = dict[Any, Any]


@dataclass(frozen=True)
class Parts:
    """The components that handlers write to."""

    timeline: gr.HTML
    legend: gr.HTML
    adapt: gr.Button
    cancel: gr.Button
    cards: dict[str, gr.HTML]
    timer: gr.Timer

    def all(self) -> list[Any]:
        """Every component that a run may change."""
        buttons = [self.adapt, self.cancel, self.timer]
        return [self.timeline, self.legend, *buttons, *self.cards.values()]

    def buttons(self, running: bool, place: int = 0) -> Update:
        """While a run goes on only Cancel can be pressed; ``place``: in the line, 0 for none."""
        said = place_words(place) if place else INPUT_WORDS["adapt"]
        return {
            self.adapt: gr.update(interactive=not running, value=said),
            self.cancel: gr.update(interactive=running),
            self.timer: gr.Timer(active=place > 0),
        }

    def show(self, board: Board, cards: Iterable[str] = CARDS) -> Update:
        """The board's timeline and the named cards."""
        legend = legend_html(board.subject.clean_prediction)
        return {self.timeline: board.timeline(), self.legend: legend} | {
            self.cards[name]: card_html(board.cards[name]) for name in cards
        }


@dataclass(frozen=True)
class Desk:
    """One run a visitor, in turn."""

    session: Session
    runs: Runs
    line: Line
    parts: Parts

    def press(self, visitor: str) -> Update:
        """At once, also when the run itself has to wait."""
        return self.parts.buttons(running=True, place=self.line.wait(visitor))

    def look(self, visitor: str) -> Update:
        """The place in the line, for those who are in it: the run itself says the rest."""
        place = self.line.place(visitor)
        return (
            self.parts.buttons(True, place) if place else {self.parts.timer: gr.Timer(active=False)}
        )

    def run(self, visitor: str, picture: str | None, asked: tuple[object, ...]) -> Iterator[Update]:
        """One run; whatever goes wrong becomes one sentence on the page.

        ``asked``: the arguments of :func:`~app.runs.settings.check_settings`.
        """
        yield self.parts.buttons(running=True)
        run: Run | None = None
        try:
            settings = check_settings(self.session.profile, *asked)
            subject = self.session.subject(picture, settings)
            bound = self.session.bound(settings)
            run = self.runs.put(visitor, Run(Board(self.session.profile, settings, subject, bound)))
            yield from self._shown(run)
            yield self.parts.buttons(running=False)
        except CancelledError:
            yield self.parts.buttons(running=False)
        except SENTENCES as error:
            yield self._failed(visitor, run, str(error))
        except Exception:
            _log.exception("A run failed")
            yield self._failed(visitor, run, FAILED)
        finally:
            if run is not None and run.board.running:  # the visitor has left
                run.board.cancel()

    def _shown(self, run: Run) -> Iterator[Update]:
        """News as they come, previews a few times a second."""
        board = run.board
        yield self.parts.show(board)
        changed: set[str] = set()
        shown = time.monotonic()
        for event in self.session.events(board.subject.input, board.settings, run.cancel):
            changed.update(board.take(event))
            if isinstance(event, Denoised) and time.monotonic() - shown < PICTURE_INTERVAL:
                continue
            yield self.parts.show(board, changed)
            changed, shown = set(), time.monotonic()

    def cancel(self, visitor: str) -> Update:
        """Set the flag that the run looks at after every step, and show what there is."""
        waited, last = self.line.leave(visitor), self.runs.last(visitor)
        if last is not None and last.board.running:
            last.cancel.set()
            last.board.cancel()
            return self.parts.buttons(running=False) | self.parts.show(last.board)
        ended = last is not None and last.board.phase == "done" and not waited
        return self._complain(visitor, {"error": "" if ended else NEVER_BEGAN})

    def _failed(self, visitor: str, run: Run | None, sentence: str) -> Update:
        """The last run stays, dimmed, under a sentence that says what to do."""
        if run is None:
            return self._complain(visitor, {"phase": "error", "error": sentence})
        run.board.fail(sentence)
        return self.parts.buttons(running=False) | self.parts.show(run.board)

    def _complain(self, visitor: str, said: dict[str, str]) -> Update:
        last = self.runs.last(visitor)
        value = last.board.timeline() if last else blank_timeline(self.session.profile)
        return self.parts.buttons(running=False) | {self.parts.timeline: value | said}
