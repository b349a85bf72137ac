"""Which damage a picture has, and where networks object to its inverse."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import dga
from dga.diffusion import Schedule
from dga.discriminator import Scorer
from dga.explanation.degradation import NO_DEGRADATION, Explanation
from dga.explanation.judges import Judges
from dga.explanation.operators import MotionBlur
from dga.explanation.search import DamageSearch
from dga.images import Pixels, recompress_jpeg, to_tensor
from dga.profiles import ExplanationConfig, ScheduleConfig
from dga.steps import take_result
from tests.fixtures.pictures import photograph, spread


class Taste(nn.Module):
    """A discriminator of one idea: it likes fine detail, or dislikes it where ``weight`` < 0."""

    def __init__(self, weight: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(weight), requires_grad=False)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        return 2 - self.weight * x.diff(dim=2).abs().mean((1, 2, 3))


def explain(pixels: Pixels, weight: float = 0.0, **settings: bool) -> Explanation:
    """Explain a picture, judged by a network of that taste."""
    x, network = to_tensor(pixels), Taste(weight)
    scorer = Scorer(Schedule.from_config(ScheduleConfig()), network, seed=0)
    judges = Judges(scorer, network, 64, x)
    return take_result(DamageSearch(x, ExplanationConfig(**settings), judges).run())


@pytest.fixture(scope="module")
def moved() -> Pixels:
    return spread(photograph("chelsea"), MotionBlur(15.0, 20.0).kernel)


def test_a_measured_blur_is_undone_unless_the_network_objects(moved):
    undone, refused = explain(moved, weight=100.0), explain(moved, weight=-100.0)
    assert undone.degradation.operator.kind == "motion"
    assert undone.blur_margin > 0
    assert undone.refused_blur is None
    assert refused.degradation == NO_DEGRADATION
    assert refused.refused_blur == undone.degradation
    assert refused.blur_margin < 0


def test_noise_counts_where_the_network_prefers_it():
    noisy = dga.corrupt(photograph("chelsea"), "gaussian_noise", 4, 0)
    assert explain(noisy, weight=-100.0).degradation == NO_DEGRADATION  # it sees the noise fade
    believed = explain(noisy, weight=100.0)
    assert believed.degradation.noise > 0.2
    assert believed.entry > 0


def test_what_a_profile_leaves_alone(cat):
    """Blocks are told, and not undone; smeared impulses are not looked for."""
    small = cat[:224, :224]
    blocks = dga.corrupt(small, "pixelate", 5, 0)
    assert explain(blocks).degradation.operator.kind == "blocks"
    assert explain(blocks, blocks=False).degradation == NO_DEGRADATION
    assert explain(blocks, blocks=False).refused_blur == explain(blocks).degradation
    speckled = np.asarray(
        recompress_jpeg(dga.corrupt(photograph("astronaut"), "impulse_noise", 4, 0), 85)
    )
    assert explain(speckled).degradation.impulses is not None
    assert explain(speckled, smeared_impulses=False).degradation.impulses is None
