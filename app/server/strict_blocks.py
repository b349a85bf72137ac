"""Values from callers: nothing is opened for them, and what cannot be taken is a sentence."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.data_classes import ImageData

from app.words.errors import GATE_WORDS

_log = logging.getLogger(__name__)


class StrictBlocks(gr.Blocks):
    """Blocks that open no uploads themselves and say so where they cannot take a value."""

    async def preprocess_data(
        self, block_fn: Any, inputs: list[Any], state: Any, *others: Any, **options: Any
    ) -> list[Any]:
        """As in ``gr.Blocks``; raises ``gr.Error`` with one sentence for whatever is refused."""
        try:
            if block_fn.fn is None:
                raise ValueError("it is the page's script that does this")
            for block in block_fn.inputs:
                present = state.get(block._id, block)  # updates make it anew for a session
                if isinstance(present, gr.Image):
                    present.preprocess = path_of  # Gradio's own would open the file
            return await super().preprocess_data(block_fn, inputs, state, *others, **options)
        except Exception as error:
            _log.info("Refused values: %r", error)
            raise gr.Error(GATE_WORDS["misunderstood"], print_exception=False) from None


def path_of(payload: ImageData | None) -> str | None:
    """Path of an upload, which the gate and Gradio have found to be one; None without one."""
    return str(Path(payload.path).resolve()) if payload and payload.path else None
