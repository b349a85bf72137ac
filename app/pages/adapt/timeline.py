"""The timeline: a run to watch, to scrub through, and to ask what another tau would do."""

from __future__ import annotations

from typing import Any

import gradio as gr

from app.parts.html import html
from app.parts.marks import mark
from app.runs.run_state import CARDS, blank_timeline
from app.words.timeline import TIMELINE_WORDS
from dga.diffusion import Schedule
from dga.profiles import Profile

# One scope: what a file uses while it is read stands in a file before it.
_PARTS = ("model", "parts", "layout", "words", "curve", "film", "playhead", "panel", "pointer")
SCRIPTS = tuple(f"timeline/{name}" for name in (*_PARTS, "timeline"))

_TEMPLATE = """
<div class="tl">
  <h1 class="tl-sentence" aria-live="polite"></h1>
  <div class="tl-status">
    <button type="button" class="tl-again" hidden></button><span class="tl-words"></span>
    <div class="tl-track" role="progressbar" aria-label="${words.progress}"><i></i></div>
  </div>
  <p class="tl-error" role="alert"></p>
  <div class="tl-body">
    <div class="tl-plot"></div>
    <div class="tl-panel unknown">
      <div class="tl-switch" role="group" aria-label="${words.direction}">
        <button type="button" data-part="forward" disabled>${words.forward_way}</button>
        <button type="button" data-part="reverse" disabled>${words.reverse_way}</button>
      </div>
      <div class="tl-view">
        <p class="tl-top"><span class="tl-name"></span><span class="tl-depth"></span></p>
        <canvas class="tl-picture" role="img" width="64" height="64"
                aria-label="${words.nowhere}"></canvas>
        <p class="tl-state"><b>x<sub></sub></b><span class="tl-where"></span></p>
        <div class="tl-about">
          <canvas class="tl-thumb" role="img" width="64" height="64"
                  aria-label="${words.nowhere}"></canvas>
          <b></b><span></span>
        </div>
      </div>
      <div class="tl-play">
        <button type="button" data-by="-1" aria-label="${words.back}" disabled>
          <svg viewBox="0 0 14 14" aria-hidden="true"><path d="M9 2L4 7l5 5"/></svg></button>
        <button type="button" class="tl-run" disabled>
          <svg viewBox="0 0 14 14" aria-hidden="true"><path class="start" d="M4 2l8 5-8 5z"/>
            <path class="pause" d="M4 2v10M10 2v10"/></svg><span>${words.play}</span></button>
        <button type="button" data-by="1" aria-label="${words.next}" disabled>
          <svg viewBox="0 0 14 14" aria-hidden="true"><path d="M5 2l5 5-5 5"/></svg></button>
      </div>
    </div>
  </div>
</div>
"""


def timeline(profile: Profile, value: dict[str, Any] | None = None) -> gr.HTML:
    """The component; its value is what :meth:`app.runs.run_state.RunState.timeline` returns."""
    schedule = Schedule.from_config(profile.schedule)
    return html(
        value or blank_timeline(profile),
        html_template=_TEMPLATE,
        scripts=SCRIPTS,
        elem_id="timeline",
        blank=blank_timeline(profile),
        words=TIMELINE_WORDS,
        marks={name: mark(name) for name in CARDS},
        signal=[round(float(share), 5) for share in schedule.alpha_bar],
    )
