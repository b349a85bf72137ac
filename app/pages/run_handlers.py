"""What a page does when a visitor presses its run button: she waits in line, is served, cancels."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import wraps
from typing import Any, Generic, TypeVar

import gradio as gr
from gradio.events import Dependency

from app.parts.html import LIGHT, PRIVATE, event_field, for_visitor
from app.runs.beside import BESIDE, SideLane
from app.runs.session import CancelledError
from app.runs.visitors import Visitors
from app.server.errors import sentence_of
from app.server.queue_position import QueuePositions, place_words
from app.words.errors import NEVER_BEGAN, REFUSED

Update = dict[Any, Any]
Work = TypeVar("Work")
Page = TypeVar("Page", bound="RunHandlers[Any]")


def told(text: object) -> Mapping[str, Any]:
    """What a page's script says, in JSON; empty for what is none."""
    try:
        asked = json.loads(str(text))
        json.dumps(asked, ensure_ascii=False).encode()  # half a character goes into no file
    except (ValueError, RecursionError):
        return {}
    return asked if isinstance(asked, dict) else {}


def answered(
    handler: Callable[[Page, str, Any], Update],
) -> Callable[[Page, str, object], Update]:
    """``handler`` outside the queue, its question parsed; what goes wrong becomes a sentence."""

    @wraps(handler)
    def answer(page: Page, visitor: str, text: object) -> Update:
        try:
            return handler(page, visitor, page.parsed(visitor, text))
        except Exception as error:
            return page.complain(visitor, sentence_of(error))

    return answer


class RunHandlers(ABC, Generic[Work]):
    """Handlers of one page, whose run is ``Work``; ``buttons``: run, cancel.

    ``going``: the run of each visitor who has one; ``label``: what the run button says, where it
    also says what is waited for; ``finished``: what it says then, where it would only give the
    same again.
    """

    label = finished = ""

    def __init__(
        self, line: QueuePositions, buttons: tuple[gr.Button, gr.Button], timer: gr.Timer
    ) -> None:
        self.line, self.buttons, self.timer = line, buttons, timer
        self.going: dict[str, Work] = {}
        self.turn: dict[str, Any] = PRIVATE | {"concurrency_id": line.name, "concurrency_limit": 1}

    def parsed(self, visitor: str, text: object) -> Any:
        """A question of the page's script."""
        return told(text)

    def wait(self, place: int) -> Update:
        """The place in the line; 0: at once."""
        said = place_words(place) if place else self.label
        run = gr.update(interactive=False, value=said)
        return {self.buttons[0]: run, self.timer: gr.Timer(active=place > 0)}

    @abstractmethod
    def begin(self, visitor: str, *asked: Any) -> Work:
        """A checked run, remembered as the visitor's last one. Raises one of ``SENTENCES``.

        ``asked``: the values of the page's controls.
        """

    @abstractmethod
    def news(self, work: Work) -> Iterator[Update]:
        """The run itself, as updates of the page."""

    def end(self, work: Any, sentence: str = "") -> None:
        """A run that is under way is cancelled, or fails with a sentence that says what to do.

        It looks whether it is after every step.
        """
        if work.running or sentence:
            work.cancel.set()
            work.phase, work.error = ("error", sentence) if sentence else ("cancelled", "")

    @abstractmethod
    def shown(self, work: Work) -> Update:
        """The run as it is now."""

    @abstractmethod
    def complain(self, visitor: str, sentence: str) -> Update:
        """A sentence above what is there; empty: only what is there."""

    def lock(self, running: bool, said: str = "") -> Update:
        """While a run goes on only Cancel can be pressed; ``said``: why not Run, either."""
        start, cancel = self.buttons
        named = {"value": said or self.label} if said or self.label else {}
        return {
            start: gr.update(interactive=not (running or said), **named),
            cancel: gr.update(interactive=running),
            self.timer: gr.Timer(active=False),
        }

    def press(self, visitor: str) -> Update:
        """At once, also when the run itself has to wait."""
        return self.lock(True) | self.wait(self.line.wait(visitor))

    def look(self, visitor: str) -> Update:
        """The place in the line, for those who are in it: the run itself says the rest."""
        place = self.line.place(visitor)
        return self.wait(place) if place else {self.timer: gr.Timer(active=False)}

    def free(self, visitor: str) -> Update:
        """What never reached the run, because the queue is full."""
        free = self.lock(visitor in self.going)  # the next one may have begun
        return free | (self.complain(visitor, REFUSED) if self.line.leave(visitor) else {})

    def cancel(self, visitor: str) -> Update:
        """End the run and show what there is."""
        asked, work = self.line.has(visitor), self.going.pop(visitor, None)
        self.line.leave(visitor)
        if work is None:
            return self.lock(False) | self.complain(visitor, NEVER_BEGAN if asked else "")
        self.end(work)
        return self.lock(False) | self.shown(work)

    def run(self, visitor: str, *asked: Any) -> Generator[Update]:
        """One run; whatever goes wrong becomes one sentence on the page."""
        free = self.lock(False)
        yield self.lock(True)
        work: Work | None = None
        try:
            work = self.going[visitor] = self.begin(visitor, *asked)
            yield from self.news(work)
            yield self.lock(False, self.finished)
        except CancelledError:
            yield free
        except Exception as error:
            yield free | self._failed(visitor, work, sentence_of(error))
        finally:
            if work is not None:
                self.end(work)  # the visitor may have left
                if self.going.get(visitor) is work:
                    del self.going[visitor]

    def _failed(self, visitor: str, work: Work | None, sentence: str) -> Update:
        if work is None:
            return self.complain(visitor, sentence)
        self.end(work, sentence)
        return self.shown(work)

    def connect(self, inputs: list[Any], shown: list[Any], start: str) -> Dependency:
        """Connect the buttons, run and cancel; returns the event of the run.

        ``shown``: what the handlers change besides buttons and timer; ``start``: JavaScript as a
        run begins.
        """

        def run(request: gr.Request, *asked: Any) -> Iterator[Update]:
            visitor = str(request.session_hash)
            with self.line.served(visitor):
                yield from self.run(visitor, *asked)

        start_button, cancel_button = self.buttons
        outputs = [*shown, *self.buttons, self.timer]
        pressed = start_button.click(for_visitor(self.press), None, outputs, **LIGHT)
        self.timer.tick(for_visitor(self.look), None, outputs, **LIGHT)
        event = pressed.then(
            run,
            inputs,
            outputs,
            js=start,
            trigger_mode="multiple",  # else a run is dropped while the page still cancels the last
            **self.turn,
        )
        event.failure(for_visitor(self.free), None, outputs, **LIGHT)
        cancel_button.click(for_visitor(self.cancel), None, outputs, cancels=[event], **LIGHT)
        return event


