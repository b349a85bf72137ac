"""The card where a picture, its damage and the settings of a run are chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gradio as gr

from app.pages.adapt.corruption_thumbnails import SIDE, style_sheet, style_sheets
from app.pages.adapt.input_templates import (
    ADVANCED,
    SOURCES,
    SUMMARY,
    THUMBNAILS,
    advanced_words,
    summary_words,
)
from app.parts.examples import Example, identify
from app.parts.html import PRIVATE, html
from app.parts.pictures import picture_input
from app.runs.links import Link, filled, opening_values
from app.runs.session import Session
from app.runs.settings import MAX_PATHS, MAX_SCALE, MAX_SEED, RULES
from app.server.decoder import read_square
from app.server.strict_blocks import picked
from app.words.adapt import ADVANCED_HELP, ADVANCED_TITLES, INPUT_WORDS, RULE_TITLES
from app.words.common import SEED_HELP
from dga.corruptions import CORRUPTIONS, SEVERITIES
from dga.data.uploads import UploadError
from dga.profiles import IMAGENET
from dga.titles import short

_WORDS = INPUT_WORDS


@dataclass(frozen=True)
class InputCard:
    """The components whose values make a run; ``advanced``: paths, scale, max_depth, rule."""

    picture: gr.Image
    corruption: gr.Radio
    as_is: gr.Checkbox
    severity: gr.Radio
    seed: gr.Number
    advanced: tuple[gr.Slider, gr.Slider, gr.Slider, gr.Radio]
    adapt: gr.Button
    cancel: gr.Button

    def settings(self) -> list[Any]:
        """What the summary and the words of Advanced are made from, in input.js's order."""
        return [self.picture, self.corruption, self.severity, self.seed, *self.advanced]


def input_card(session: Session, examples: list[Example], first: Link | None = None) -> InputCard:
    """Lay the card out and connect what needs no model. ``first``: what it opens with."""
    profile = session.profile
    opening = filled(profile, first.settings) if first else opening_values(profile)
    named = [example for example in examples if first and example.name == first.image]
    chosen = next(iter(named or examples), None)
    with gr.Row(elem_id="input"):
        _summary(examples, chosen, opening)
        picture, thumbnails = _picture_column(examples, chosen)
        as_is, corruption, corruption_styles = _corruption_column(opening)
        with gr.Column(elem_id="input-knobs"):
            severity, seed, dice = _knobs(opening)
            html(
                advanced_words(opening),
                html_template=ADVANCED,
                elem_id="advanced-toggle",
            )
            advanced = _advanced(session, opening)
            with gr.Row(elem_id="buttons"):
                adapt = gr.Button(_WORDS["adapt"], variant="primary", elem_id="adapt")
                cancel = gr.Button(_WORDS["cancel"], interactive=False, elem_id="cancel")
    card = InputCard(picture, corruption, as_is, severity, seed, advanced, adapt, cancel)
    _connect(card, dice)
    _connect_picture(session, card, thumbnails, corruption_styles, examples)
    return card


def _summary(examples: list[Example], chosen: Example | None, opening: dict[str, Any]) -> None:
    """A phone's one line, with the script of the whole card."""
    html(
        summary_words(chosen, opening),
        html_template=SUMMARY,
        scripts=["shared/radios", "adapt/input"],
        elem_id="input-summary",
        words=_WORDS,
        corruptions={name: short(name) for name in CORRUPTIONS},
        rules={name: RULE_TITLES[name].lower() for name in RULES},
        examples={example.name: example.title for example in examples},
        chosen=chosen.name if chosen else None,
    )


def _connect(card: InputCard, dice: gr.Button) -> None:
    """What the browser does alone."""
    for component in card.settings():
        component.change(
            None, card.settings(), None, js="(...v) => window.dgaInput?.show(v)", **PRIVATE
        )
    card.as_is.input(
        None,
        [card.as_is, card.corruption],
        [card.corruption, card.severity],
        js="(on, now) => window.dgaInput.asIs(on, now)",
        **PRIVATE,
    )
    dice.click(None, None, card.seed, js="() => Math.floor(Math.random() * 10000)", **PRIVATE)


def _connect_picture(
    session: Session,
    card: InputCard,
    thumbnails: gr.HTML,
    corruption_styles: gr.HTML,
    examples: list[Example],
) -> None:
    paths = {example.name: example.path for example in examples}

    def pick(event: gr.EventData) -> str | None:
        return paths.get(picked(event, "name"))

    def preview(path: str | None) -> Iterator[Any]:
        for sheet in _thumbnails(path, examples):
            yield sheet
            _ = session.models  # what compiles for seconds comes after them

    thumbnails.select(pick, None, card.picture, queue=False, **PRIVATE)
    for listen in (card.picture.upload, card.picture.input, card.picture.clear):
        listen(None, None, None, js="() => window.dgaInput.press(null)", **PRIVATE)
    # Without triggers named: when the page opens, and whenever the picture changes.
    gr.on(
        None,
        preview,
        card.picture,
        corruption_styles,
        concurrency_id="swatches",
        concurrency_limit=4,
        trigger_mode="always_last",
        **PRIVATE,
    )


