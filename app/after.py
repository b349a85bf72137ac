"""What follows a run: the comparison, files to take along, the link."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.processing_utils import save_bytes_to_cache
from gradio.utils import get_upload_folder

from app import links
from app.adapt_words import DOWNLOAD_WORDS, DOWNLOADS
from app.board import Board
from app.compare import compare, compare_value
from app.downloads import Keepsake
from app.examples import Example, identify
from app.runs import Runs
from app.session import Session
from app.strict import picked
from app.take import SAVE, files_list, files_value, link_field, link_value

_log = logging.getLogger(__name__)
_LIGHT = {"show_progress": "hidden", "api_visibility": "private", "queue": False}


@dataclass(frozen=True)
class After:
    """The components below the cards; ``saved`` holds the file last asked for."""

    session: Session
    examples: list[Example]
    compare: gr.HTML
    files: gr.HTML
    saved: gr.File
    link: gr.HTML

    def outputs(self) -> list[gr.HTML]:
        """What :meth:`show` writes to."""
        return [self.compare, self.files, self.link]

    def show(self, board: Board) -> dict[Any, Any]:
        """A run that ended, however it did, or a recorded one."""
        example = self.example(board)
        name = None if example is None else example.name
        query = links.write(self.session.profile, board.settings, name)
        return {
            self.compare: compare_value(board),
            self.files: files_value(board.result is not None),
            self.link: link_value(query, own=example is None),
        }

    def example(self, board: Board) -> Example | None:
        """The example that the run began with; None for an own picture."""
        subject = board.subject
        source = subject.input if subject.clean is None else subject.clean
        return identify(source, self.examples)

    def keep(self, board: Board) -> Keepsake | None:
        """The run with its picture's name; None unless it was finished."""
        if board.result is None:
            return None
        example, weights = self.example(board), self.session.models.weights
        if example is None:
            return Keepsake(board, board.result, weights)
        return Keepsake(board, board.result, weights, example.name, example.title)


def after_card(session: Session, examples: list[Example]) -> After:
    """Lay out the card below the results."""
    with gr.Row(elem_id="after"):
        slider = compare(session.profile)
        with gr.Column(elem_id="take"):
            files = files_list()
            saved = gr.File(visible="hidden", elem_id="saved")
            link = link_field()
    return After(session, examples, slider, files, saved, link)


def connect_after(after: After, runs: Runs, ended: Mapping[str, Any]) -> None:
    """``ended``: events after which a visitor's last run has something new to show."""

    def show(request: gr.Request) -> dict[Any, Any]:
        last = runs.last(str(request.session_hash))
        if last is None or last.board.stop is None:
            return {after.files: gr.skip()}
        return after.show(last.board)

    def make(event: gr.EventData, request: gr.Request) -> dict[Any, Any]:
        """Write one file into Gradio's cache, which deletes it after a while."""
        kind = picked(event, "kind")
        last = runs.last(str(request.session_hash))
        kept = after.keep(last.board) if last else None
        if kept is None or kind not in DOWNLOADS:
            note = files_value(False, DOWNLOAD_WORDS["gone"])
            return {after.saved: None, after.files: note}
        name, content = kept.file(kind)
        try:
            return {after.saved: save_bytes_to_cache(content, name, get_upload_folder())}
        except OSError:
            _log.exception("A file could not be saved")
            return {after.saved: None, after.files: files_value(True, DOWNLOAD_WORDS["failed"])}

    for event in ended.values():
        event.then(show, None, after.outputs(), **_LIGHT)
    made = after.files.select(make, None, [after.saved, after.files], **_LIGHT)
    made.then(None, after.saved, None, js=SAVE, **_LIGHT)
