"""A run's settings in the page's address, and back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from app.runs.settings import check_settings, deepest_shown
from app.words.common import NO_CORRUPTION
from app.words.try_it import EXAMPLE_TITLES, LINK_NOTICES, LINK_PARTS, LINK_USUAL
from dga.io.parsing import shortened
from dga.profiles import Profile
from dga.request import Request
from dga.systems import USUAL
from dga.titles import title

# In the address, as a setting, how it is read.
_FIELDS = (
    ("corruption", "corruption", str),
    ("severity", "severity", int),
    ("tau", "tau", float),
    ("seed", "seed", int),
    ("dda", "dda_depth", int),
    ("paths", "paths", int),
    ("scale", "scale", float),
    ("max_depth", "max_depth", int),
)
KEYS = ("run", "image", *(key for key, _, _ in _FIELDS), "method", "depth")
ORDER = tuple(name for _, name, _ in _FIELDS)  # of check_settings, too
OWN = "own"  # in the place of an example's name
ALWAYS = ("corruption", "severity", "tau", "seed")


@dataclass(frozen=True)
class Link:
    """A parsed address. ``image``: an example's name, None for somebody's own picture.

    ``method``: which one is looked at; ``depth``: chosen by hand; None: as the page opens.
    """

    image: str | None
    settings: Request
    notices: tuple[str, ...] = ()
    method: str | None = None
    depth: int | None = None


def opening_values(profile: Profile) -> dict[str, Any]:
    """Settings that the page opens with, by the names of :func:`check_settings`."""
    own = {"scale": profile.guidance.scale, "max_depth": profile.stopping.max_depth}
    return vars(Request.of(profile, corruption="gaussian_noise", seed=0, **own))


def filled(profile: Profile, settings: Request) -> dict[str, Any]:
    """All settings by name, with the profile's own values where none was chosen."""
    values = vars(settings) | {"corruption": settings.corruption or NO_CORRUPTION}
    given = {name: values[name] for name in ORDER if values[name] is not None}
    return opening_values(profile) | given


def write(profile: Profile, settings: Request, image: str | None) -> str:
    """The query of a link, from its question mark on; what the profile has anyway is left out."""
    values, usual = filled(profile, settings), opening_values(profile)
    query = {"image": image or OWN}
    for key, name, _ in _FIELDS:
        if key in ALWAYS or values[name] != usual[name]:
            query[key] = _text(values[name])
    return f"?{urlencode(query)}"


def _text(value: object) -> str:
    """Numbers with at least two decimals, and as many as it takes to read them back."""
    if not isinstance(value, float):
        return str(value)
    short = f"{value:.2f}"
    return short if float(short) == value else repr(value)


def parse(
    query: Mapping[str, str], profile: Profile, images: Collection[str], opening: Mapping[str, Any]
) -> Link:
    """Read an address.

    ``opening``: what the page opens with, by the names of :func:`check_settings`, and ``image``.
    Never raises: every value that is unknown or out of range is replaced by the page's own,
    with a notice that names both.
    """
    written = all(key in query for key in ALWAYS)  # by us: what it leaves out is the profile's
    values = dict(opening) | (opening_values(profile) if written else {})
    notices = []
    rule = query.get("rule", "threshold")
    if rule != "threshold":
        notices.append(_notice("rule", rule, "threshold"))
    image = query.get("image", values["image"])
    if image not in (*images, OWN):
        notices.append(_notice("image", image, values["image"]))
        image = values["image"]
    del values["image"]
    for key, name, kind in _FIELDS:
        if key in query:
            try:
                asked = values | {name: kind(query[key])}
                check_settings(profile, **asked)
                values = asked
            except (ValueError, OverflowError):
                notices.append(_notice(key, query[key], _text(values[name])))
    settings = check_settings(profile, **values)
    seen: dict[str, Any] = {}
    depths = {str(depth): depth for depth in range(deepest_shown(profile, settings) + 1)}
    for key, known in (("method", {name: name for name in USUAL}), ("depth", depths)):
        seen[key] = known.get(query.get(key, ""))
        if key in query and seen[key] is None:
            notices.append(_notice(key, query[key], LINK_USUAL[key]))
    return Link(None if image == OWN else image, settings, tuple(notices), **seen)


def _notice(name: str, value: str, fallback: str) -> str:
    """``name``: as it stands in the address, like ``fallback``."""
    used = title(fallback) if name == "corruption" else EXAMPLE_TITLES.get(fallback, fallback)
    told = {"name": LINK_PARTS.get(name, name), "value": shortened(value), "fallback": used}
    return LINK_NOTICES["unknown"].format(**told)
