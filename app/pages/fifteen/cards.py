"""Results as HTML and plain values for the page's script."""

from __future__ import annotations

from html import escape
from typing import Any
from urllib.parse import urlencode

from app.pages.fifteen.results import Choice, CorruptionResult, FifteenResults
from app.parts.marks import SIGNS
from app.parts.pictures import data_uri
from app.words import fifteen as words
from dga.corruptions import family_of
from dga.networks.classifier import Prediction
from dga.sentences import percent
from dga.titles import title as corruption_title

_SIGNS = {
    "tick": SIGNS["ok"],
    "cross": SIGNS["bad"],
    "equals": '<path d="M1 4h10M1 8h10"/>',
    "arrow": '<path d="M1 6h9M6.500 2.500L10 6 6.500 9.500"/>',
}
_LOOKS = {
    "corrected": ("tick", "ok"),
    "still-right": ("equals", "same"),
    "still-wrong": ("cross", "bad"),
    "made-wrong": ("cross", "bad"),
    "changed": ("arrow", "same"),
    "unchanged": ("equals", "same"),
}


def subject_of(choice: Choice) -> str:
    """What the sentence calls the picture."""
    return words.OWN if choice.example is None else words.SUBJECTS.get(choice.example, words.OTHER)


def heading_html(results: FifteenResults) -> dict[str, str]:
    """The sentence with its counts, and the line under it."""
    counts, choice = results.counts(), results.choice
    if results.phase == "empty":
        name, lead = "empty", words.WILL_HAPPEN[choice.method]
    else:
        stopped = "part" if counts["done"] else "running"
        name = {"done": "done", "cancelled": stopped, "error": stopped}.get(
            results.phase, "running"
        )
        name += "_damaged" if choice.damaged else ""
        lead = _lead(results)
    return {
        "sentence": words.HEADINGS[name].format(subject=subject_of(choice), **counts),
        "lead": lead,
    }


def _lead(results: FifteenResults) -> str:
    method = words.METHODS[results.choice.method]
    depth = (
        words.DEPTH_FIXED.format(method=method)
        if results.choice.method == "dda"
        else words.DEPTH_CHOSEN
    )
    lead = words.LEAD.format(method=method, depth=depth)
    known = results.reference
    if known is not None:
        return (
            f"{lead} {words.REFERENCE.format(label=known.label, share=percent(known.probability))}"
        )
    return f"{lead} {words.NO_REFERENCE}" if results.choice.damaged else lead


def status_value(results: FifteenResults) -> dict[str, Any]:
    """Words, and progress where something is under way."""
    done, total = results.progress
    seconds = f"{results.seconds:.0f} s"
    sentence = words.STATUS.get(results.phase, "").format(done=done, total=total, seconds=seconds)
    under_way = results.phase in ("forward", "reverse") and total > 0
    return {
        "words": sentence,
        "progress": [done, total] if under_way else None,
        "error": results.error,
        "phase": results.phase,
    }


def grid_value(results: FifteenResults) -> dict[str, Any]:
    """Cards by corruption, their orders, and the table as text.

    Parts of a card are apart so that only what changed travels to the browser.
    """
    choice = results.choice
    name = choice.example or "own-picture"
    return {
        "running": results.running,
        "cards": {row.corruption: _card(results, row) for row in results.rows},
        "orders": results.orders(),
        "csv": results.csv(),
        "file": f"fifteen-{name}-severity-{choice.settings.severity}-{choice.method}.csv",
    }


def note_html(results: FifteenResults) -> str:
    """What a click does, what the dots mean, and the settings."""
    asked, stopping = results.choice.settings, results.profile.stopping
    plus, method = results.profile.plus, results.choice.method
    templates: tuple[str, ...] = words.NOTE_SETTINGS
    dot, tau, depth = words.NOTE_DOT, asked.tau, stopping.max_depth
    if method == "dda":
        templates, dot, depth = words.NOTE_SETTINGS_FIXED, words.NOTE_FIXED, asked.dda_depth
    if method == "dga-plus":
        templates, dot = words.NOTE_SETTINGS_PLUS, words.NOTE_DOT_PLUS
        tau, depth = plus.stopping.tau, plus.stopping.max_depth
    known = {"seed": asked.seed, "tau": tau, "noise_tau": plus.noise_tau, "depth": depth}
    settings = (word.format(**known) for word in templates)
    lines = [
        words.NOTE_LINK if results.choice.example else words.NOTE_OWN,
        dot,
        "" if results.choice.damaged else words.NOTE_GAIN,
    ]
    return (
        f"<div>{''.join(f'<p>{line}</p>' for line in lines if line)}</div>"
        f"<ul>{''.join(f'<li>{item}</li>' for item in settings)}</ul>"
    )


