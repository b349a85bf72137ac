"""The confidence curve: drawn live, with a threshold that can be moved afterwards."""

from __future__ import annotations

from pathlib import Path

import gradio as gr

from app.board import blank_timeline
from app.text import TIMELINE_WORDS
from dga.profiles import Profile

STATIC = Path(__file__).parent / "static"

_TEMPLATE = """
<div class="tl">
  <h1 class="tl-sentence" aria-live="polite"></h1>
  <div class="tl-status"><span class="tl-words"></span>
    <div class="tl-track" role="progressbar" aria-label="Progress"><i></i></div></div>
  <p class="tl-error" role="alert"></p>
  <div class="tl-plot"></div>
</div>
"""


def timeline(profile: Profile) -> gr.HTML:
    """The component; its value is what :meth:`app.board.Board.timeline` returns."""
    return gr.HTML(
        blank_timeline(profile),
        html_template=_TEMPLATE,
        js_on_load=(STATIC / "timeline.js").read_text("utf-8"),
        apply_default_css=False,
        elem_id="timeline",
        words=TIMELINE_WORDS,
    )
