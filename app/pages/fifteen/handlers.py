"""What a visitor asks of the page of fifteen corruptions, answered as updates of it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import gradio as gr

from app.pages.fifteen.cards import grid_value, heading_html, note_html, status_value
from app.pages.fifteen.results import FifteenResults, check_choice
from app.pages.fifteen.run import run
from app.pages.run_handlers import RunHandlers, Update
from app.runs.session import Session
from app.runs.visitors import Visitors
from app.server.errors import SENTENCES, RequestError
from app.server.queue_position import QueuePositions, place_words
from app.words.errors import FAILED, NEVER_BEGAN, REFUSED
from app.words.fifteen import CANCELLED, STATUS

PICTURE_INTERVAL = 0.4  # seconds between two previews of fifteen pictures
MAX_PREVIEWS = 1  # at a time
PREVIEW_PATIENCE = 5.0  # seconds

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FifteenComponents:
    """The components that handlers read and write."""

    head: gr.HTML
    thumbs: gr.HTML
    chosen: gr.Textbox
    picture: gr.Image
    damaged: gr.Checkbox
    severity: gr.Radio
    method: gr.Radio
    run: gr.Button
    cancel: gr.Button
    status: gr.HTML
    table: gr.Button
    grid: gr.HTML
    note: gr.HTML
    timer: gr.Timer

    @property
    def inputs(self) -> list[Any]:
        """What a request is made of, in the order of ``check_choice``."""
        return [self.picture, self.chosen, self.damaged, self.severity, self.method]

    @property
    def outputs(self) -> list[Any]:
        """Everything that a handler may change."""
        shown = [self.head, self.status, self.grid, self.note, self.thumbs]
        return [*shown, self.run, self.cancel, self.table, self.timer, *self.inputs]

    def lock(self, running: bool, upload: str | None, example: object) -> Update:
        """While a run goes on only Cancel can be pressed."""
        free = gr.update(interactive=not running)
        locked = dict.fromkeys((self.run, self.severity, self.method, self.picture), free)
        locked[self.cancel] = gr.update(interactive=running)
        return locked | self.source(running, upload, example)

    def source(self, running: bool, upload: str | None, example: object) -> Update:
        """What depends on whether the picture is the visitor's own."""
        return {
            self.damaged: gr.update(interactive=not running and upload is not None),
            self.thumbs: {"chosen": None if upload else example, "locked": running},
        }

    def show(self, results: FifteenResults) -> Update:
        """The results as they are now."""
        return {
            self.head: heading_html(results),
            self.status: status_value(results),
            self.grid: grid_value(results),
            self.note: note_html(results),
            self.table: gr.update(interactive=bool(results.finished) and not results.running),
        }

    def complain(self, sentence: str) -> Update:
        """A sentence above what is there."""
        return {self.status: {"words": "", "progress": None, "error": sentence, "phase": "error"}}


class FifteenHandlers(RunHandlers[FifteenResults]):
    """One run a visitor. ``asked``: upload, example, damaged, severity, method."""

    def __init__(
        self,
        session: Session,
        examples: dict[str, str],
        components: FifteenComponents,
        line: QueuePositions,
    ) -> None:
        super().__init__(line, components.timer)
        self.session, self.examples, self.components = session, examples, components
        self.runs = Visitors[FifteenResults](lambda results: results.running, address=line.address)
        self._previewing = threading.BoundedSemaphore(MAX_PREVIEWS)

    def open(self, *asked: Any) -> FifteenResults:
        """The corrupted pictures, nothing computed yet. Raises one of ``SENTENCES``."""
        choice = check_choice(self.session.profile, self.examples, *asked)
        return FifteenResults.open(self.session.profile, choice)

    def preview(self, visitor: str, *asked: Any) -> Update:
        """The corrupted pictures beside empty wells: nothing is computed yet.

        Nothing changes for a visitor who pressed Run in the meantime; and the buttons are
        left alone, for this may reach the page after the run has begun.
        """
        try:
            with self._preview_turn():
                shown = self.components.show(self.open(*asked))
        except SENTENCES as error:
            shown = self.components.complain(str(error))
        except Exception:
            _log.exception("A preview of all fifteen corruptions failed")
            shown = self.components.complain(FAILED)
        if self.line.has(visitor):
            return {self.components.status: gr.skip()}
        return self.components.source(False, *asked[:2]) | shown

    @contextmanager
    def _preview_turn(self) -> Iterator[None]:
        """Few at a time: fifteen corruptions are work, and no queue stands before it."""
        if not self._previewing.acquire(timeout=PREVIEW_PATIENCE):
            raise RequestError(REFUSED)
        try:
            yield
        finally:
            self._previewing.release()

    def lock(self, running: bool, *asked: Any) -> Update:
        return self.components.lock(running, *asked[:2])

    def wait(self, place: int) -> Update:
        words = place_words(place) if place else STATUS["waiting"]
        status = {"words": words, "progress": None, "error": "", "phase": "wait"}
        return {self.components.status: status, self.timer: gr.Timer(active=place > 0)}

    def free(self, visitor: str, *asked: Any) -> Update:
        """The news of a cancelled run may come when the next one has begun."""
        results = self.runs.last(visitor)
        return self.lock(results is not None and results.running, *asked)

    def begin(self, visitor: str, *asked: Any) -> FifteenResults:
        return self.runs.put(visitor, self.open(*asked))

    def news(self, results: FifteenResults) -> Iterator[Update]:
        """Progress after every step, pictures a few times a second."""
        shown, known = 0.0, -1
        for _ in run(self.session, results):
            news = len(results.finished) + sum(row.stop is not None for row in results.rows)
            if news == known and time.monotonic() - shown < PICTURE_INTERVAL:
                yield {self.components.status: status_value(results)}
                continue
            yield self.components.show(results)
            shown, known = time.monotonic(), news
        yield self.components.show(results)

    def fail(self, visitor: str, results: FifteenResults | None, sentence: str) -> Update:
        if results is None:
            return self.components.complain(sentence)
        results.phase, results.error = "error", sentence
        return self.components.show(results)

    def leave(self, results: FifteenResults) -> None:
        if results.running:
            results.phase = "cancelled"

    def cancel(self, visitor: str, *asked: Any) -> Update:
        buttons = self.lock(False, *asked) | {self.timer: gr.Timer(active=False)}
        self.line.leave(visitor)
        results = self.runs.last(visitor)
        if results is None or not results.running:
            return buttons | self.components.complain(NEVER_BEGAN)
        results.cancel.set()
        results.phase = "cancelled"
        results.error = CANCELLED.format(done=len(results.finished), total=len(results.rows))
        return buttons | self.components.show(results)
