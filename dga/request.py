"""What a run is asked for: checked once, before any model is loaded."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path

from dga.corruptions import CORRUPTIONS, check_corruption, corrupt
from dga.data.uploads import UploadError, read_square
from dga.images import Pixels
from dga.networks.models import Models
from dga.parsing import split_list
from dga.pipeline import Adaptation, Route, adapt, default_routes
from dga.profiles import StoppingConfig, get_profile
from dga.sampling import few_steps
from dga.stopping import check_tau


@dataclass(frozen=True)
class Request:
    """What a command asked for; ``None`` means the profile's own setting."""

    image: Path
    corruption: str | None
    severity: int
    tau: float | None
    seed: int
    methods: str
    dda_depth: int | None
    paths: int | None = None
    scale: float | None = None
    max_depth: int | None = None
    rule: str | None = None
    steps: int | None = None
    through_network: bool = True

    def check(self, profile: str) -> None:
        """Raise ``ValueError`` naming what is allowed, before any model is loaded."""
        get_profile(profile)
        if self.corruption is not None:
            check_corruption(self.corruption, self.severity)
        else:
            check_corruption(CORRUPTIONS[0], self.severity)
        if self.tau is not None:
            check_tau(self.tau)
        self.stopping(profile)
        self.routes(profile)

    def stopping(self, profile: str) -> StoppingConfig:
        """The profile's rule with what was asked for; the horizon is never the shallower."""
        known = get_profile(profile)
        usual, steps = known.stopping, known.schedule.steps
        if self.max_depth is not None and not 1 <= self.max_depth <= steps:
            raise ValueError(f"The maximum depth is from 1 to {steps}, not {self.max_depth}.")
        asked = {name: getattr(self, name) for name in ("tau", "paths", "max_depth", "rule")}
        chosen = {name: value for name, value in asked.items() if value is not None}
        if usual.horizon is not None:
            chosen["horizon"] = max(usual.horizon, chosen.get("max_depth", usual.max_depth))
        return dataclasses.replace(usual, **chosen)

    def routes(self, profile: str) -> list[Route]:
        """The chosen methods, in the order given; ``scale`` is for DGA + G's guidance."""
        usual = get_profile(profile)
        if self.scale is not None:
            if not 0 <= self.scale < math.inf:
                raise ValueError(f"The guidance's scale is a number from 0 up, not {self.scale}.")
            guidance = dataclasses.replace(usual.guidance, scale=self.scale)
            usual = dataclasses.replace(usual, guidance=guidance)
        known = default_routes(usual, self.dda_depth)
        names = split_list(self.methods)
        unknown = [name for name in names if name not in known]
        if unknown or not names:
            raise ValueError(
                f"Unknown method {(unknown or [''])[0]!r}. Choose from: {', '.join(known)}."
            )
        return [self._sped_up(known[name]) for name in names]

    def _sped_up(self, route: Route) -> Route:
        """With fewer steps and guidance without the network's gradient, where asked for."""
        guidance = route.guidance
        if guidance and not self.through_network:
            guidance = dataclasses.replace(guidance, through_network=False)
        return dataclasses.replace(route, guidance=guidance, sampler=few_steps(self.steps))


@dataclass(frozen=True)
class CommandRun:
    """The clean picture (``None`` unless we corrupted it ourselves) and what became of it."""

    clean: Pixels | None
    adaptation: Adaptation


def read(request: Request, profile: str) -> Pixels:
    """The picture at the profile's size. Raises ``ValueError`` for a file that is no picture."""
    try:
        return read_square(request.image, get_profile(profile).image_size)
    except UploadError as error:
        raise ValueError(f"{request.image}: {error}") from None


def run(models: Models, request: Request, pixels: Pixels) -> CommandRun:
    """Corrupt and adapt one picture, uint8 ``[S, S, 3]``."""
    profile = models.profile
    clean = pixels if request.corruption else None
    if request.corruption:
        pixels = corrupt(pixels, request.corruption, request.severity, request.seed)
    stopping, routes = request.stopping(profile.name), request.routes(profile.name)
    return CommandRun(clean, adapt(models, pixels, request.seed, stopping, routes))
