"""The seven steps as HTML: words, equations, functions and the frames of the widgets."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import app.pages.learn.steps as words
from app.pages.learn.steps import STEPS, WIDGET, Step


def slides_html(results: Sequence[str] = ()) -> str:
    """All steps; the page's script shows one at a time. ``results``: what the last one says."""
    total = len(STEPS)
    links = "".join(
        f'<li><a href="./learn#step-{n}"><b>{n}</b><span>{escape(step.short)}</span></a></li>'
        for n, step in enumerate(STEPS, 1)
    )
    steps = "".join(
        _slide(n, total, step, results if n == total else ()) for n, step in enumerate(STEPS, 1)
    )
    return (
        f'<div class="ln-walk"><header class="ln-top" id="main"><h1>{words.TITLE}</h1>'
        f'<p class="lead">{words.LEAD}</p></header>'
        f'<nav class="ln-nav" aria-label="{words.CONTENTS}"><ol>{links}</ol></nav>'
        f'<div class="ln-steps">{steps}</div>'
        f'<div class="ln-turn"><button type="button" class="ln-back">← {words.PREVIOUS}</button>'
        f'<button type="button" class="ln-next ln-go">{words.NEXT} →</button></div></div>'
    )


def _slide(n: int, total: int, step: Step, results: Sequence[str]) -> str:
    found = " ".join(f"<b>{escape(sentence)}</b>" for sentence in results)
    text = "".join(f"<p>{paragraph}</p>" for paragraph in (step.text, found) if paragraph)
    try_it = f'<p class="ln-try">{step.try_it}</p>' if step.try_it else ""
    last = f'<p class="ln-on">{words.GO_ON}</p>' if n == total else ""
    return (
        f'<section class="ln-step" id="step-{n}" aria-labelledby="step-{n}-title" hidden>'
        f'<div class="ln-text"><h2 id="step-{n}-title" tabindex="-1">{step.title}</h2>{text}{last}'
        f"{try_it}</div>"
        f'<div class="ln-widget" data-widget="{step.widget}">'
        f'<p class="ln-wait" role="status">{WIDGET["waiting"]}</p></div>'
        f'<details class="ln-foot"><summary>{words.EQUATION}</summary>'
        f'<div class="ln-eq">{step.equation}</div>'
        f'<p class="ln-read">{step.reading}</p>'
        f'<p class="ln-code">{words.COMPUTED_BY} <code>{step.function}</code></p>'
        "</details></section>"
    )
