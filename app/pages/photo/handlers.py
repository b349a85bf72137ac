"""What a visitor asks of page Photo, answered as updates of it."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from app.pages.photo.value import photo_value, singles_value
from app.pages.run_handlers import RunHandlers, Update, answered, told
from app.parts.photographs import load_photographs
from app.runs.damage import NONE, RAMP, STROKES, check_damage
from app.runs.photo import DEEPEST, Photo, repair, single
from app.runs.session import CancelledError, Session
from app.runs.visitors import Visitors
from app.server.decoder import read_photograph
from app.server.errors import RequestError, sentence_of
from app.server.limits import MAX_PHOTOS
from app.server.queue_position import QueuePositions, place_words
from app.server.request_body import is_upload
from app.server.turns import TURNS
from app.server.upload_folder import kept
from app.words import photo as words
from dga.corruptions import MIN_SIZE
from dga.images import Pixels


@dataclass(frozen=True)
class PhotoComponents:
    """``stage``: what :func:`photo_value` returns; ``panel``: news of one depth everywhere."""

    stage: gr.HTML
    panel: gr.HTML
    run: gr.Button
    cancel: gr.Button
    saved: gr.File
    timer: gr.Timer


class PhotoHandlers(RunHandlers[Photo]):
    """One photograph a visitor; ``opening``: what everybody begins with."""

    def __init__(
        self, session: Session, components: PhotoComponents, line: QueuePositions, opening: Photo
    ) -> None:
        super().__init__(line, (components.run, components.cancel), components.timer)
        self.session, self.components, self.opening = session, components, opening
        self.kept = Visitors[Photo](
            lambda photo: photo.running,
            lambda photo: photo.key == opening.key,
            line.address,
            MAX_PHOTOS,
        )
        self.own = Visitors[tuple[Pixels, int]](address=line.address, most=MAX_PHOTOS)

    def photo(self, visitor: str) -> Photo:
        """The visitor's last one, else the opening one, which is then hers."""
        last = self.kept.last(visitor)
        return last or self.kept.put(visitor, self.opening.copy())

    def made(self, visitor: str, asked: Mapping[str, Any]) -> Photo:
        """The photograph and damage that are asked for. Raises one of ``SENTENCES``."""
        name, damage = str(asked.get("name") or ""), check_damage(asked.get("damage"))
        if name:
            example = load_photographs().get(name)
            clean, came = (example.pixels, 0) if example else (None, 0)
        else:
            clean, came = self.own.last(visitor) or (None, 0)
        if clean is None:
            raise RequestError(words.NO_PHOTO)
        if damage.kind not in (NONE, STROKES, RAMP) and min(clean.shape[:2]) < MIN_SIZE:
            raise RequestError(words.SMALL)
        return Photo(name, clean, damage, came)

    @answered
    def show(self, visitor: str, asked: Mapping[str, Any]) -> Update:
        """What is chosen, damaged at once; nothing is run yet."""
        if self.line.has(visitor):
            return {self.components.stage: gr.skip()}
        path = asked.get("path")
        if path is not None:
            if not is_upload(str(path)):
                raise RequestError(words.NO_PHOTO)
            self.own.put(visitor, read_photograph(str(path)))
        if not asked.get("name") and self.own.last(visitor) is None:
            raise RequestError(words.NO_PHOTO)
        self.photo(visitor).cancel.set()
        with TURNS.turn():
            photo = self.made(visitor, asked)
        return self.shown(self.kept.put(visitor, photo)) | self.lock(False)

    @answered
    def save(self, visitor: str, asked: Mapping[str, Any]) -> Update:
        """The repaired photograph, or its depths, as a file."""
        photo = self.photo(visitor)
        if photo.result is None:
            raise RequestError(words.NOT_KEPT)
        name = photo.name or "photo"
        if asked.get("file") == "csv":
            content, file = photo.csv().encode(), f"{name}-depths.csv"
        else:
            content, file = photo.png(), f"{name}-repaired.png"
        return {self.components.saved: kept(io.BytesIO(content), file)}

    # One run

    def lock(self, running: bool) -> Update:
        run = gr.update(interactive=not running, value=words.RUN)
        return super().lock(running) | {self.components.run: run}

    def wait(self, place: int) -> Update:
        said = place_words(place) if place else words.RUN
        run = gr.update(interactive=False, value=said)
        return {self.components.run: run, self.timer: gr.Timer(active=place > 0)}

    def begin(self, visitor: str, *asked: Any) -> Photo:
        photo = self.made(visitor, told(asked[0] if asked else ""))
        self.photo(visitor).cancel.set()
        photo.phase = "wait"
        return self.kept.put(visitor, photo)

    def news(self, photo: Photo) -> Iterator[Update]:
        """Progress in the button and the sentence."""
        yield self.shown(photo)
        shown: tuple[int, int] | None = None
        for _ in repair(self.session, photo):
            if photo.running and photo.progress != shown:
                shown = done, total = photo.progress
                said = words.RUNNING.format(done=done, total=total) if total else words.LOOKING
                update = gr.update(value=said, interactive=False)
                yield {self.components.run: update} | self.shown(photo)
        yield self.shown(photo)

    def shown(self, photo: Photo) -> Update:
        return {self.components.stage: photo_value(photo)}

    def complain(self, visitor: str, sentence: str) -> Update:
        photo = self.photo(visitor)
        return {self.components.stage: photo_value(photo) | {"error": sentence}}

    # One depth everywhere

    def single(self, visitor: str, text: object) -> Iterator[Update]:
        """What one depth gives, of the photograph that is there."""
        photo, asked, panel = self.photo(visitor), told(text), self.components.panel
        depth, sentence = asked.get("depth"), ""
        try:
            if photo.result is None or not photo.has_truth or asked.get("key") != photo.key:
                raise RequestError(words.NOT_KEPT)
            if not isinstance(depth, int) or not 0 <= depth <= DEEPEST:
                raise RequestError(words.NO_DEPTH.format(deepest=DEEPEST))
            photo.cancel.clear()
            for _ in single(self.session, photo, depth):
                yield {panel: singles_value(photo) | {"single": None, "going": depth}}
        except CancelledError:
            pass
        except Exception as error:
            sentence = sentence_of(error)
        yield {panel: singles_value(photo) | {"error": sentence}}

    def stop(self, visitor: str) -> Update:
        """End what is computed of one depth."""
        last = self.kept.last(visitor)
        if last is not None and not last.running:
            last.cancel.set()
        return {self.components.saved: gr.skip()}
