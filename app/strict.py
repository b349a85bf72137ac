"""Values from callers: nothing is opened but uploads, nothing is told but sentences."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.utils import get_upload_folder

from app.text import GATE_WORDS

_log = logging.getLogger(__name__)


class StrictBlocks(gr.Blocks):
    """Blocks that neither fetch addresses nor open the server's own files for a caller.

    Gradio itself would download any value that says it is a file at an address, for every
    kind of input, and its messages name folders of the server.
    """

    async def preprocess_data(
        self, block_fn: Any, inputs: list[Any], state: Any, explicit_call: bool = False
    ) -> list[Any]:
        """As in ``gr.Blocks``; raises ``gr.Error`` with one sentence for whatever is refused."""
        if not all(is_upload(path) for path in named_files(inputs)):
            raise gr.Error(GATE_WORDS["foreign"], print_exception=False)
        try:
            return await super().preprocess_data(block_fn, inputs, state, explicit_call)
        except gr.Error:
            raise
        except Exception as error:
            _log.info("Refused values: %r", error)
            raise gr.Error(GATE_WORDS["misunderstood"], print_exception=False) from None


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
    """Whether a path lies in the folder of uploads, with links and dots resolved."""
    try:
        return Path(path).resolve().is_relative_to(Path(get_upload_folder()).resolve())
    except (OSError, ValueError):
        return False
