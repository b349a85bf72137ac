"""One result card as HTML."""

from __future__ import annotations

from html import escape

from app.parts.marks import mark, sign
from app.parts.pictures import data_uri
from app.runs.run_state import Card
from app.words.adapt import DDA_DEPTHS, TOP5
from app.words.common import (
    CARD_TITLES,
    CARD_WAITING,
    INTERRUPTED,
    OTHER_LABEL,
    RESULTS_TITLE,
    SAME_LABEL,
)
from dga.networks.classifier import Prediction
from dga.profiles import IMAGENET, Profile
from dga.sentences import percent


def card_html(card: Card) -> str:
    """A card in whatever state it is: waiting, being rebuilt, finished or interrupted."""
    title = card.title or CARD_TITLES[card.name]
    state = INTERRUPTED if card.interrupted else card.detail or "&nbsp;"
    return (
        f'<article class="result" aria-label="{title}">'
        f'<header>{mark(card.name)}<h3>{title}</h3><p class="detail">{state}</p></header>'
        f"{_picture(card, title)}{_prediction(card)}"
        f'<p class="note">{escape(card.note)}</p></article>'
    )


def _picture(card: Card, title: str) -> str:
    if card.image is None:
        return f'<div class="well"><span>{CARD_WAITING[card.name]}</span></div>'
    label = f": {card.prediction.label}" if card.prediction else ", not finished"
    alt = escape(f"{title}{label}")
    return f'<div class="well"><img src="{data_uri(card.image)}" alt="{alt}"></div>'


def _prediction(card: Card) -> str:
    if card.prediction is None:
        return '<div class="prediction"></div>'
    (label, share), *others = card.prediction.top(5)
    rows = [_row("other", name, value) for name, value in others]
    more = f"<summary>{TOP5}</summary>{''.join(rows[2:])}"
    return (
        f'<div class="prediction">{_row("first", label, share, verdict(card))}'
        f'{"".join(rows[:2])}<details class="more-labels">{more}</details></div>'
    )


def verdict(card: Card) -> str:
    """A tick or a cross against the clean picture's label; nothing where that is not known."""
    if card.agrees is None:
        return ""
    word = "agrees with the clean picture" if card.agrees else "differs from the clean picture"
    return sign("ok" if card.agrees else "bad", word)


def legend_html(clean: Prediction | None) -> str:
    """Title of the cards; what tick and cross mean, if the clean picture is known."""
    words = ""
    if clean is not None:
        known = f"{SAME_LABEL} ({escape(clean.label)}, {percent(clean.probability)})"
        parts = f"{sign('ok', 'tick')} {known}", f"{sign('bad', 'cross')} {OTHER_LABEL}"
        words = "".join(f'<span class="legend">{part}</span>' for part in parts)
    return f'<div class="section-row"><h2 class="section">{RESULTS_TITLE}</h2><p>{words}</p></div>'


def depth_ticks(profile: Profile) -> str:
    """Where on DDA's slider the paper's depth is, and both depths in words."""
    tuned, paper, steps = profile.dda_depth, IMAGENET.dda_depth, profile.schedule.steps
    words = DDA_DEPTHS.format(size=profile.image_size, tuned=tuned, paper=paper)
    at = (paper - 1) / (steps - 1)
    return f'<div class="ticks"><i style="--at:{at:.4f}"></i></div><p>{words}</p>'


def _row(kind: str, label: str, share: float, before: str = "") -> str:
    return (
        f'<div class="row {kind}"><p>{before}<span class="label">{escape(label)}</span>'
        f'<span class="share">{percent(share)}</span></p>'
        f'<div class="bar"><i style="width:{100 * share:.1f}%"></i></div></div>'
    )