def _thumbnails(path: str | None, examples: list[Example]) -> Iterator[Any]:
    """The picker's thumbnails; a file that is no picture gets its sentence from the run."""
    try:
        pixels = read_square(path, SIDE)
    except UploadError:
        yield gr.skip()  # the last ones stay
        return
    yield from style_sheets(pixels, remember=identify(pixels, examples) is not None)


def _picture_column(examples: list[Example], chosen: Example | None) -> tuple[gr.Image, gr.HTML]:
    with gr.Column(elem_id="input-picture"):
        html(f'<p class="title">{_WORDS["picture"]}</p>')
        with gr.Row(elem_id="picture-row"):
            picture = picture_input(
                value=chosen.path if chosen else None,
                sources=["upload", "clipboard", "webcam"],
                show_label=False,
                label=_WORDS["picture"],
                alt_text=_WORDS["alt"],
                buttons=[],
                elem_id="picture",
            )
            thumbnails = html(
                [{"name": e.name, "title": e.title, "thumbnail": e.thumbnail} for e in examples],
                html_template=THUMBNAILS,
                scripts=["adapt/thumbs"],
                elem_id="examples",
                words=_WORDS,
            )
        html(html_template=SOURCES, elem_id="sources", words=_WORDS)
    return picture, thumbnails


def _corruption_column(opening: dict[str, Any]) -> tuple[gr.Checkbox, gr.Radio, gr.HTML]:
    with gr.Column(elem_id="input-corruption"):
        as_is = gr.Checkbox(False, label=_WORDS["as_is"], container=False, elem_id="as-is")
        corruption = gr.Radio(
            [(short(name), name) for name in CORRUPTIONS],
            value=opening["corruption"],
            label=_WORDS["corruption"],
            elem_id="corruption",
        )
        corruption_styles = html(style_sheet({}), elem_id="swatches")
    return as_is, corruption, corruption_styles


def _knobs(opening: dict[str, Any]) -> tuple[gr.Radio, gr.Number, gr.Button]:
    with gr.Row(elem_id="knobs"):
        severity = gr.Radio(
            list(SEVERITIES),
            value=opening["severity"],
            label=_WORDS["severity"],
            elem_id="severity",
        )
        seed = gr.Number(
            opening["seed"],
            label=_WORDS["seed"],
            precision=0,
            minimum=0,
            maximum=MAX_SEED,
            elem_id="seed",
        )
        dice = gr.Button(_WORDS["dice"], elem_id="dice")
        html(f'<p class="help">{SEED_HELP}</p>', elem_id="seed-help")
    return severity, seed, dice


def _advanced(
    session: Session, opening: dict[str, Any]
) -> tuple[gr.Slider, gr.Slider, gr.Slider, gr.Radio]:
    """A row that input.js opens; the order on the page is not that of the values."""
    profile = session.profile
    known = session.source_bound is not None
    paper = IMAGENET.guidance.scale
    with gr.Row(elem_id="advanced"):
        scale = _slider("scale", 0, MAX_SCALE, opening["scale"], 0.05, paper=paper)
        depth = _slider("max_depth", 1, profile.schedule.steps, opening["max_depth"], 1)
        with gr.Column():
            rule = gr.Radio(
                [(RULE_TITLES[name], name) for name in RULES if known or name == "threshold"],
                value=opening.get("rule", "threshold"),
                label=ADVANCED_TITLES["rule"],
                elem_id="rule",
            )
            _help("rule", share=f"{round(100 * profile.stopping.quantile)} %")
        paths = _slider("paths", 1, MAX_PATHS, opening["paths"], 1)
    return paths, scale, depth, rule


def _slider(
    name: str, low: float, high: float, value: float, step: float, **known: object
) -> gr.Slider:
    with gr.Column():
        slider = gr.Slider(
            low,
            high,
            value,
            step=step,
            label=ADVANCED_TITLES[name],
            elem_id=name.replace("_", "-"),
            elem_classes="knob",
        )
        _help(name, **known)
    return slider


def _help(name: str, **known: object) -> None:
    text = ADVANCED_HELP[name].format(**known)
    html(f'<p class="help">{text}</p>')
