"""What a visitor asks of the page Try it, answered as values of its one screen."""

from __future__ import annotations

import copy
import io
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr

from app.pages.run_handlers import ChangeHandlers, Update
from app.parts.examples import Example, identify
from app.presets.store import Presets
from app.runs import links
from app.runs.beside import DroppedError
from app.runs.export import RunExport
from app.runs.run_state import Progress, RunState
from app.runs.run_value import blank_value, run_value
from app.runs.session import CancelledError, Session
from app.runs.settings import check_settings, deepest_shown
from app.runs.visitors import Run, Visitors
from app.runs.watch import Step, Swept
from app.server.decoder import read_square
from app.server.errors import SENTENCES, sentence_of
from app.server.queue_position import QueuePositions
from app.server.upload_folder import kept
from app.words.common import NO_CORRUPTION
from app.words.try_it import DOWNLOAD_WORDS, DOWNLOADS, INPUT_WORDS, LINK_NOTICES, NOTICES
from dga.explanation.search import Scored
from dga.io.parsing import shortened
from dga.pipeline import DepthSweep, checked_repair, sweep_depths
from dga.profiles import Profile
from dga.request import Request
from dga.speed.pace import warning

_log = logging.getLogger(__name__)
PICTURE_INTERVAL = 0.2  # seconds between two previews of a reverse process


@dataclass(frozen=True)
class TryComponents:
    """The components that the server writes or reads; those of ``asked`` make a run.

    ``tau``, ``dda_depth`` and ``method`` the script fills in; ``good``: the last picture that was
    accepted; ``upload_note``: one sentence beside an upload that was refused, or nothing.
    """

    adapt: gr.Button
    cancel: gr.Button
    severity: gr.Radio
    picture: gr.Image
    good: gr.State
    upload_note: gr.HTML
    corruption: gr.Radio
    seed: gr.Number
    max_depth: gr.Slider
    scale: gr.Slider
    paths: gr.Slider
    tau: gr.Number
    dda_depth: gr.Number
    method: gr.Textbox
    screen: gr.HTML
    timer: gr.Timer
    saved: gr.File
    notice: gr.HTML

    def asked(self) -> list[Any]:
        """The picture, what ``check_settings`` takes, in its order, and the method looked at."""
        return [self.picture, *(getattr(self, name) for name in links.ORDER), self.method]

    def filled(self, profile: Profile, settings: Request, path: str | None) -> Update:
        """The controls as these settings have them."""
        values = links.filled(profile, settings) | {"picture": path, "good": path}
        return {getattr(self, name): value for name, value in values.items()}


