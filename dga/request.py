"""The settings of a run of one picture, checked alike for the command line, the page and programs.

A :class:`Request` changes the profile's stopping rule, DDA's depth and the guidance's strength, and
makes the systems that follow from them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dga.corruptions import CORRUPTIONS, check_corruption
from dga.profiles import Profile, StoppingConfig
from dga.systems import (
    DEFAULT_SYSTEMS,
    System,
    change_settings,
    parse,
    require_repair,
    split_settings,
    systems,
)


@dataclass(frozen=True)
class Request:
    """One run of one picture. ``corruption`` is None for a picture taken as it is.

    ``severity``: 1 to 5; ``tau``: 0 to 1; ``seed``: fixes corruption and noise; ``dda_depth``:
    of DDA; ``paths``: noise paths, from 1; ``scale``: strength of DGA + G's guidance, from 0,
    None for the profile's; ``max_depth``: deepest t*, None for the profile's.
    """

    corruption: str | None
    severity: int
    tau: float
    seed: int
    dda_depth: int
    paths: int = 1
    scale: float | None = None
    max_depth: int | None = None

    @classmethod
    def of(cls, profile: Profile, **options: Any) -> Request:
        """A checked request, by field; None stands for the profile's own setting, or severity 3.

        Raises ``ValueError`` naming what is allowed.
        """
        rule = profile.stopping
        defaults = {"tau": rule.tau, "dda_depth": profile.dda_depth, "paths": rule.paths}
        chosen = {name: value for name, value in options.items() if value is not None}
        request = cls(**{"corruption": None, "severity": 3, **defaults, **chosen})
        check_corruption(request.corruption or CORRUPTIONS[0], request.severity)
        deepest, scale = profile.schedule.steps, request.scale
        for name, depth in ("DDA's", request.dda_depth), ("The maximum", request.max_depth):
            if depth is not None and not 1 <= depth <= deepest:
                raise ValueError(f"{name} depth is from 1 to {deepest}, not {depth}.")
        if scale is not None and not 0 <= scale < math.inf:
            raise ValueError(f"The guidance's scale is a number from 0 up, not {scale}.")
        request.stopping(profile)
        return request

    def stopping(self, profile: Profile) -> StoppingConfig:
        """The profile's stopping rule, changed; its horizon is never less deep than max_depth."""
        rule = profile.stopping
        depth = rule.max_depth if self.max_depth is None else self.max_depth
        horizon = None if rule.horizon is None else max(rule.horizon, depth)
        return replace(rule, tau=self.tau, paths=self.paths, max_depth=depth, horizon=horizon)

    def systems(self, profile: Profile) -> dict[str, System]:
        """All systems that only repair, by name, with this request's settings."""
        profile = replace(profile, stopping=self.stopping(profile), dda_depth=self.dda_depth)
        by_name = {n: s for n, s in systems(profile).items() if s.repair and not s.ensemble}
        for name, system in by_name.items():
            if self.scale is not None and name.startswith("dga-guided"):
                scale = {"scale": repr(float(self.scale))}
                by_name[name] = change_settings(profile, system, scale, name)
        return by_name

    def default_systems(self, profile: Profile) -> list[System]:
        """DGA, DGA + G, DDA and DGA+."""
        by_name = self.systems(profile)
        return [by_name[name] for name in DEFAULT_SYSTEMS]


def choose_systems(profile: Profile, request: Request, names: Sequence[str]) -> list[System]:
    """Systems that repair, by name, perhaps with settings (``dga-guided:steps=12``).

    Raises ``ValueError`` for no name or an unknown one, for a reader that adapts, and for
    numbers out of range.
    """
    by_name, chosen = request.systems(profile), []
    for text in names or [""]:
        name, changes = split_settings(text)
        if name not in by_name:
            if "+" in name:
                require_repair(parse(profile, name))  # a reader that adapts reads many pictures
            raise ValueError(f"Unknown method {name!r}. Choose from: {', '.join(by_name)}.")
        chosen.append(change_settings(profile, by_name[name], changes, text))
    return chosen
