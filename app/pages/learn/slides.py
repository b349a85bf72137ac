"""The seven steps as HTML: words, equations, functions and the frames of the widgets."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from html import escape

import app.pages.learn.steps as words
from app.pages.learn.steps import STEPS, WIDGET, Step

_MARKUP = re.compile(r"(?::\w+:)?`+~?([^`]+)`+")


def slides_html() -> str:
    """All steps; the page's script shows one at a time."""
    total = len(STEPS)
    links = "".join(
        f'<li><a href="./learn#step-{n}"><b>{n}</b><span>{escape(step.short)}</span></a></li>'
        for n, step in enumerate(STEPS, 1)
    )
    steps = "".join(_slide(n, total, step) for n, step in enumerate(STEPS, 1))
    return (
        f'<div class="ln-walk"><header class="ln-top"><h1>{words.TITLE}</h1>'
        f'<p class="lead">{words.LEAD}</p></header>'
        f'<nav class="ln-nav" aria-label="{words.CONTENTS}"><ol>{links}</ol></nav>'
        f'<div class="ln-steps">{steps}</div>'
        f'<div class="ln-turn"><button type="button" class="ln-back">← {words.PREVIOUS}</button>'
        f'<button type="button" class="ln-next">{words.NEXT} →</button></div></div>'
    )


def _slide(n: int, total: int, step: Step) -> str:
    text = "".join(f"<p>{paragraph}</p>" for paragraph in step.text)
    last = f'<p class="ln-on">{words.GO_ON}</p>' if n == total else ""
    return (
        f'<section class="ln-step" id="step-{n}" aria-labelledby="step-{n}-title" hidden>'
        f'<div class="ln-text"><p class="ln-no">{words.STEP_OF.format(n=n, total=total)}</p>'
        f'<h2 id="step-{n}-title" tabindex="-1">{step.title}</h2>{text}{last}</div>'
        f'<div class="ln-side"><p class="ln-try">{step.try_it}</p>'
        f'<div class="ln-widget" data-widget="{step.widget}">'
        f'<p class="ln-wait" role="status">{WIDGET["waiting"]}</p></div></div>'
        f'<footer class="ln-foot"><div class="ln-eq">{step.equation}</div>'
        f'<p class="ln-read">{step.reading}</p>{function_html(step.function)}</footer></section>'
    )


def function_html(function: Callable[..., object]) -> str:
    """Where a function is, and the first line of its docstring."""
    place = f"{function.__module__.replace('.', '/')}.py"
    first = _MARKUP.sub(r"\1", (inspect.getdoc(function) or "").partition("\n")[0])
    return (
        f'<p class="ln-code">{words.COMPUTED_BY} <code>{escape(place)}</code> · '
        f"<code>{escape(function.__name__)}</code><br><q>{escape(first)}</q></p>"
    )
