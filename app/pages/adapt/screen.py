"""What a run shows: sentence, pictures, timeline. One component, so that no part shows another."""

from __future__ import annotations

from typing import Any

import gradio as gr

from app.parts.html import html
from app.parts.marks import SHAPES, mark
from app.runs.links import KEYS
from app.words.screen import SCREEN_WORDS
from app.words.try_it import DOWNLOADS

# One scope: what a file uses while it is read stands in a file before it.
_PARTS = ("state", "row", "zoom", "lanes", "play", "pointer", "opening", "keys", "screen")
SCRIPTS = tuple(f"try/{name}" for name in _PARTS)

_TEMPLATE = """
<div class="try">
  <p class="error" role="alert"></p><p class="neutral" role="status"></p>
  <p class="spoken hidden-words" role="status"></p>
  <header class="say"><h1 tabindex="-1"></h1>
    <p class="second"></p>
    <label class="kind" hidden><span>${words.kind}</span><select></select></label></header>
  <div class="shots" role="group" aria-label="${words.row}"></div>
  <div class="index" role="group" aria-label="${words.row}"></div>
  <section class="time" aria-label="${words.timeline}">
    <div class="plot"></div>
    <div class="tools">
      <button type="button" class="play" disabled><svg viewBox="0 0 14 14" aria-hidden="true">
        <path class="start" d="M3 1l9 6-9 6z"/><path class="pause" d="M4 2v10M10 2v10"/></svg>
        <span>${words.play}</span></button>
      <button type="button" class="detail" aria-pressed="false" title="${words.detail_help}"
        disabled>${words.detail}</button>
      <details class="share"><summary>${words.share}</summary><div>
        <button type="button" data-copy><span>${words.copy}</span></button>
        {{#each downloads}}<button type="button" data-file="{{@key}}">
          {{this.[0]}}<i>{{this.[1]}}</i></button>{{/each}}</div></details>
    </div>
  </section>
  <div class="hints">{{#each words.keys}}<span><kbd>{{@key}}</kbd>{{this}}</span>{{/each}}
    <button type="button" class="leave"><kbd>Esc</kbd>${words.leave}</button></div>
  <dialog class="zoom" aria-label="${words.zoom}"><h2></h2>
    <canvas width="64" height="64"></canvas><p class="label"><span></span><b></b></p>
    <p class="help">${words.zoom_help}</p>
    <button type="button" class="close" aria-label="${words.close}">✕</button></dialog>
</div>
"""


def screen(value: dict[str, Any]) -> gr.HTML:
    """The component; its value is what :func:`app.runs.run_value.run_value` returns."""
    return html(
        value,
        html_template=_TEMPLATE,
        scripts=SCRIPTS,
        elem_id="try",
        words=SCREEN_WORDS,
        downloads=DOWNLOADS,
        keys=KEYS,
        marks={name: mark(name) for name in SHAPES},
    )
