"""What a visitor asks of the page Try it, answered as values of its one screen."""

from __future__ import annotations

import copy
import io
import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr

from app.pages.run_handlers import RunHandlers, Update
from app.parts.examples import Example, identify
from app.parts.html import LIGHT, PRIVATE, SAVE, event_field, for_event, for_visitor
from app.presets.store import Presets
from app.runs import links
from app.runs.export import RunExport
from app.runs.quick import DroppedError, QuickLane
from app.runs.run_state import Progress, RunState, Source
from app.runs.run_value import blank_value, run_value
from app.runs.session import CancelledError, Session
from app.runs.settings import check_settings
from app.runs.visitors import Run, Visitors
from app.runs.watch import Step, Swept
from app.server.decoder import read_square
from app.server.errors import SENTENCES
from app.server.queue_position import CONCURRENCY_ID, QueuePositions, place_words
from app.server.upload_folder import kept
from app.words.errors import FAILED
from app.words.try_it import DOWNLOAD_WORDS, DOWNLOADS, INPUT_WORDS, LINK_NOTICES, NOTICES
from dga.discriminator import Judged
from dga.explanation.search import Scored
from dga.io.parsing import shortened
from dga.pipeline import DepthSweep, checked_repair, judge_further, sweep_depths
from dga.profiles import Profile
from dga.request import Request
from dga.speed.pace import warning

_log = logging.getLogger(__name__)
PICTURE_INTERVAL = 0.2  # seconds between two previews of a reverse process
# The script's tau and fixed depth, in the places of check_settings' order.
_ASKED = "(...a) => { a[3] = window.dga.tau(); a[5] = window.dga.dda(); return a; }"
_START = _ASKED.replace("return", "window.dga.waiting(); return")
_UPLOADED = "(picture, note) => { window.dgaLine.uploaded(picture, note); return []; }"
# Picture and run outlive a look at another page: they are still on the server.
_KEPT = """async () => {
  const kept = JSON.parse(sessionStorage.getItem("dga-picture") || "null");
  const there = kept?.url && (await fetch(kept.url).catch(() => null))?.ok;
  if (!there) sessionStorage.removeItem("dga-picture");
  return [there ? kept : null, sessionStorage.getItem("dga-last") ?? ""];
}"""


