"""What a run is expected to take: one count of network passes, two readings of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from app.runs.gpu import expected_seconds
from dga.networks.models import Models
from dga.pipeline import Route, adapt, ancestral_routes, default_routes, plus_route
from dga.profiles import EVERYDAY16, IMAGENET, PlusConfig, StoppingConfig
from dga.speed.pace import Pace, most_passes, route_passes


def test_one_count_of_passes() -> None:
    """A gradient through the network is a second pass: DGA 60, DGA + G 2 x 60, DDA 2 x 50."""
    stopping, routes = replace(IMAGENET.stopping, paths=2), default_routes(IMAGENET)
    judged, passes = most_passes(IMAGENET, stopping, [routes.pop("dga-plus")])
    assert most_passes(IMAGENET, stopping, routes.values()) == (2 * 101, 60 + 120 + 100)
    every = default_routes(IMAGENET).values()
    assert most_passes(IMAGENET, stopping, every) == (2 * 101 + judged, 280 + passes)


def test_few_steps_count_as_few() -> None:
    routes = default_routes(EVERYDAY16)
    assert [route_passes(routes[name], 24) for name in ("dga", "dga-guided", "dda")] == [12] * 3
    assert [route_passes(routes[name], 5) for name in ("dga", "dga-guided", "dda")] == [5, 5, 12]
    ancestral = ancestral_routes(EVERYDAY16).values()
    assert [route_passes(route, 24) for route in ancestral] == [24, 48, 48]


def test_an_explanation_is_counted(tiny_models: Models) -> None:
    """The most that DGA+ can ask for is what it asks for when nothing is settled early."""
    config = replace(PlusConfig(), stopping=StoppingConfig(tau=0.5, max_depth=8, horizon=24))
    route, shown = Route("dga-plus", "", plus=config), 0

    class Stubborn(torch.nn.Module):
        """Takes every further state for a little better, and none for source data."""

        def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
            nonlocal shown
            shown += len(x)
            return 5 - 0.02 * torch.arange(shown - len(x), shown)

    models = replace(tiny_models, explainer=Stubborn())
    pixels = np.random.default_rng(0).integers(120, 136, (8, 8, 3)).repeat(4, 0).repeat(4, 1)
    adapt(models, pixels.astype(np.uint8), routes=[route])
    judged, passes = most_passes(tiny_models.profile, config.stopping, [route])
    assert 0.8 * judged < shown <= judged
    assert passes == 8
    assert route_passes(replace(route, plus=replace(config, steps=3)), 0) == 3


def test_the_wait_on_a_processor_and_the_loan_of_a_gpu() -> None:
    pace, profiles = Pace(0.31, 0.017), (IMAGENET, EVERYDAY16)
    own = [most_passes(p, p.stopping, [plus_route(p)]) for p in profiles]
    judged = [101 + states for states, _ in own]
    passes = [usual + more for usual, (_, more) in zip((280, 36), own, strict=True)]
    longest = [pace.longest(profile) for profile in profiles]
    assert longest == pytest.approx(
        [p * 0.31 + j * 0.017 for p, j in zip(passes, judged, strict=True)]
    )
    lent = [
        expected_seconds(profile, profile.stopping, tuple(default_routes(profile).values()))
        for profile in profiles
    ]
    assert lent == pytest.approx(
        [5 + (passes[0] + judged[0] / 16) / 10, 5 + (passes[1] + judged[1] / 16) / 160]
    )