class TryHandlers(ChangeHandlers[Run]):
    """One run a visitor, in turn or, while nobody waits, beside the queue."""

    label = INPUT_WORDS["adapt"]

    def __init__(
        self,
        session: Session,
        line: QueuePositions,
        page: TryComponents,
        examples: list[Example],
        presets: Presets,
    ) -> None:
        kept = Visitors[Run](
            lambda run: run.state.running,
            lambda run: any(run.state is preset.state for preset in presets.all),
        )
        super().__init__(line, (page.adapt, page.cancel), page.timer, kept)
        self.session, self.page, self.presets = session, page, presets
        self.examples = {example.name: example for example in examples}

    # One full run

    def press(self, visitor: str) -> Update:
        self.lane.stop(visitor)
        return super().press(visitor)

    def begin(self, visitor: str, *asked: Any) -> Run:
        state, last = self.started(visitor, *asked), self.kept.last(visitor)
        if last is not None and state.repeats(last.state):
            state.adopt(last.state)
        return self.kept.put(visitor, Run(state))

    def started(self, visitor: str, picture: str | None, *asked: Any) -> RunState:
        """A run with its picture read and damaged. Raises one of ``SENTENCES``."""
        settings = check_settings(self.session.profile, *asked[:-1])
        subject = self.session.subject(picture, settings)
        example = identify(subject.whole, list(self.examples.values()))
        profile, first, last = self.session.profile, str(asked[-1]), self.kept.last(visitor)
        state = RunState(profile, settings, subject, example, "damaged", first)
        state.name_as(last.state if last else None)
        return state

    def news(self, run: Run, check: Callable[[], None] = lambda: None) -> Iterator[Update]:
        """News as they come, previews a few times a second; ``check`` between two steps."""
        state = run.state
        state.begin()
        yield self.shown(run)
        pixels, shown, pace = state.subject.input, time.monotonic(), self.session.pace
        chosen = state.wanted(slow=pace is not None)
        if pace is not None:
            state.notice = warning(self.session.models, pace, chosen, curve=state.settings.paths)
        depths = 0 if pace else state.extent  # no deeper than the stop needs
        for event in self.session.events(pixels, state.settings, run.cancel, depths, chosen):
            check()
            state.take(event)
            if isinstance(event, Step | Scored) and time.monotonic() - shown < PICTURE_INTERVAL:
                continue
            yield self.shown(run)
            shown = time.monotonic()

    def end(self, run: Run, sentence: str = "") -> None:
        if sentence:
            run.state.end(sentence, "error")
        elif run.state.running:
            run.cancel.set()
            run.state.end()

    def shown(self, run: Run) -> Update:
        return {self.page.screen: run_value(run.state)}

    def complain(self, visitor: str, sentence: str) -> Update:
        """The last run stays, dimmed, under the sentence."""
        last = self.kept.last(visitor)
        value = run_value(last.state) if last else blank_value(self.session.profile)
        said = {"phase": "error", "error": sentence} if sentence else {}
        return {self.page.screen: value | said}

    # While she chooses

    def damaged(self, visitor: str, *asked: Any) -> Update:
        """The damaged picture and how it is read, at once; what was computed before ends."""
        self.stop(visitor)
        try:
            run = self.kept.put(visitor, Run(self.started(visitor, *asked)))
        except SENTENCES as error:
            return self.lock(False) | self.complain(visitor, str(error))
        return self.lock(False) | self.shown(run)

    def follow(self, visitor: str) -> Iterator[Update]:
        """The run itself, beside the queue; where others are served, only a sentence."""
        run = self.kept.last(visitor)
        if run is None or run.state.source != "damaged":
            yield {self.page.screen: gr.skip()}
            return
        state, sentence = run.state, ""
        try:
            if self.session.pace is not None:
                raise DroppedError(NOTICES["slow"])
            with self.lane.served(visitor) as ended:
                for update in self.news(run, partial(self.lane.check, ended)):
                    yield update | self.lock(state.running)
                return
        except (DroppedError, CancelledError) as error:
            sentence = str(error)
        except Exception as error:
            state.end(sentence_of(error), "error")
        finally:
            if state.running:  # or the visitor has left
                state.end(sentence) if sentence else state.end()
        if self.kept.last(visitor) is not run:  # another one has taken its place
            yield {self.page.screen: gr.skip()}
            return
        if state.source == "damaged":
            state.notice = sentence
        yield self.shown(run) | self.lock(False)

    def unheard(self, visitor: str) -> Update:
        """A run that found no room in the queue of those beside it."""
        last = self.kept.last(visitor)
        if last is None or last.state.source != "damaged":
            return {self.page.screen: gr.skip()}
        last.state.notice = NOTICES["busy"]
        return self.shown(last) | self.lock(False)

    def name_picture(self, visitor: str, kind: object) -> Update:
        """What her own picture shows, in her words; no class of the classifier: unknown."""
        last = self.kept.last(visitor)
        if last is None or last.state.example is not None:
            return {self.page.screen: gr.skip()}
        known = self.session.profile.classifier.classes
        last.state.kind = str(kind) if kind in known else ""
        return self.shown(last)

    def cancel(self, visitor: str) -> Update:
        last = self.kept.last(visitor)
        if visitor in self.going or last is None or not last.state.busy:
            return super().cancel(visitor)
        self.stop(visitor)  # beside the queue, or more of a finished run: that says the rest
        return self.lock(False)

    # More of a finished run

    def expand(self, visitor: str, every: object) -> Iterator[Update]:
        """One method from every depth, with progress."""
        last = self.kept.last(visitor)
        if last is None or not last.state.settled:
            yield {self.page.screen: gr.skip()} | self._told((NOTICES["nothing"],))
            return
        if last.state.source == "recorded":  # all who look at it have that one
            last.state = copy.copy(last.state)
            last.state.series = dict(last.state.series)
        state = last.state
        last.cancel.clear()
        state.working = True
        try:
            for _ in self._every(last, every):
                yield self.shown(last) | self.lock(True)
        except CancelledError:
            pass
        except Exception as error:
            state.notice = sentence_of(error)
        finally:
            state.working = False
        if self.kept.last(visitor) is last:
            yield self.shown(last) | self.lock(False)

    def _every(self, run: Run, name: object) -> Iterator[None]:
        state, system = run.state, run.state.systems.get(str(name))
        if system is None or system.explain or system.name in state.series:
            return
        asked = state.subject.input, state.settings.seed, checked_repair(system), state.extent
        shown = 0.0
        for event in self.session.lent(run.cancel, sweep_depths, *asked):
            if isinstance(event, DepthSweep):
                state.take(Swept(system.name, event))
            else:
                state.progress = Progress.of("every", *event)
            if time.monotonic() - shown > PICTURE_INTERVAL:
                shown = time.monotonic()
                yield

    # Recorded runs, links, uploads, downloads

    def pick(self, visitor: str, name: object) -> Update:
        """A recorded run; whatever of hers is computed stops."""
        self.stop(visitor)
        preset = self.presets.named(name)
        if preset is None:
            return {self.page.notice: gr.skip()}
        return self._finished(visitor, preset.state, preset.example.path)

    def _finished(self, visitor: str, state: RunState, path: str | None) -> Update:
        run = self.kept.put(visitor, Run(state))
        filled = self.page.filled(self.session.profile, state.settings, path)
        note = {self.page.upload_note: ""}
        return filled | self.shown(run) | self.lock(False) | self._told(()) | note

    def _told(self, notices: tuple[str, ...]) -> Update:
        lines = "".join(f"<p>{escape(notice)}</p>" for notice in notices)
        return {self.page.notice: f'<div class="notice" role="status">{lines}</div>'}

    def arrive(self, request: gr.Request, kept: str | None, left: object = "") -> Update:
        """What the address asks for, else what this tab had last, else the first recorded run.

        ``kept``: the tab's own picture, if it is still there; ``left``: the query of what it
        showed last and, once that was finished, the run's key.
        """
        visitor, profile = str(request.session_hash), self.session.profile
        last = dict(parse_qsl(str(left or "").removeprefix("?")))
        key, told = last.pop("key", None), dict(request.query_params)
        query = told if any(name in told for name in links.KEYS) else last
        link = links.parse(query, profile, self.examples, self.presets.opening)
        image = link.image or ("" if kept else self.presets.opening["image"])
        path = self.examples[image].path if image else kept
        again = query == last  # in the same tab
        looked = {"tau": link.settings.tau, "fixed": link.settings.dda_depth}
        hands = {"hands": looked | {"method": link.method, "depth": link.depth}}
        found = self.presets.named(key) or self.kept.find(lambda run: run.state.key == key)
        if again and found and found.state.settled and (link.image or kept):
            update = self._finished(visitor, found.state, path)
            # What was computed beside it has ended; what was moved by hand stays there.
            update[self.page.screen] |= {"progress": None} | hands
            return update
        named = self.presets.named(query.get("run"))
        preset = named or self.presets.find(image, link.settings)
        tau, fixed = profile.stopping.tau, profile.dda_depth  # which handles move afterwards
        usual = replace(link.settings, tau=tau, dda_depth=fixed)
        if link.settings.dda_depth <= deepest_shown(profile, usual):
            preset = preset or self.presets.find(image, usual)
        notices = () if named else link.notices
        if preset is not None and not query:  # the page came with it
            self.kept.put(visitor, Run(preset.state))
            return self._told(())
        if "run" in query and not named:
            notices = (LINK_NOTICES["unknown_run"].format(value=shortened(query["run"])), *notices)
        if link.image is None and not kept:
            notices += (LINK_NOTICES["gone" if again else "no_picture"],)
        elif again and key and found is None:
            notices += (DOWNLOAD_WORDS["gone"],)
        if preset is not None:
            update = self._finished(visitor, preset.state, preset.example.path)
            value = update[self.page.screen] | hands
            return update | {self.page.screen: value} | self._told(notices)
        knobs = links.filled(profile, link.settings)
        asked = [knobs[name] for name in links.ORDER]
        shown = self.damaged(visitor, path, *asked, link.method)
        shown[self.page.screen] |= hands
        return self.page.filled(profile, link.settings, path) | shown | self._told(notices)

    def arrived(self, path: str | None, good: str | None) -> tuple[Any, str, str | None, Any]:
        """Judge a picture as it is uploaded; a refused one is replaced by the last good one.

        Returns the picture, a sentence beside it, the last good picture, and the corruption:
        none, since whoever uploads a picture may have damaged it.
        """
        if path is None:
            return gr.skip(), "", good, gr.skip()
        try:
            read_square(path, self.session.profile.image_size)
        except SENTENCES as error:
            return good, f'<p role="alert">{escape(str(error))}</p>', good, gr.skip()
        return gr.skip(), "", path, NO_CORRUPTION

    def download(self, visitor: str, kind: object) -> Update:
        """Write one file into the folder of uploads, where it is swept after a while."""
        last = self.kept.last(visitor)
        result = last.state.result if last else None
        if last is None or result is None or str(kind) not in DOWNLOADS:
            return {self.page.saved: None} | self._told((DOWNLOAD_WORDS["gone"],))
        name, content = RunExport(last.state, result, self.session.weights).file(str(kind))
        try:
            return {self.page.saved: kept(io.BytesIO(content), name)}
        except OSError:
            _log.exception("A file could not be saved")
            return {self.page.saved: None} | self._told((DOWNLOAD_WORDS["failed"],))
