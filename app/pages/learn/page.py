"""The guided walk: ten steps, filled in when the models are ready."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import cache
from typing import Any

import gradio as gr

from app.pages.learn import steps as words
from app.pages.learn.lesson import Lesson
from app.pages.learn.steps import FAILED, IN_THE_LOG, STEPS, WIDGET
from app.pages.learn.toy import ENDS, MOST, Patient, Toy
from app.parts.examples import load_examples
from app.parts.files import add_json
from app.parts.html import LIGHT, PRIVATE, for_event, html, rendered
from app.runs.beside import SideLane
from app.runs.session import Session
from app.server.errors import SENTENCES, translate_errors
from app.server.queue_position import CONCURRENCY_ID, QueuePositions

SCRIPTS = ("learn/parts", "learn/game", "learn/toy", "learn/widgets", "learn/learn")
_NEWS = """watch("value", () => window.dgaToy?.NAME(props.value));"""

_log = logging.getLogger(__name__)


def learn_page(
    session: Session, page: gr.Blocks, line: QueuePositions, opens: dict[str, bytes]
) -> tuple[str, str]:
    """Lay the page out and connect it; ``page``: the Blocks whose route is being built.

    Returns the heading and the text that it opens with. What the models have made goes into
    ``opens`` as JSON, by name.
    """
    examples = {example.name: example for example in load_examples()}
    patients: dict[str, Patient] = {}
    lesson = cache(lambda: Lesson(session, examples, patients))
    toy = Toy(session, patients, SideLane(line))
    slides = html(
        {},
        html_template="${slides}",
        slides=rendered("learn/slides", words=words),
        scripts=SCRIPTS,
        elem_id="learn",
        words=WIDGET,
        steps=session.profile.schedule.steps,
        toy={"most": MOST, "ends": ENDS},
    )
    moved, land = (
        gr.HTML({}, html_template=" ", js_on_load=_NEWS.replace("NAME", name))
        for name in ("moved", "landed")
    )

    @cache
    def address(part: str) -> str:
        return add_json(opens, lesson().made[part])

    def fill() -> Iterator[Any]:
        """Addresses of what the models made so far; whatever goes wrong becomes a sentence."""
        try:
            with translate_errors():
                for made in lesson().parts():
                    yield {part: address(part) for part in made}
                yield gr.skip()  # a generator's last value is sent twice
        except Exception as error:
            _log.exception("The guided walk could not be computed")
            problem = error if isinstance(error, SENTENCES) else IN_THE_LOG
            yield {"problem": FAILED.format(problem=problem)}

    asked = {**LIGHT, "trigger_mode": "multiple"}
    slides.select(for_event(toy.move, "ask"), None, moved, **asked)
    slides.expand(for_event(toy.land, "ask"), None, land, **asked)
    page.load(fill, None, slides, concurrency_id=CONCURRENCY_ID, concurrency_limit=1, **PRIVATE)
    return STEPS[0].title, STEPS[0].text
