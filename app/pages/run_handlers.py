"""What a page does when a visitor presses its run button: she waits in line, is served, cancels."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import gradio as gr
from gradio.events import Dependency

from app.parts.html import LIGHT, PRIVATE, for_visitor
from app.runs.session import CancelledError
from app.server.errors import SENTENCES
from app.server.queue_position import CONCURRENCY_ID, QueuePositions
from app.words.errors import FAILED

_log = logging.getLogger(__name__)
Update = dict[Any, Any]
Work = TypeVar("Work")


class RunHandlers(ABC, Generic[Work]):
    """Handlers of one page, whose run is ``Work``."""

    def __init__(self, line: QueuePositions, timer: gr.Timer) -> None:
        self.line, self.timer = line, timer

    @abstractmethod
    def lock(self, running: bool) -> Update:
        """While a run goes on only Cancel can be pressed."""

    @abstractmethod
    def wait(self, place: int) -> Update:
        """The place in the line; 0: at once."""

    @abstractmethod
    def begin(self, visitor: str, *asked: Any) -> Work:
        """A checked run, remembered as the visitor's last one. Raises one of ``SENTENCES``.

        ``asked``: the values of the page's controls.
        """

    @abstractmethod
    def news(self, work: Work) -> Iterator[Update]:
        """The run itself, as updates of the page."""

    @abstractmethod
    def fail(self, visitor: str, work: Work | None, sentence: str) -> Update:
        """A sentence that says what to do; None: the run did not begin."""

    @abstractmethod
    def leave(self, work: Work) -> None:
        """The visitor has left: a run that is under way ends."""

    @abstractmethod
    def cancel(self, visitor: str) -> Update:
        """Set the flag that the run looks at after every step, and show what there is."""

    def press(self, visitor: str) -> Update:
        """At once, also when the run itself has to wait."""
        return self.lock(True) | self.wait(self.line.wait(visitor))

    def look(self, visitor: str) -> Update:
        """The place in the line, for those who are in it: the run itself says the rest."""
        place = self.line.place(visitor)
        return self.wait(place) if place else {self.timer: gr.Timer(active=False)}

    def free(self, visitor: str) -> Update:
        """What never reached the run: a full queue, a value that Gradio itself refuses."""
        return self.lock(False)

    def run(self, visitor: str, *asked: Any) -> Iterator[Update]:
        """One run; whatever goes wrong becomes one sentence on the page."""
        free = self.lock(False)
        yield self.lock(True)
        work: Work | None = None
        try:
            work = self.begin(visitor, *asked)
            yield from self.news(work)
            yield free
        except CancelledError:
            yield free
        except SENTENCES as error:
            yield free | self.fail(visitor, work, str(error))
        except Exception:
            _log.exception("A run failed")
            yield free | self.fail(visitor, work, FAILED)
        finally:
            if work is not None:
                self.leave(work)

    def connect(
        self,
        buttons: tuple[gr.Button, gr.Button],
        inputs: list[Any],
        outputs: list[Any],
        locked: list[Any],
        start: str | None = None,
        idle: str | None = None,
    ) -> Dependency:
        """Connect the buttons, run and cancel; returns the event of the run.

        ``locked``: what of ``outputs`` the light handlers change; ``start``, ``idle``: JavaScript
        as a run begins, or never reached the server.
        """

        def run(request: gr.Request, *asked: Any) -> Iterator[Update]:
            visitor = str(request.session_hash)
            with self.line.served(visitor):
                yield from self.run(visitor, *asked)

        start_button, cancel_button = buttons
        pressed = start_button.click(for_visitor(self.press), None, locked, **LIGHT)
        self.timer.tick(for_visitor(self.look), None, locked, **LIGHT)
        event = pressed.then(
            run,
            inputs,
            outputs,
            js=start,
            concurrency_id=CONCURRENCY_ID,
            concurrency_limit=1,
            trigger_mode="multiple",  # else a run is dropped while the page still cancels the last
            **PRIVATE,
        )
        event.failure(for_visitor(self.free), None, locked, js=idle, **LIGHT)
        cancel_button.click(for_visitor(self.cancel), None, outputs, cancels=[event], **LIGHT)
        return event
