"""What Gradio keeps of each visitor: as little as it can do with."""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from types import SimpleNamespace
from typing import Any

import gradio as gr
from gradio import route_utils, routes
from gradio.state_holder import SessionState, StateHolder

from app.words.errors import GATE_WORDS

MAX_SESSIONS = 200
MAX_UPLOADS = 500  # whose progress is known
_NAME = re.compile(r"[\w-]{1,64}", re.ASCII)


def is_name(session_id: str) -> bool:
    """Whether a client may call its session so: names are kept, and Gradio takes some apart."""
    return _NAME.fullmatch(session_id) is not None


class BareState(SessionState):
    """A session without a copy of every component's settings and last value.

    The copies are for Gradio's deep links, which are closed; they take 40 ms, in which nobody
    else is answered, and half a megabyte for each visitor; values are copied unchecked.
    """

    def __init__(self, blocks: gr.Blocks) -> None:
        bare: Any = SimpleNamespace(default_config=blocks.default_config, blocks={})
        super().__init__(bare)

    def _update_config(self, key: int) -> None:
        pass

    def _update_value_in_config(self, key: int, value: Any) -> None:
        pass


class Sessions(StateHolder):
    """Gradio's sessions, by names that are names, and bare."""

    def __getitem__(self, session_id: str) -> Any:
        if not is_name(session_id):
            raise gr.Error(GATE_WORDS["misunderstood"], print_exception=False)
        if session_id not in self.session_data:
            self.session_data[session_id] = BareState(self.blocks)
        return super().__getitem__(session_id)


class Newest(OrderedDict[str, Any]):
    """The last ``MAX_UPLOADS`` entries; an event of its own for a name that is not there."""

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        while len(self) > MAX_UPLOADS:
            self.popitem(last=False)

    def __missing__(self, name: str) -> asyncio.Event:
        self[name] = event = asyncio.Event()
        return event


def keep_little(demo: gr.Blocks) -> None:
    """Put such sessions in place of Gradio's, once the page is served."""
    sessions = Sessions()
    sessions.set_blocks(demo)
    demo.app.state_holder = sessions
    route_utils.SessionState = BareState  # of a call that names none
    uploads = routes.file_upload_statuses  # one for all; of its own it forgets none
    uploads._statuses, uploads._signals = Newest(), Newest()
