"""Functions of the page: for whom they work, what they take, what they write, how they fail."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import gradio as gr

from app.server.errors import sentence_of, translate_errors
from app.server.limits import LEAST, MAX_SESSIONS
from app.server.request_body import is_upload, named_files
from app.server.turns import address_of, caller
from app.words.errors import GATE_WORDS

_log = logging.getLogger(__name__)


class StrictBlocks(gr.Blocks):
    """Blocks that open no uploads themselves and say so where something goes wrong.

    ``count``: takes so many bytes of an address, or tells the word why not.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.count: Callable[[str, int], str] = lambda address, length: ""
        self._sessions: dict[str, str] = {}  # addresses of Gradio's, oldest first

    async def process_api(
        self, block_fn: Any, inputs: list[Any], state: Any = None, request: Any = None,
        *others: Any, **options: Any,
    ) -> dict[str, Any]:  # fmt: skip
        """As in ``gr.Blocks``, for every function however it is called, a step at a time.

        Raises ``gr.Error`` with one sentence.
        """
        address = address_of(request[0] if isinstance(request, list) else request)
        caller.set(address)
        self._remember(str(options.get("session_hash")), address)
        writes = any(isinstance(block, gr.File) for block in block_fn.outputs)
        if writes and (word := self.count(address, LEAST)):
            raise gr.Error(GATE_WORDS[word], print_exception=False)
        try:
            with translate_errors():
                given = (block_fn, inputs, state, request)
                answer = await super().process_api(*given, *others, **options)
        except gr.Error:
            raise
        except Exception as error:
            raise gr.Error(sentence_of(error), print_exception=False) from None
        shown = zip(block_fn.outputs, answer.get("data") or (), strict=False)
        files = [value for block, value in shown if isinstance(block, gr.File | gr.Image)]
        for path in set(filter(is_upload, named_files(files))):
            with suppress(OSError):  # swept away meanwhile
                _counted(self.count, address, path)
        return answer

    def _remember(self, session: str, address: str) -> None:
        """Gradio forgets the oldest session for a new one: an address loses its own first."""
        self._sessions.pop(session, None)
        self._sessions = dict([*self._sessions.items(), (session, address)][-MAX_SESSIONS:])
        own = [name for name, whose in self._sessions.items() if whose == address]
        for name in own[: -MAX_SESSIONS // 2]:
            self.state_holder.session_data.pop(name, None)
            del self._sessions[name]

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


@lru_cache(4096)
def _counted(count: Callable[[str, int], str], address: str, path: str) -> None:
    """A file counts once, however often it is shown."""
    count(address, Path(path).stat().st_size)


def path_of(payload: Any) -> str | None:
    """Path of an upload, which the gate and Gradio have found to be one; None without one."""
    return str(Path(payload.path).resolve()) if payload and payload.path else None