class ChangeHandlers(RunHandlers[Work]):
    """Of a page where a change is run by itself; ``kept``: what each visitor did last."""

    def __init__(
        self,
        line: QueuePositions,
        buttons: tuple[gr.Button, gr.Button],
        timer: gr.Timer,
        kept: Visitors[Work],
    ) -> None:
        super().__init__(line, buttons, timer)
        self.lane, self.kept = SideLane(line), kept

    @abstractmethod
    def follow(self, visitor: str) -> Iterator[Update]:
        """The run of what she changed, beside the queue; where others are served, a sentence."""

    @abstractmethod
    def unheard(self, visitor: str) -> Update:
        """Of a run that found no room beside the queue."""

    def stop(self, visitor: str) -> None:
        """End whatever is computed for her, or waits."""
        self.lane.stop(visitor)
        self.line.leave(visitor)
        self.going.pop(visitor, None)
        last: Any = self.kept.last(visitor)
        if last is not None:
            last.cancel.set()  # more of a finished run may go on
            self.end(last)

    def connect_more(
        self, asked: Callable[..., Dependency], work: Callable[[str, Any], Iterator[Update]],
        part: str, shown: list[Any],
    ) -> Dependency:  # fmt: skip
        """What a script asks of a finished run, in turn; ``part`` of its event goes to ``work``."""

        def more(event: gr.EventData, request: gr.Request) -> Iterator[Update]:
            visitor = str(request.session_hash)
            with self.line.served(visitor):
                yield from work(visitor, event_field(event, part))

        return asked(more, None, shown, trigger_mode="multiple", **self.turn)

    def connect_beside(self, change: Dependency, shown: list[Any]) -> None:
        """After a change its run, beside the queue; dropped where it would have to wait."""

        def follow(request: gr.Request) -> Iterator[Update]:
            yield from self.follow(str(request.session_hash))

        lane = {"concurrency_id": "beside", "concurrency_limit": BESIDE}
        beside = change.then(follow, None, shown, trigger_mode="multiple", **lane, **PRIVATE)
        beside.failure(for_visitor(self.unheard), None, shown, **LIGHT)
