"""What a visitor asks of page Photo, answered as updates of it."""

from __future__ import annotations

import copy
import io
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import gradio as gr
import numpy as np

from app.pages.photo.value import photo_value, progress_value, singles_value
from app.pages.run_handlers import ChangeHandlers, Update, answered, told
from app.parts.examples import load_photographs
from app.runs.beside import DroppedError
from app.runs.damage import check_damage
from app.runs.photo import DEEPEST, Photo, repair
from app.runs.session import CancelledError, Session
from app.runs.visitors import Visitors
from app.server.decoder import read_photograph
from app.server.errors import RequestError, sentence_of
from app.server.limits import MAX_PHOTOS
from app.server.queue_position import QueuePositions
from app.server.request_body import is_upload
from app.server.turns import TURNS
from app.server.upload_folder import kept
from app.words import photo as words
from dga.corruptions import CORRUPTIONS, MIN_SIZE


@dataclass(frozen=True)
class PhotoComponents:
    """``stage``: what :func:`photo_value` returns, or a part of it with the same key."""

    stage: gr.HTML
    run: gr.Button
    cancel: gr.Button
    saved: gr.File
    timer: gr.Timer


class PhotoHandlers(ChangeHandlers[Photo]):
    """One photograph a visitor; ``opening``: what everybody begins with."""

    label, finished = words.RUN, words.DONE

    def __init__(
        self, session: Session, components: PhotoComponents, line: QueuePositions, opening: Photo
    ) -> None:
        kept = Visitors[Photo](
            lambda photo: photo.running,
            lambda photo: photo.key == opening.key,
            MAX_PHOTOS,
        )
        super().__init__(line, (components.run, components.cancel), components.timer, kept)
        self.session, self.components, self.opening = session, components, opening

    def photo(self, visitor: str) -> Photo:
        """The visitor's last one, else the opening one, which is then hers."""
        if last := self.kept.last(visitor):
            return last
        mine = copy.copy(self.opening)
        mine.singles, mine.cancel = dict(mine.singles), threading.Event()
        return self.kept.put(visitor, mine)

    def made(self, visitor: str, asked: Mapping[str, Any]) -> Photo:
        """The photograph and damage that are asked for. Raises one of ``SENTENCES``."""
        name, damage = str(asked.get("name") or ""), check_damage(asked.get("damage"))
        example, last = load_photographs().get(name), self.kept.last(visitor)
        if asked.get("path") is not None:
            name = ""  # files that she saves are called after it
            if not is_upload(str(asked["path"])):
                raise RequestError(words.NO_PHOTO)
            clean, came = read_photograph(str(asked["path"]))
        elif example is not None:
            clean, came = example, 0
        elif last and not name and not last.name:  # her own
            clean, came = last.clean, last.came
        else:
            raise RequestError(words.NO_PHOTO)
        if damage.kind in CORRUPTIONS and min(clean.shape[:2]) < MIN_SIZE:
            raise RequestError(words.SMALL)
        change = asked.get("change")
        with TURNS.turn():
            return Photo(name, clean, damage, came, change if isinstance(change, int) else 0)

    @answered
    def show(self, visitor: str, asked: Mapping[str, Any]) -> Update:
        """What is chosen, damaged at once; whatever was computed of another ends."""
        photo, last = self.made(visitor, asked), self.kept.last(visitor)
        if last and last.change > photo.change:  # a later change was damaged sooner
            return self.shown(last)
        self.stop(visitor)
        photo.phase = "wait"
        return self.shown(self.kept.put(visitor, photo)) | self.lock(photo.running)

    def follow(self, visitor: str) -> Iterator[Update]:
        """Its repair, beside the queue; where others are served, only a sentence."""
        photo, last = self.kept.last(visitor), {self.components.stage: gr.skip()}
        try:
            if photo and photo.phase == "wait" and not (photo.followed or self.line.has(visitor)):
                photo.followed = True  # of two quick changes both may come here for the second
                if self.session.pace is not None:
                    raise DroppedError(words.BUSY)
                with self.lane.served(visitor) as ended, closing(self.run(visitor)) as updates:
                    for update in updates:
                        self.lane.check(ended)
                        yield update
        except DroppedError as error:
            if str(error) and self.kept.last(visitor) is photo:
                last = self.unheard(visitor)
        yield last  # Gradio repeats it when all is over

    def unheard(self, visitor: str) -> Update:
        """A repair that did not take place by itself."""
        photo = self.photo(visitor)
        if photo.phase != "done":
            photo.phase, photo.rows, photo.notice = "empty", b"", words.BUSY
        return self.shown(photo) | self.lock(False)

    @answered
    def save(self, visitor: str, asked: Mapping[str, Any]) -> Update:
        """The repaired photograph, or its depths, as a file."""
        photo = self.photo(visitor)
        if photo.result is None:
            raise RequestError(words.NOT_KEPT)
        name, content = photo.file(asked.get("file"))
        return {self.components.saved: kept(io.BytesIO(content), name)}

    # One run

    def begin(self, visitor: str, *asked: Any) -> Photo:
        """What she was shown last, unless she asks for another, or once more for that."""
        photo, wanted = self.photo(visitor), told(asked[0]) if asked else {}
        fresh = photo.phase in ("empty", "wait")
        if not fresh or (asked and wanted.get("key") != photo.key):
            photo.cancel.set()
            last, photo = photo, self.made(visitor, wanted)
            if np.array_equal(photo.damaged, last.damaged) and photo.has_truth == last.has_truth:
                photo.singles, photo.best = last.singles, last.best
        photo.phase, photo.notice = "wait", ""
        return self.kept.put(visitor, photo)

    def news(self, photo: Photo) -> Iterator[Update]:
        """Progress in the button, the sentence and the picture."""
        yield self.shown(photo)
        shown: object = None
        for _ in repair(self.session, photo):
            if photo.phase == "working" and photo.progress != shown:
                shown = done, total = photo.progress
                said = words.RUNNING.format(done=done, total=total) if done else words.LOOKING
                update = gr.update(value=said, interactive=False)
                yield {self.components.run: update, self.components.stage: progress_value(photo)}
        yield self.shown(photo)

    def end(self, photo: Photo, sentence: str = "") -> None:
        super().end(photo, sentence)
        if sentence:
            photo.rows = b""

    def cancel(self, visitor: str) -> Update:
        self.lane.stop(visitor)
        if last := self.kept.last(visitor):
            self.end(last)
        return super().cancel(visitor)

    def shown(self, photo: Photo) -> Update:
        return {self.components.stage: photo_value(photo)}

    def complain(self, visitor: str, sentence: str) -> Update:
        return {self.components.stage: photo_value(self.photo(visitor)) | {"error": sentence}}

    # One depth everywhere

    def single(self, visitor: str, text: object) -> Iterator[Update]:
        """What one depth gives, of the photograph that is there."""
        photo, asked, stage = self.photo(visitor), told(text), self.components.stage
        depth, sentence = asked.get("depth"), ""
        try:
            if photo.result is None or not photo.has_truth or asked.get("key") != photo.key:
                raise RequestError(words.NOT_KEPT)
            if not isinstance(depth, int) or not 0 <= depth <= DEEPEST:
                raise RequestError(words.NO_DEPTH.format(deepest=DEEPEST))
            photo.cancel.clear()
            for _ in repair(self.session, photo, depth):
                yield {stage: gr.skip()}  # here it ends if she has gone
        except CancelledError:
            pass
        except Exception as error:
            sentence = sentence_of(error)
        shown, photo.last = singles_value(photo), None  # a thousand may look at the opening one
        yield {stage: shown | {"error": sentence}}
