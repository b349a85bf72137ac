"""Two pictures of a run, one over the other, with a line to drag."""

from __future__ import annotations

from typing import Any

import gradio as gr

from app.parts.html import html
from app.parts.pictures import data_uri
from app.runs.run_state import RunState
from app.words.adapt import COMPARE_WORDS
from app.words.common import CARD_TITLES
from dga.profiles import Profile

LEFT, RIGHT = "input", "dga-guided"

_TEMPLATE = """
<div class="compare">
  <div class="stage">
    <img class="under" alt="" hidden><img class="over" alt="" hidden>
    <p class="nothing">${words.empty}</p>
    <i class="edge" hidden></i>
    <span class="tag-left" hidden></span><span class="tag-right" hidden></span>
    <input type="range" min="0" max="100" step="1" value="50" aria-label="${words.slider}" disabled>
  </div>
  <div class="compare-words">
    <h2 class="section">${words.title}</h2>
    <p class="help">${words.help}</p>
    <label>${words.left}<select class="pick-left" disabled></select></label>
    <label>${words.right}<select class="pick-right" disabled></select></label>
    <p class="help">${words.pixels}</p>
  </div>
</div>
"""


def compare(profile: Profile) -> gr.HTML:
    """The component; its value is what :func:`compare_value` returns."""
    size = profile.image_size
    words = COMPARE_WORDS | {"pixels": COMPARE_WORDS["pixels"].format(size=size)}
    return html(
        {"pictures": [], "left": LEFT, "right": RIGHT},
        html_template=_TEMPLATE,
        scripts=["adapt/compare"],
        elem_id="compare",
        words=words,
    )


def compare_value(state: RunState) -> dict[str, Any]:
    """The finished pictures of a run, the clean one first if it is known."""
    subject, pictures = state.subject, []
    if subject.clean is not None and subject.clean_prediction is not None:
        title = COMPARE_WORDS["clean"]
        pictures.append(_picture("clean", title, subject.clean, subject.clean_prediction.label))
    for name, card in state.cards.items():
        if card.image is not None and card.prediction is not None:
            title = card.title or CARD_TITLES[name]
            pictures.append(_picture(name, title, card.image, card.prediction.label))
    return {"pictures": pictures, "left": LEFT, "right": RIGHT}


def _picture(name: str, title: str, pixels: Any, label: str) -> dict[str, str]:
    alt = COMPARE_WORDS["alt"].format(title=title, label=label)
    return {"name": name, "title": title, "src": data_uri(pixels), "alt": alt}
