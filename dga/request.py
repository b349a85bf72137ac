"""What a run is asked for, from the command line, the page or a program."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dga.corruptions import CORRUPTIONS, check_corruption, corrupt
from dga.data.uploads import UploadError, read_square
from dga.images import Pixels
from dga.networks.models import Models
from dga.pipeline import Adaptation, Route, adapt, ancestral_routes, default_routes
from dga.profiles import PlusConfig, Profile, StoppingConfig
from dga.sampling import FewSteps, resampled
from dga.stopping import check_tau


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
    def of(cls, profile: Profile, **asked: Any) -> Request:
        """A checked request, by field; None stands for the profile's own setting.

        Raises ``ValueError`` naming what is allowed.
        """
        usual = {
            "tau": profile.stopping.tau,
            "dda_depth": profile.dda_depth,
            "paths": profile.stopping.paths,
        }
        given = {name: value for name, value in asked.items() if value is not None}
        request = cls(**{"corruption": None, **usual, **given})
        check_corruption(request.corruption or CORRUPTIONS[0], request.severity)
        check_tau(request.tau)
        request.stopping(profile)
        request.routes(profile)
        return request

    def stopping(self, profile: Profile) -> StoppingConfig:
        """The profile's stopping with what was asked for; a horizon is never the shallower."""
        usual, steps = profile.stopping, profile.schedule.steps
        depth = usual.max_depth if self.max_depth is None else self.max_depth
        if not 1 <= depth <= steps:
            raise ValueError(f"The maximum depth is from 1 to {steps}, not {depth}.")
        return dataclasses.replace(
            usual,
            tau=self.tau,
            paths=self.paths,
            max_depth=depth,
            horizon=None if usual.horizon is None else max(usual.horizon, depth),
        )

    def routes(self, profile: Profile) -> tuple[Route, ...]:
        """DGA, DGA + G with the strength that was asked for, DDA from its depth, and DGA+."""
        return tuple(map(self._scaled, default_routes(profile, self.dda_depth).values()))

    def known_routes(self, profile: Profile) -> tuple[Route, ...]:
        """Those, and the first three with every depth in turn: all that has a name."""
        ancestral = ancestral_routes(profile, self.dda_depth).values()
        return (*self.routes(profile), *map(self._scaled, ancestral))

    def _scaled(self, route: Route) -> Route:
        if self.scale is None or route.guidance is None or route.depth is not None:
            return route
        if not 0 <= self.scale < math.inf:
            raise ValueError(f"The guidance's scale is a number from 0 up, not {self.scale}.")
        guidance = dataclasses.replace(route.guidance, scale=self.scale)
        return dataclasses.replace(route, guidance=guidance)


def choose_routes(
    routes: Sequence[Route],
    names: Sequence[str],
    steps: int | Literal["all"] | None = None,
    eta: float | None = None,
    through_network: bool | None = None,
) -> list[Route]:
    """The routes that are named, in the order given; None leaves a route's own setting.

    ``steps``: at most so many, or every depth in turn; ``eta``: how random few steps are,
    0 to 1; ``through_network``: whether guidance takes its gradient there.
    Raises ``ValueError`` for no name or an unknown one, and for numbers out of range.
    """
    known = {route.name: route for route in routes}
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise ValueError(
            f"Unknown method {(unknown or [''])[0]!r}. Choose from: {', '.join(known)}."
        )
    chosen = []
    for route in (known[name] for name in names):
        if route.plus:
            plus = _changed_plus(route.plus, steps, eta, through_network)
            chosen.append(dataclasses.replace(route, plus=plus))
            continue
        guidance = route.guidance
        if guidance and through_network is not None:
            guidance = dataclasses.replace(guidance, through_network=through_network)
        sampler = resampled(route.sampler, steps, eta)
        chosen.append(dataclasses.replace(route, guidance=guidance, sampler=sampler))
    return chosen


def _changed_plus(
    config: PlusConfig,
    steps: int | Literal["all"] | None,
    eta: float | None,
    through_network: bool | None,
) -> PlusConfig:
    """DGA+ with what was asked for its guided sample."""
    if steps == "all":
        steps = config.stopping.max_depth  # as deep as it ever goes
    few = resampled(FewSteps(config.steps, config.eta), steps, eta)
    assert isinstance(few, FewSteps)
    through = config.guidance.through_network if through_network is None else through_network
    guidance = dataclasses.replace(config.guidance, through_network=through)
    return dataclasses.replace(config, steps=few.steps, eta=few.eta, guidance=guidance)


def read(image: Path, profile: Profile) -> Pixels:
    """The picture at the profile's size. Raises ``ValueError`` for a file that is no picture."""
    try:
        return read_square(image, profile.image_size)
    except UploadError as error:
        raise ValueError(f"{image}: {error}") from None


def run(models: Models, request: Request, pixels: Pixels, routes: Sequence[Route]) -> Adaptation:
    """Corrupt one picture, uint8 ``[S, S, 3]``, if that is asked for, and adapt it."""
    if request.corruption:
        pixels = corrupt(pixels, request.corruption, request.severity, request.seed)
    return adapt(models, pixels, request.seed, request.stopping(models.profile), routes)