@dataclass(frozen=True)
class TryComponents:
    """The components that the server writes or reads; those of ``asked`` make a run.

    ``tau`` and ``dda_depth`` the timeline fills in; ``good``: the last picture that was accepted;
    ``upload_note``: one sentence beside an upload that was refused, or nothing.
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
    screen: gr.HTML
    timer: gr.Timer
    saved: gr.File
    notice: gr.HTML

    def asked(self) -> list[Any]:
        """The picture, then what ``check_settings`` takes, in its order."""
        return [self.picture, *(getattr(self, name) for name in links.ORDER)]

    def filled(self, profile: Profile, settings: Request, path: str | None) -> Update:
        """The controls as these settings have them."""
        values = links.filled(profile, settings) | {"picture": path, "good": path}
        return {getattr(self, name): value for name, value in values.items()}


class TryHandlers(RunHandlers[Run]):
    """One run a visitor, in turn; quick ones beside it."""

    def __init__(
        self,
        session: Session,
        line: QueuePositions,
        page: TryComponents,
        examples: list[Example],
        presets: Presets,
    ) -> None:
        super().__init__(line, (page.adapt, page.cancel), page.timer)
        self.session, self.page, self.presets = session, page, presets
        self.examples = {example.name: example for example in examples}
        self.lane = QuickLane(line)
        self.runs = Visitors[Run](
            lambda run: run.state.running,
            lambda run: any(run.state is preset.state for preset in presets.all),
            line.address,
        )

    # One full run

    def lock(self, running: bool) -> Update:
        adapt = gr.update(interactive=not running, value=INPUT_WORDS["adapt"])
        return super().lock(running) | {self.page.adapt: adapt}

    def wait(self, place: int) -> Update:
        said = place_words(place) if place else INPUT_WORDS["adapt"]
        adapt = gr.update(interactive=False, value=said)
        return {self.page.adapt: adapt, self.timer: gr.Timer(active=place > 0)}

    def press(self, visitor: str) -> Update:
        self.lane.stop(visitor)
        return super().press(visitor)

    def begin(self, visitor: str, *asked: Any) -> Run:
        return self.runs.put(visitor, Run(self.started("full", *asked)))

    def started(self, source: Source, picture: str | None, *asked: Any) -> RunState:
        """A run with its picture read and damaged. Raises one of ``SENTENCES``."""
        settings = check_settings(self.session.profile, *asked)
        subject = self.session.subject(picture, settings)
        whole = subject.input if subject.clean is None else subject.clean
        example = identify(whole, list(self.examples.values()))
        return RunState(self.session.profile, settings, subject, example=example, source=source)

    def news(self, run: Run) -> Iterator[Update]:
        """News as they come, previews a few times a second."""
        state = run.state
        yield self.shown(run)
        pixels, shown, pace = state.subject.input, time.monotonic(), self.session.pace
        slow = pace is not None
        if pace is not None:  # the full comparison would take minutes
            state.source = "quick"
            alone = [system for system in state.systems.values() if system.explain]
            paths = state.settings.paths
            state.notice = warning(self.session.models, pace, alone, curve=paths)
        depths = 0 if slow else state.extent  # no deeper than the stop needs
        for event in self.session.events(pixels, state.settings, run.cancel, depths, slow):
            state.take(event)
            if isinstance(event, Step | Scored) and time.monotonic() - shown < PICTURE_INTERVAL:
                continue
            yield self.shown(run)
            shown = time.monotonic()

    def end(self, run: Run, sentence: str = "") -> None:
        if sentence:
            run.state.fail(sentence)
        elif run.state.running:
            run.cancel.set()
            run.state.cancel()

    def shown(self, run: Run) -> Update:
        return {self.page.screen: run_value(run.state)}

    def complain(self, visitor: str, sentence: str) -> Update:
        """The last run stays, dimmed, under the sentence."""
        last = self.runs.last(visitor)
        value = run_value(last.state) if last else blank_value(self.session.profile)
        said = {"phase": "error", "error": sentence} if sentence else {}
        return {self.page.screen: value | said}

    # While she chooses

    def damaged(self, visitor: str, *asked: Any) -> Update:
        """The damaged picture and how it is read, at once; nothing during a run of her own."""
        last = self.runs.last(visitor)
        if self.line.has(visitor) or (last is not None and last.state.running):
            return {self.page.screen: gr.skip()}
        if last is not None:
            last.cancel.set()  # what else of the last run was being computed
        try:
            run = self.runs.put(visitor, Run(self.started("damaged", *asked)))
        except SENTENCES as error:
            return self.complain(visitor, str(error))
        return self.shown(run)

    def quick(self, visitor: str) -> Update:
        """DGA+ and the curve for it; a sentence where there is no room for that."""
        last = self.runs.last(visitor)
        if last is None or last.state.source != "damaged":
            return {self.page.screen: gr.skip()}
        before = last.state
        state = before.again("quick")
        asked = state.subject.input, state.settings, None, state.extent, True
        try:
            if self.session.pace is not None:
                raise DroppedError(NOTICES["slow"])
            with self.lane.served(visitor) as ended:
                for event in self.session.events(*asked):
                    self.lane.check(ended)
                    state.take(event)
        except (DroppedError, *SENTENCES) as error:
            before.notice = str(error)
            return self.shown(last) if before.notice else {self.page.screen: gr.skip()}
        if self.runs.last(visitor) is not last:
            return {self.page.screen: gr.skip()}
        return self.shown(self.runs.put(visitor, Run(state)))

    def stop(self, visitor: str) -> Update:
        """End whatever is computed beside a run."""
        self.lane.stop(visitor)
        last = self.runs.last(visitor)
        if last is not None and last.state.busy:
            last.cancel.set()
        return {self.page.notice: gr.skip()}

    # More of a finished run

    def expand(self, visitor: str, every: object, everything: bool) -> Iterator[Update]:
        """One method from every depth, or the curve to its end, with progress."""
        last = self.runs.last(visitor)
        if last is None or not last.state.settled:
            value = self.complain(visitor, "")[self.page.screen]
            yield {self.page.screen: value | {"notice": NOTICES["nothing"]}}
            return
        if last.state.source == "recorded":  # all who look at it have that one
            last.state = copy.copy(last.state)
            last.state.series = dict(last.state.series)
        state = last.state
        last.cancel.clear()
        state.working = True
        try:
            steps = self._deepened(last) if everything else self._every(last, every)
            for _ in steps:
                yield self.shown(last)
        except CancelledError:
            pass
        except SENTENCES as error:
            state.notice = str(error)
        except Exception:
            _log.exception("A run could not be looked further into")
            state.notice = FAILED
        finally:
            state.working = False
        if self.runs.last(visitor) is last:
            yield self.shown(last)

    def _every(self, run: Run, name: object) -> Iterator[None]:
        state, system = run.state, run.state.systems.get(str(name))
        extent = max(state.extent, state.filmed - 1)  # as deep as the axis goes
        known = state.series.get(str(name))
        if system is None or system.explain or (known and len(known.predictions) > extent):
            return
        asked = state.subject.input, state.settings.seed, checked_repair(system), extent
        shown = 0.0
        for event in self.session.lent(run.cancel, sweep_depths, *asked):
            if isinstance(event, DepthSweep):
                state.take(Swept(system.name, event))
            else:
                state.progress = Progress.of("every", *event, system.title)
            if time.monotonic() - shown > PICTURE_INTERVAL:
                shown = time.monotonic()
                yield

    def _deepened(self, run: Run) -> Iterator[None]:
        state, steps = run.state, run.state.profile.schedule.steps
        known = len(state.judged[0])
        if state.filmed <= steps:
            state.film(steps + 1)
        if known > steps:
            return
        settings = state.settings
        asked = state.subject.input, settings.seed, settings.paths, known
        for event in self.session.lent(run.cancel, judge_further, *asked):
            if isinstance(event, Judged):
                last = event.first + len(event.logits) - 1
                state.progress = Progress.noising(last, steps, event.path, settings.paths)
                yield
            else:
                state.deepen(event)

    # Recorded runs, links, uploads, downloads

    def pick(self, visitor: str, name: object) -> Update:
        """A recorded run; whatever of hers is computed stops."""
        self.stop(visitor)
        preset = self.presets.named(name)
        if preset is None:
            return {self.page.notice: gr.skip()}
        return self._finished(visitor, preset.state, preset.example.path)

    def _finished(self, visitor: str, state: RunState, path: str | None) -> Update:
        run = self.runs.put(visitor, Run(state))
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
        found = self.presets.named(key) or self.runs.find(lambda run: run.state.key == key)
        if again and found and found.state.settled and (link.image or kept):
            update = self._finished(visitor, found.state, path)
            # What was computed beside it has ended; tau and fixed depth stay where they were.
            hands = [link.settings.tau, link.settings.dda_depth]
            update[self.page.screen] |= {"progress": None, "hands": hands}
            return update
        named = self.presets.named(query.get("run"))
        preset = named or self.presets.find(image, link.settings)
        notices = () if named else link.notices
        if preset is not None and not query:  # the page came with it
            self.runs.put(visitor, Run(preset.state))
            return self._told(())
        if "run" in query and not named:
            notices = (LINK_NOTICES["unknown_run"].format(value=shortened(query["run"])), *notices)
        if link.image is None and not kept:
            notices += (LINK_NOTICES["gone" if again else "no_picture"],)
        elif again and key and found is None:
            notices += (DOWNLOAD_WORDS["gone"],)
        if preset is not None:
            return self._finished(visitor, preset.state, preset.example.path) | self._told(notices)
        knobs = links.filled(profile, link.settings)
        shown = self.damaged(visitor, path, *(knobs[name] for name in links.ORDER))
        return self.page.filled(profile, link.settings, path) | shown | self._told(notices)

    def arrived(self, path: str | None, good: str | None) -> tuple[Any, str, str | None]:
        """Judge a picture as it is uploaded; a refused one is replaced by the last good one.

        Returns the picture, a sentence beside it, and the last good picture.
        """
        if path is None:
            return gr.skip(), "", good
        try:
            read_square(path, self.session.profile.image_size)
        except SENTENCES as error:
            return good, f'<p role="alert">{escape(str(error))}</p>', good
        return gr.skip(), "", path

    def download(self, visitor: str, kind: object) -> Update:
        """Write one file into the folder of uploads, where it is swept after a while."""
        last = self.runs.last(visitor)
        result = last.state.result if last else None
        if last is None or result is None or str(kind) not in DOWNLOADS:
            return {self.page.saved: None} | self._told((DOWNLOAD_WORDS["gone"],))
        name, content = RunExport(last.state, result, self.session.weights).file(str(kind))
        try:
            return {self.page.saved: kept(io.BytesIO(content), name)}
        except OSError:
            _log.exception("A file could not be saved")
            return {self.page.saved: None} | self._told((DOWNLOAD_WORDS["failed"],))


def connect_try(
    session: Session,
    demo: gr.Blocks,
    line: QueuePositions,
    page: TryComponents,
    examples: list[Example],
    presets: Presets,
) -> None:
    """Connect everything that needs the server."""
    handlers = TryHandlers(session, line, page, examples, presets)
    screen, asked = page.screen, page.asked()
    run = handlers.connect(asked, [screen], start=_START)

    # Not through the queue: a quick run is dropped where it would wait.
    alone = {**LIGHT, "trigger_mode": "multiple"}
    damaged = screen.input(for_visitor(handlers.damaged), asked, screen, js=_ASKED, **alone)
    damaged.then(for_visitor(handlers.quick), None, screen, **alone)

    def expand(event: gr.EventData, request: gr.Request) -> Iterator[Update]:
        visitor = str(request.session_hash)
        every, everything = event_field(event, "every"), event_field(event, "all") is True
        with line.served(visitor):
            yield from handlers.expand(visitor, every, everything)

    expanded = screen.expand(
        expand, None, screen, concurrency_id=CONCURRENCY_ID, concurrency_limit=1, **PRIVATE
    )
    screen.stop(for_visitor(handlers.stop), None, page.notice, cancels=[expanded], **LIGHT)

    shown = [screen, page.notice, page.upload_note, page.good, *asked]
    shown += [page.adapt, page.cancel, page.timer]

    pick = for_event(handlers.pick, "example")
    screen.select(pick, None, shown, cancels=[run, expanded], **LIGHT)

    download = for_event(handlers.download, "file")
    saved = screen.download(download, None, [page.saved, page.notice], **LIGHT)
    saved.then(None, page.saved, None, js=SAVE, **LIGHT)

    # The notice is empty then: it brings what the tab had last.
    came = [page.picture, page.notice]
    opened = demo.load(handlers.arrive, came, shown, js=_KEPT, **LIGHT)
    opened.then(for_visitor(handlers.quick), None, screen, **alone)

    judged = page.picture.upload(
        handlers.arrived,
        [page.picture, page.good],
        [page.picture, page.upload_note, page.good],
        **LIGHT,
    )
    judged.then(None, [page.picture, page.upload_note], None, js=_UPLOADED, **LIGHT)
