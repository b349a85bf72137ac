"""Values from callers: nothing is opened but uploads, nothing is told but sentences."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.data_classes import ImageData
from gradio.utils import get_upload_folder

from app.words.errors import GATE_WORDS

_log = logging.getLogger(__name__)


class StrictBlocks(gr.Blocks):
    """Blocks that neither fetch addresses nor open files for a caller, uploads included.

    Gradio itself would download any value that says it is a file at an address, for every
    kind of input, and its messages name folders of the server.
    """

    async def process_api(self, *arguments: Any, **options: Any) -> dict[str, Any]:
        """As in ``gr.Blocks``, but what was cancelled does not begin anew, with time of its own."""
        event = self._queue.event_ids_to_events.get(options.get("event_id") or "")
        if event is not None and options.get("iterator") is None:
            if event.n_calls:
                raise gr.Error(GATE_WORDS["misunderstood"], print_exception=False)
            event.n_calls = 1
        return await super().process_api(*arguments, **options)

    async def preprocess_data(
        self, block_fn: Any, inputs: list[Any], state: Any, explicit_call: bool = False
    ) -> list[Any]:
        """As in ``gr.Blocks``; raises ``gr.Error`` with one sentence for whatever is refused."""
        if block_fn.fn is None:  # it is the page's script that does this
            raise gr.Error(GATE_WORDS["misunderstood"], print_exception=False)
        if not all(is_upload(path) for path in named_files(inputs)):
            raise gr.Error(GATE_WORDS["foreign"], print_exception=False)
        for block in block_fn.inputs:
            present = state.get(block._id, block)  # updates make it anew for a session
            if isinstance(present, gr.Image):
                present.preprocess = uploaded_path  # Gradio's own would open the file
        try:
            return await super().preprocess_data(block_fn, inputs, state, explicit_call)
        except gr.Error as error:
            error.print_exception = False  # a visitor's mistake, not one for the log
            raise
        except Exception as error:
            _log.info("Refused values: %r", error)
            raise gr.Error(GATE_WORDS["misunderstood"], print_exception=False) from None


def uploaded_path(payload: ImageData | None) -> str | None:
    """Path of the upload; None for anything that was not uploaded here."""
    if payload is None or not payload.path or not is_upload(payload.path):
        return None
    return str(Path(payload.path).resolve())


def named_files(value: Any) -> Iterator[str]:
    """Every path in a caller's values, however deep."""
    left = [value]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            if isinstance(part.get("path"), str):
                yield part["path"]
            left += part.values()
        elif isinstance(part, list | tuple):
            left += part


def is_upload(path: str) -> bool:
    """Whether a path lies in the folder of uploads, with links and dots resolved.

    Only whole paths do: dots also lead there from an address that Gradio would fetch.
    """
    named, folder = Path(path), Path(get_upload_folder())
    try:
        return named.is_absolute() and named.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError):
        return False


def picked(event: gr.EventData, name: str) -> str:
    """What the page's script says of an event; "None" where a stranger's says nothing of it."""
    data = event._data
    return str(data.get(name) if isinstance(data, dict) else None)
