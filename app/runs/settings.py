"""What a visitor may ask for: one checked request."""

from __future__ import annotations

from app.server.errors import RequestError
from app.words.common import NO_CORRUPTION
from dga.corruptions import CORRUPTIONS
from dga.profiles import Profile
from dga.request import Request

MAX_SEED = 2**31 - 1
MAX_PATHS = 8
MAX_SCALE = 20
SHOWN = 32  # depths that the page shows unless a setting goes deeper


def check_settings(
    profile: Profile,
    corruption: object,
    severity: object,
    tau: object,
    seed: object,
    dda_depth: object,
    paths: object = None,
    scale: object = None,
    max_depth: object = None,
) -> Request:
    """Check a request from anywhere; None stands for the profile's own value of the last three.

    Raises :class:`RequestError` naming what is allowed.
    """
    if corruption not in (None, NO_CORRUPTION, *CORRUPTIONS):
        allowed = ", ".join((NO_CORRUPTION, *CORRUPTIONS))
        raise RequestError(f"The corruption is one of: {allowed}.")
    deepest, tries = profile.schedule.steps, profile.stopping.paths if paths is None else paths
    return Request(
        corruption=None if corruption in (None, NO_CORRUPTION) else str(corruption),
        severity=_whole("Severity", severity, 1, 5),
        tau=_number("tau", tau, 0, 1),
        seed=_whole("The seed", seed, 0, MAX_SEED),
        dda_depth=_whole("DDA's depth", dda_depth, 1, deepest),
        paths=_whole("The number of tries", tries, 1, MAX_PATHS),
        scale=None if scale is None else _number("The guidance's strength", scale, 0, MAX_SCALE),
        max_depth=None if max_depth is None else _whole("The maximum depth", max_depth, 1, deepest),
    )


def _number(name: str, value: object, low: int, high: int, whole: bool = False) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    # NaN is in no range.
    if not is_number or not low <= value <= high or (whole and value % 1):  # type: ignore[operator]
        kind = "whole number" if whole else "number"
        raise RequestError(f"{name} is a {kind} from {low} to {high}.")
    return float(value)  # type: ignore[arg-type]


def _whole(name: str, value: object, low: int, high: int) -> int:
    return int(_number(name, value, low, high, whole=True))


def deepest_shown(profile: Profile, settings: Request) -> int:
    """How deep the page looks at a run of these settings."""
    deepest = max(SHOWN, settings.stopping(profile).max_depth, settings.dda_depth)
    return min(deepest, profile.schedule.steps)
