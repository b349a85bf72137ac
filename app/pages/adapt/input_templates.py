"""Templates and first values of the input card's own HTML."""

from __future__ import annotations

from typing import Any

from app.parts.examples import Example
from app.words.adapt import INPUT_WORDS, RULE_TITLES
from app.words.common import NO_CORRUPTION
from dga.titles import short

THUMBNAILS = """<div class="thumbs" role="group" aria-label="{{words.examples}}">
{{#each value}}<button type="button" data-name="{{name}}" aria-label="{{title}}" title="{{title}}">
<img src="{{thumbnail}}" alt=""></button>{{/each}}</div>"""

SOURCES = """<div class="sources" role="group" aria-label="{{words.sources}}">
<button type="button" data-source="Upload">{{words.upload}}</button>
<button type="button" data-source="Paste">{{words.paste}}</button>
<button type="button" data-source="Capture">{{words.webcam}}</button>
<p class="source-note" role="status"></p></div>"""

SUMMARY = """<div class="summary"><img src="{{value.thumbnail}}" alt="">
<p><b>{{value.title}}</b><span>{{value.more}}</span></p>
<button type="button" aria-expanded="false" aria-controls="input">{{value.change}}</button></div>"""

ADVANCED = """<button type="button" class="fold" aria-expanded="false" aria-controls="advanced">
<b>{{value.title}}</b>
<span data-words="guidance">{{value.guidance}}</span>
<span data-words="stopping">{{value.stopping}}</span>
<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M3.5 6l4.5 4.5L12.5 6"/></svg></button>"""


def summary_words(first: Example | None, opening: dict[str, Any]) -> dict[str, Any]:
    """What the phone's one-line card says before anything was changed."""
    words = INPUT_WORDS
    picture = first.title if first else words["none"]
    name = opening["corruption"]
    corruption = words["as_is"] if name == NO_CORRUPTION else short(name)
    return {
        "thumbnail": first.thumbnail if first else "",
        "title": words["summary"].format(picture=picture, corruption=corruption),
        "more": words["summary_more"].format(**opening),
        "change": words["change"],
    }


def advanced_words(opening: dict[str, Any]) -> dict[str, Any]:
    """The folded row's values in words."""
    words, paths = INPUT_WORDS, opening["paths"]
    rule = RULE_TITLES[opening["rule"]].lower()
    kind = "stopping_one" if paths == 1 else "stopping"
    return {
        "title": words["advanced"],
        "guidance": words["guidance"].format(
            scale=f"{opening['scale']:g}", max_depth=opening["max_depth"]
        ),
        "stopping": words[kind].format(rule=rule, paths=paths),
    }
