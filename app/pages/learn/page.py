"""The guided walk: seven steps, filled in when the models are ready."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import cache
from typing import Any

import gradio as gr

from app.pages.learn import steps as words
from app.pages.learn.lesson import Lesson
from app.pages.learn.steps import FAILED, IN_THE_LOG, STEPS, WIDGET
from app.parts.examples import load_examples
from app.parts.html import PRIVATE, html, rendered
from app.runs.session import Session
from app.server.errors import SENTENCES, translate_errors
from app.server.queue_position import CONCURRENCY_ID

SCRIPTS = ("learn/parts", "learn/game", "learn/widgets", "learn/learn")

_log = logging.getLogger(__name__)


def learn_page(session: Session, page: gr.Blocks) -> tuple[str, str]:
    """Lay the page out and connect it; ``page``: the Blocks whose route is being built.

    Returns the heading and the text that it opens with.
    """
    examples = {example.name: example for example in load_examples()}
    lesson = cache(lambda: Lesson(session.models, examples))
    slides = html(
        {},
        html_template="${slides}",
        slides=rendered("learn/slides", words=words),
        scripts=SCRIPTS,
        elem_id="learn",
        words=WIDGET,
        steps=session.profile.schedule.steps,
    )

    def fill() -> Iterator[Any]:
        """What the models made so far; whatever goes wrong becomes a sentence."""
        try:
            with translate_errors():
                yield from lesson().parts()
                yield gr.skip()  # a generator's last value is sent twice
        except Exception as error:
            _log.exception("The guided walk could not be computed")
            problem = error if isinstance(error, SENTENCES) else IN_THE_LOG
            yield {"problem": FAILED.format(problem=problem)}

    page.load(fill, None, slides, concurrency_id=CONCURRENCY_ID, concurrency_limit=1, **PRIVATE)
    return STEPS[0].title, STEPS[0].text
