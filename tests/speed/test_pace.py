"""What a run is expected to take: network passes, counted once for every reading of them."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from dga.pipeline import adapt, default_systems
from dga.profiles import EVERYDAY16, IMAGENET
from dga.speed.pace import Pace, end_passes, most_passes
from dga.systems import parse, systems


def test_one_count_of_passes():
    """A gradient through the network is a second pass: DGA 60, DGA + G 2 x 60, DDA 2 x 50."""
    *usual, plus = default_systems(IMAGENET)
    judged, passes = most_passes(IMAGENET, [plus], 0)
    assert most_passes(IMAGENET, usual, 2) == (2 * 101, 60 + 120 + 100)
    three = parse(IMAGENET, "dga:paths=3")
    assert most_passes(IMAGENET, [three, plus], 0) == (3 * 101 + judged, 60 + passes)
    assert most_passes(IMAGENET, [plus], 2) == (2 * 101 + judged, passes)


@pytest.mark.parametrize(
    ("text", "passes"),
    [("dga", 12), ("dga-guided", 12), ("dda", 12), ("dda:depth=5", 5), ("dga-ancestral", 24),
     ("dga-guided-ancestral", 48), ("dda-ancestral", 48), ("dga-plus:steps=3", 3)],
)  # fmt: skip
def test_few_steps_count_as_few(text, passes):
    assert end_passes(parse(EVERYDAY16, text).ends[0]) == passes


def test_an_explanation_is_counted(tiny_models):
    """The most that DGA+ can ask for is what it asks for when nothing is settled early."""
    plus, shown = parse(EVERYDAY16, "dga-plus:max_depth=8:horizon=24:noise_max_depth=8"), 0

    class Stubborn(torch.nn.Module):
        """Takes every further state for a little better, and none for source data."""

        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.zeros(0))  # says where it computes

        def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
            nonlocal shown
            shown += len(x)
            return 5 - 0.02 * torch.arange(shown - len(x), shown)

    models = replace(tiny_models, explainer=Stubborn())
    pixels = np.random.default_rng(0).integers(120, 136, (8, 8, 3)).repeat(4, 0).repeat(4, 1)
    adapt(models, pixels.astype(np.uint8), chosen=[plus])
    judged, passes = most_passes(tiny_models.profile, [plus], 0)
    assert 0.8 * judged < shown <= judged
    assert passes == 8


@pytest.mark.parametrize("profile", [IMAGENET, EVERYDAY16], ids=lambda profile: profile.name)
def test_the_wait_on_a_processor(profile):
    pace, plus = Pace(0.31, 0.017), systems(profile)["dga-plus"]
    for chosen in ([plus], default_systems(profile)):
        judged, passes = most_passes(profile, chosen, 0)
        longest = pace.longest(profile, chosen)
        assert longest == pytest.approx(passes * 0.31 + judged * 0.017)
    assert longest == pace.longest(profile) > pace.longest(profile, [plus])
