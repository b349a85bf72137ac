"""What a visitor may ask of one run: the one model that pages, links and endpoints share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo

from app.runs.strokes import parse_strokes
from app.server.visitors import VisitorError
from dga.corruptions import CORRUPTIONS, EVERYDAY
from dga.profiles import PROFILES

NONE, PAINT = "none", "paint"
DAMAGES = (NONE, PAINT, *CORRUPTIONS, *EVERYDAY)
FIRST_DAMAGES = ("impulse_noise", "motion_blur", "contrast", "pixelate")
"""Beside none, those that are in sight at once."""
RELEASE_QUALITY = 85  # of ImageNet-C's files


def _check_strokes(text: str, info: ValidationInfo) -> str:
    parse_strokes(text)
    return text if info.data.get("damage") == PAINT else ""


def _check_saved(quality: int | None, info: ValidationInfo) -> int | None:
    return None if info.data.get("damage") in (NONE, PAINT) else quality


Quality = Annotated[int, Field(ge=1, le=100)]
# Of any profile: as deep as the deepest rule looks.
Depth = Annotated[
    int, Field(ge=1, le=max(profile.stopping.deepest for profile in PROFILES.values()))
]


class SettingsError(VisitorError):
    """Settings that cannot be run."""

    status = 400


class Settings(BaseModel):
    """``photo``: a sample's name, or the key of an upload; ``strength``: of a corruption, as
    ImageNet-C's severity; ``saved``: the quality of the JPEG as which the damaged photo is saved,
    None where it is not, as of none and paint; ``seed``: fixes damage and noise; ``tau``:
    confidence below which the paper's method stops, None for the profile's; ``max_depth``: depth
    where it stops at the latest, None for the profile's; ``is_brief``: whether the run ends with
    our repair, and of an undamaged photo before it; ``strokes``: of the brush, as in links; empty
    where the damage is not paint."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    photo: Annotated[str, Field(min_length=1, max_length=64)] = "panda"
    damage: Literal[DAMAGES] = "contrast"  # type: ignore[valid-type]
    strength: Annotated[int, Field(ge=1, le=5)] = 5
    saved: Annotated[Quality | None, AfterValidator(_check_saved)] = None
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    tau: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    max_depth: Depth | None = None
    is_brief: bool = False
    strokes: Annotated[str, AfterValidator(_check_strokes)] = ""


def parse_settings(value: Any) -> Settings:
    """Settings from JSON, which may be bytes. Raises :class:`SettingsError` naming the
    first that is not allowed."""
    try:
        is_text = isinstance(value, bytes)
        return Settings.model_validate_json(value) if is_text else Settings.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        if first["type"] == "value_error":
            raise SettingsError(str(first["ctx"]["error"])) from None
        name = ".".join(map(str, first["loc"][:3])) or "settings"
        raise SettingsError(f"{name.capitalize()}: {first['msg'].lower()}.") from None


def parse_link(query: Mapping[str, str]) -> Settings:
    """What a link to the first page shows of a photo. Raises :class:`SettingsError`."""
    shown = "photo", "damage", "strength", "saved", "seed", "strokes", "tau", "max_depth"
    known = {name: query[name] for name in shown if name in query}
    return parse_settings(({"damage": PAINT} if known.get("strokes") else {}) | known)
