"""What surrounds every page: head, header with the links between pages, foot, styles and scripts.

A page is HTML that is made once, when the server starts; its scripts ask for what is computed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from dga.corruptions import CORRUPTIONS

APP = Path(__file__).parent.parent
STATIC = APP / "static"
LINKS = (  # name, address
    ("Repair", ""),
    ("Inside", "#inside"),
    ("All 15", "all-15"),
    ("Results", "results"),
    ("Learn", "learn"),
)
PLAIN_NAMES = dict(
    zip(
        CORRUPTIONS,
        (
            "Noise", "Grain", "Speckles", "Focus", "Glass", "Motion", "Zoom",
            "Snow", "Frost", "Fog", "Bright", "Contrast", "Warp", "Blocks", "JPEG",
        ),
        strict=True,
    )
)  # fmt: skip
"""A word for each corruption that somebody knows who never heard of ImageNet-C."""
DESCRIPTIONS = dict(
    zip(
        CORRUPTIONS,
        (
            "the same everywhere, as in the dark",
            "more where it is bright, as of little light",
            "single pixels wrong, as of broken ones",
            "the lens was out of focus",
            "seen through frosted glass",
            "the camera moved",
            "zoomed while it was taken",
            "it snows",
            "ice on the lens",
            "haze between camera and thing",
            "too much light",
            "light and dark hardly differ",
            "bent, as by waves",
            "few large pixels",
            "saved too small",
        ),
        strict=True,
    )
)
"""What is wrong with such a photo, in a few words."""
METHODS = {
    "plus": "Ours: find it, then undo it",
    "paper": "The paper's: noise until it cannot tell",
    "fixed": "Rival: same noise for all",
}
_environment = Environment(
    loader=FileSystemLoader(APP / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


@dataclass(frozen=True)
class Page:
    """``path``: its address, "" for the first; ``title``: of the browser's tab; ``main``: HTML.

    ``styles``, ``scripts``: files in ``app/static``, beside ``app.css`` and ``base.js``; ``data``:
    what the scripts read with ``data()``, in JSON types.
    """

    path: str
    title: str
    description: str
    main: str
    styles: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)


def render(template: str, **values: Any) -> Markup:
    """A template of ``app/templates``, as HTML that is not escaped again."""
    return Markup(_environment.get_template(template).render(**values))


def to_json(value: Any) -> Markup:
    """JSON that may stand inside of a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))


def render_page(page: Page) -> str:
    """The whole document; links in it are relative to ``[[base]]``, which the server fills in."""
    return render("layout.html", page=page, links=LINKS, files=f"files/{digest()}", json=to_json)


@cache
def digest() -> str:
    """Digest of all static files: part of their address, so browsers may keep them for a year."""
    content = hashlib.sha256()
    for path in sorted(STATIC.rglob("*")):
        if path.is_file():
            content.update(path.name.encode() + path.read_bytes())
    return content.hexdigest()[:16]
