"""Recorded runs on the page: the one it opens with, and the one a visitor picks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from app.pages.adapt.handlers import AdaptComponents
from app.pages.adapt.opening import Opening
from app.pages.adapt.takeaway import ResultActions
from app.parts.html import LIGHT, html
from app.parts.pictures import data_uri
from app.presets.store import Preset, Presets
from app.runs.links import Link
from app.runs.run_state import RunState
from app.runs.visitors import Run, Runs
from app.server.strict_blocks import picked
from app.words.common import PRESET_WORDS
from dga.titles import short

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
    return html(
        [_chip(presets, index) for index in range(len(presets.all))],
        html_template=_TEMPLATE,
        js_on_load=_PICK,
        elem_id="presets",
        visible=bool(presets.all),
        words=PRESET_WORDS,
    )


def _chip(presets: Presets, index: int) -> dict[str, Any]:
    preset = presets.all[index]
    example = presets.example(preset)
    corruption, severity = preset.settings.corruption, preset.settings.severity
    damage = short(corruption) if corruption else ""
    return {
        "name": preset.name,
        "caption": preset.lesson,
        "detail": PRESET_WORDS["detail"].format(
            picture=example.title, damage=damage, severity=severity
        ),
        "image": data_uri(presets.picture(preset), "JPEG"),
        "pressed": "true" if index == 0 else "false",
    }


@dataclass(frozen=True)
class RecordedRuns:
    """Shows recorded runs as if the visitor had just made them."""

    presets: Presets
    runs: Runs
    opening: Opening
    after: ResultActions
    components: AdaptComponents

    def outputs(self) -> list[Any]:
        """Every component that a recorded run changes."""
        lists = (self.components.all(), self.opening.outputs(), self.after.outputs())
        return list(dict.fromkeys(component for row in lists for component in row))

    def show(self, preset: Preset, visitor: str) -> dict[Any, Any]:
        """The whole page as it is after this run. Raises ``PresetError``."""
        state = self.presets.state(preset)
        link = Link(preset.picture, preset.settings)
        self.runs.put(visitor, Run(state, recorded=True))
        return (
            self.after.show(state)
            | self.opening.fill(link, start=False)
            | self.components.show(state)
            | self.components.lock(False)
        )

    def arrive(self, request: gr.Request) -> dict[Any, Any]:
        """What the address asks for; the first recorded run if it asks for nothing."""
        visitor = str(request.session_hash)
        link = self.opening.parse(request)
        if link is None:
            return self._first(visitor)
        preset = self.presets.find(link.image or "", link.settings)
        if preset is None:
            return self.opening.fill(link, start=link.image is not None)
        notice = self.opening.fill(link, start=False)[self.opening.notice]
        return self.show(preset, visitor) | {self.opening.notice: notice}

    def _first(self, visitor: str) -> dict[Any, Any]:
        """The page came with this run; what it could not know yet is filled in.

        Not the controls: whoever is quick has changed them before this answer arrives.
        """
        if not self.presets.all:
            return {self.opening.notice: gr.skip()}
        updates = self.show(self.presets.all[0], visitor)
        page, opening = self.components, self.opening
        shown = {*page.all(), *opening.outputs()} - {page.adapt, page.cancel, opening.link}
        return {key: value for key, value in updates.items() if key not in shown}

    def pick(self, event: gr.EventData, request: gr.Request) -> dict[Any, Any]:
        """A preset that the visitor pressed; whatever of hers is running stops."""
        visitor = str(request.session_hash)
        preset = self.presets.named(picked(event, "name"))
        last = self.runs.last(visitor)
        if last is not None and last.state.running:
            last.cancel.set()
        return self.show(preset, visitor) if preset else {self.opening.notice: gr.skip()}


def first_state(presets: Presets) -> RunState | None:
    """The run that the page opens with; None where nothing recorded can be shown."""
    return presets.state(presets.all[0]) if presets.all else None


def connect_recorded_runs(
    recorded: RecordedRuns, row: gr.HTML, demo: gr.Blocks, ended: Mapping[str, Any]
) -> None:
    """Connect the row and the page's opening. ``ended["run"]``: the event that a pick stops."""
    outputs = recorded.outputs()
    demo.load(recorded.arrive, None, outputs, **LIGHT)
    row.select(recorded.pick, None, outputs, cancels=[ended["run"]], **LIGHT)