def link(choice: Choice, corruption: str) -> str:
    """Address of the Adapt page with these settings; empty for an upload."""
    if choice.example is None:
        return ""
    asked = choice.settings
    fields = {
        "image": choice.example,
        "corruption": corruption,
        "severity": asked.severity,
        "tau": f"{asked.tau:.2f}",
        "seed": asked.seed,
    }
    return f"./?{urlencode(fields)}"


def _card(results: FifteenResults, row: CorruptionResult) -> dict[str, str]:
    return {
        "head": _head(results.choice, row.corruption),
        "before": _before(row),
        "after": _after(row),
        "foot": _foot(results, row),
    }


def _head(choice: Choice, corruption: str) -> str:
    title, address = escape(corruption_title(corruption)), link(choice, corruption)
    if address:
        title = f'<a href="{escape(address)}">{title}</a>'
    return f"<h2>{title}</h2><p>{corruption_title(family_of(corruption))}</p>"


def _before(row: CorruptionResult) -> str:
    if row.before is None:
        return f'<div class="ff-well"></div>{_caption(None)}'
    said = f": {row.said.label}" if row.said else ""
    alt = words.CORRUPTED_ALT.format(title=corruption_title(row.corruption), label=said)
    return _picture(data_uri(row.before), alt) + _caption(row.said)


def _after(row: CorruptionResult) -> str:
    title = corruption_title(row.corruption)
    if row.after is not None and row.says is not None:
        alt = words.REBUILT_ALT.format(title=title, label=f": {row.says.label}")
        return _picture(data_uri(row.after), alt) + _caption(row.says)
    if row.preview is not None:  # replaced soon: small is better than exact
        alt = words.UNDER_WAY_ALT.format(title=title)
        return _picture(data_uri(row.preview, "JPEG"), alt) + _caption(None)
    return f'<div class="ff-well"><span>{words.WELL}</span></div>{_caption(None)}'


def _picture(source: str, alt: str) -> str:
    return f'<div class="ff-well"><img src="{source}" alt="{escape(alt)}"></div>'


def _caption(said: Prediction | None) -> str:
    if said is None:
        return '<p class="ff-label">&nbsp;</p><p class="ff-share">&nbsp;</p>'
    return (
        f'<p class="ff-label">{escape(said.label)}</p>'
        f'<p class="ff-share">{percent(said.probability)}</p>'
    )


def _foot(results: FifteenResults, row: CorruptionResult) -> str:
    name = results.verdict(row)
    stopped = results.phase in ("cancelled", "error")
    verdict = f'<p class="ff-verdict">{words.NOT_FINISHED if stopped else "&nbsp;"}</p>'
    if name is not None:
        shape, look = _LOOKS[name]
        sign = f'<svg viewBox="0 0 12 12" aria-hidden="true">{_SIGNS[shape]}</svg>'
        verdict = f'<p class="ff-verdict {look}">{sign}{words.VERDICTS[name]}</p>'
    return verdict + _depth(results, row)


def _depth(results: FifteenResults, row: CorruptionResult) -> str:
    """The depth in words and as a bar; hollow where the discriminator was still sure."""
    steps, stop = results.profile.schedule.steps, row.stop
    symbol = "depth" if results.choice.method == "dda" else "t*"
    if stop is None:
        return (
            f'<p class="ff-depth"><span>{symbol} <b>\N{EN DASH}</b></span>'
            f'<span>{words.OF.format(steps=steps)}</span></p><div class="ff-bar"></div>'
        )
    sentence = words.OF.format(steps=steps)
    if results.choice.method == "dda":
        sentence = words.FIXED
    elif stop.t_star == 0:
        sentence = words.INVERSE if row.changed else words.AS_IT_IS
    elif not stop.crossed:
        sentence = words.AT_MAXIMUM
    hollow = "" if stop.crossed else " hollow"
    alt = words.DEPTH_ALT.format(depth=stop.t_star, steps=steps)
    return (
        f'<p class="ff-depth"><span>{symbol} <b>{stop.t_star}</b></span><span>{sentence}</span></p>'
        f'<div class="ff-bar{hollow}" role="img" aria-label="{alt}" '
        f'style="--at:{100 * stop.t_star / steps:.1f}%"><i></i></div>'
    )
