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
from app.pages.fifteen.run import run
from app.pages.fifteen.sheet import Sheet, check_choice
from app.runs.session import CancelledError, Session
from app.runs.visitors import Visitors
from app.server.errors import SENTENCES, RequestError
from app.server.waiting_line import Line, place_words
from app.words.errors import FAILED, NEVER_BEGAN, REFUSED
from app.words.fifteen import CANCELLED, STATUS

PICTURE_INTERVAL = 0.4  # seconds between two previews of fifteen pictures
MAX_PREVIEWS = 1  # at a time
PREVIEW_PATIENCE = 5.0  # seconds

_log = logging.getLogger(__name__)
Update = dict[Any, Any]


@dataclass(frozen=True)
class Parts:
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

    def wait(self, place: int) -> Update:
        """The place in the line; 0: at once."""
        words = place_words(place) if place else STATUS["waiting"]
        status = {"words": words, "progress": None, "error": "", "phase": "wait"}
        return {self.status: status, self.timer: gr.Timer(active=place > 0)}

    def show(self, sheet: Sheet) -> Update:
        """The sheet as it is now."""
        return {
            self.head: heading_html(sheet),
            self.status: status_value(sheet),
            self.grid: grid_value(sheet),
            self.note: note_html(sheet),
            self.table: gr.update(interactive=bool(sheet.finished) and not sheet.running),
        }

    def complain(self, sentence: str) -> Update:
        """A sentence above what is there."""
        return {self.status: {"words": "", "progress": None, "error": sentence, "phase": "error"}}


class Desk:
    """One sheet a visitor. A request is (upload, example, damaged, severity, method)."""

    def __init__(
        self, session: Session, examples: dict[str, str], parts: Parts, line: Line
    ) -> None:
        self.session, self.examples, self.parts, self.line = session, examples, parts, line
        self.sheets = Visitors[Sheet](lambda sheet: sheet.running, address=line.address)
        self._previewing = threading.BoundedSemaphore(MAX_PREVIEWS)

    def open(self, *asked: Any) -> Sheet:
        """A sheet of corrupted pictures. Raises one of ``SENTENCES``."""
        upload, example, *others = asked
        choice = check_choice(self.session.profile, self.examples, upload, example, *others)
        return Sheet.open(self.session.profile, choice)

    def preview(self, visitor: str, *asked: Any) -> Update:
        """The corrupted pictures beside empty wells: nothing is computed yet.

        Nothing changes for a visitor who pressed Run in the meantime; and the buttons are
        left alone, for this may reach the page after the run has begun.
        """
        upload, example, *_ = asked
        try:
            with self._preview_turn():
                shown = self.parts.show(self.open(*asked))
        except SENTENCES as error:
            shown = self.parts.complain(str(error))
        except Exception:
            _log.exception("A preview of all fifteen corruptions failed")
            shown = self.parts.complain(FAILED)
        if self.line.has(visitor):
            return {self.parts.status: gr.skip()}
        return self.parts.source(False, upload, example) | shown

    @contextmanager
    def _preview_turn(self) -> Iterator[None]:
        """Few at a time: fifteen corruptions are work, and no queue stands before it."""
        if not self._previewing.acquire(timeout=PREVIEW_PATIENCE):
            raise RequestError(REFUSED)
        try:
            yield
        finally:
            self._previewing.release()

    def press(self, visitor: str, *asked: Any) -> Update:
        """At once, also when the run itself has to wait."""
        place = self.line.wait(visitor)
        return self.parts.lock(True, asked[0], asked[1]) | self.parts.wait(place)

    def look(self, visitor: str) -> Update:
        """The place in the line, for those who are in it: the run itself says the rest."""
        place = self.line.place(visitor)
        return self.parts.wait(place) if place else {self.parts.timer: gr.Timer(active=False)}

    def run(self, visitor: str, *asked: Any) -> Iterator[Update]:
        """One run; whatever goes wrong becomes one sentence on the page."""
        upload, example, *_ = asked
        sheet: Sheet | None = None
        free = self.parts.lock(False, upload, example)
        yield self.parts.lock(True, upload, example)
        try:
            sheet = self.open(*asked)
            self.sheets.put(visitor, sheet)
            yield from self._shown(sheet)
            yield free | self.parts.show(sheet)
        except CancelledError:
            yield free
        except SENTENCES as error:
            yield free | self._failed(sheet, str(error))
        except Exception:
            _log.exception("A run of all fifteen corruptions failed")
            yield free | self._failed(sheet, FAILED)
        finally:
            if sheet is not None and sheet.running:  # the visitor has left
                sheet.phase = "cancelled"

    def _shown(self, sheet: Sheet) -> Iterator[Update]:
        """Progress after every step, pictures a few times a second."""
        shown, known = 0.0, -1
        for _ in run(self.session, sheet):
            news = len(sheet.finished) + sum(row.stop is not None for row in sheet.rows)
            if news == known and time.monotonic() - shown < PICTURE_INTERVAL:
                yield {self.parts.status: status_value(sheet)}
                continue
            yield self.parts.show(sheet)
            shown, known = time.monotonic(), news

    def _failed(self, sheet: Sheet | None, sentence: str) -> Update:
        if sheet is None:
            return self.parts.complain(sentence)
        sheet.phase, sheet.error = "error", sentence
        return self.parts.show(sheet)

    def cancel(self, visitor: str, *asked: Any) -> Update:
        """Set the flag that the run looks at after every step, and show what there is."""
        upload, example, *_ = asked
        buttons = self.parts.lock(False, upload, example) | {
            self.parts.timer: gr.Timer(active=False)
        }
        self.line.leave(visitor)
        sheet = self.sheets.last(visitor)
        if sheet is None or not sheet.running:
            return buttons | self.parts.complain(NEVER_BEGAN)
        sheet.cancel.set()
        sheet.phase = "cancelled"
        sheet.error = CANCELLED.format(done=len(sheet.finished), total=len(sheet.rows))
        return buttons | self.parts.show(sheet)
