"""What Gradio keeps of each visitor: as little as it can do with."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import gradio as gr
from gradio.state_holder import SessionState, StateHolder

from app.text import GATE_WORDS

MAX_SESSIONS = 200
_NAME = re.compile(r"[\w-]{1,64}", re.ASCII)


def is_name(session_id: str) -> bool:
    """Whether a client may call its session so: names are kept, and Gradio takes some apart."""
    return _NAME.fullmatch(session_id) is not None


class Sessions(StateHolder):
    """Gradio's sessions without a copy of every component's settings.

    The copies are for its deep links, which are closed; they take 40 ms, in which nobody else
    is answered, and half a megabyte for each visitor.
    """

    def __getitem__(self, session_id: str) -> Any:
        if not is_name(session_id):
            raise gr.Error(GATE_WORDS["misunderstood"], print_exception=False)
        if session_id not in self.session_data:
            bare: Any = SimpleNamespace(default_config=self.blocks.default_config, blocks={})
            self.session_data[session_id] = SessionState(bare)
        return super().__getitem__(session_id)


def keep_little(demo: gr.Blocks) -> None:
    """Put such sessions in place of Gradio's, once the page is served."""
    sessions = Sessions()
    sessions.set_blocks(demo)
    demo.app.state_holder = sessions
