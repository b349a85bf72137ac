"""The row of recorded runs above the timeline."""

from __future__ import annotations

from typing import Any

import gradio as gr

from app.pictures import data_uri
from app.preset_cases import CAPTIONS
from app.presets import Presets
from app.text import CORRUPTION_NAMES, PRESET_WORDS

_TEMPLATE = """<div class="presets" role="group" aria-label="${words.title}">
<p class="title">${words.title}</p><div class="preset-list">
{{#each value}}<button type="button" data-name="{{name}}" aria-pressed="{{pressed}}">
<img src="{{image}}" alt=""><span><b>{{caption}}</b>{{detail}}</span></button>{{/each}}
</div></div>"""
_PICK = """element.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  window.dga.chosen(button.dataset.name);
  trigger("select", { name: button.dataset.name });
});"""


def preset_row(presets: Presets) -> gr.HTML:
    """Buttons, one a preset; the event ``select`` tells which by its name."""
    return gr.HTML(
        [_chip(presets, index) for index in range(len(presets.all))],
        html_template=_TEMPLATE,
        js_on_load=_PICK,
        apply_default_css=False,
        elem_id="presets",
        visible=bool(presets.all),
        words=PRESET_WORDS,
    )


def _chip(presets: Presets, index: int) -> dict[str, Any]:
    preset = presets.all[index]
    example = presets.example(preset)
    board = presets.board(preset)
    corruption, severity = preset.settings.corruption or "", preset.settings.severity
    damage = CORRUPTION_NAMES.get(corruption, "")
    return {
        "name": preset.name,
        "caption": CAPTIONS[preset.outcome],
        "detail": PRESET_WORDS["detail"].format(
            picture=example.title, damage=damage, severity=severity
        ),
        "image": data_uri(board.subject.input, "JPEG"),
        "pressed": "true" if index == 0 else "false",
    }
