"""Training a denoiser that sees the damaged picture, on windows of photographs under chains."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

from dga.diffusion import Schedule, estimate_undamaged
from dga.images import Pixels, to_tensor
from dga.lab.saved_weights import factorise, limit_rank
from dga.lab.training.chains import REACH, ChainConfig, damage_randomly, parse_chains
from dga.lab.training.draws import make_rng, make_torch_rng
from dga.lab.training.features import FeatureDistance
from dga.lab.training.loop import TrainConfig, Training
from dga.lab.training.windows import Photographs
from dga.networks.models import find_conditional_base, is_conditional, load_origin
from dga.networks.unet import ConditionalDenoiser
from dga.weights.sources import CONDITIONAL
from dga.weights.store import compute_weights_id

DEFAULTS = TrainConfig(images=40_000, batch=8, lr=3e-4, warmup=100, decay=0.5, ema=0.997)
DEWARPER_DEFAULTS = TrainConfig(
    images=4_000,
    batch=3,
    lr=1.5e-4,
    warmup=50,
    decay=0.5,
    ema=0.99,
    features="tf_efficientnet_lite1",
    chains="warp=1:jitter=0:undamaged=0.12:second_round=0:light=0:blur=0:streaks=0:resampling=0:"
    "noise=0:jpeg=0.5:worst_jpeg=50:magnified=0",
    rank=0.12,
)
"""Pictures that are warped, and perhaps saved as JPEG, and undamaged ones."""
WINDOW_SIDE = 160
"""Pixels a side of the windows that the network is shown: most of what a classifier sees."""
FEATURE_WEIGHT = 0.5
"""Weight of the distance between features in the loss."""
DIVERGENCE_WEIGHT = 0.05
"""Weight of the divergence between the classifier's answers in the loss."""
NOISY_SHARE = 0.15
"""Share of the windows that are shown as noisy states, beside the damaged picture."""
DEEPEST_NOISY = 24
"""The deepest of these states."""
RANK_EVERY = 25
"""Steps between two reductions of the change's rank, while the learning rate falls."""


def train_conditional(
    training: Training, photographs: Photographs, name: str = CONDITIONAL
) -> tuple[nn.Module, dict[str, Tensor], dict[str, Any]]:
    """Train a :class:`~dga.networks.unet.ConditionalDenoiser` by a :class:`ConditionalLoss`.

    ``name``: ``conditional`` begins with the diffusion model in ``training.init``, or goes on from
    one of its own kind; ``dewarper`` begins with a ``conditional`` one. While the learning rate
    falls, the difference from what it began with is kept to the rank that is saved
    (:mod:`dga.lab.saved_weights`).

    Returns the moving average of the network, what is saved of it, and what its ``config.json``
    says. Raises ``ValueError`` without ``training.init``.
    """
    profile, config = training.profile, training.config
    schedule = Schedule.from_config(profile.schedule)
    base_path = find_base(training, name)
    facts = {"base": compute_weights_id(base_path)}
    identity = training.describe(name, photographs=photographs) | facts

    def load(network: ConditionalDenoiser, path: Path) -> nn.Module:
        network.load_state_dict(load_origin(profile, path))
        return network

    model = training.start(lambda: ConditionalDenoiser(profile.denoiser), load)
    model.use_fast_blocks()
    origin = load_origin(profile, base_path)
    conditional_loss = ConditionalLoss(training, schedule, model)
    full_steps = round(config.steps * (1 - config.decay))

    def loss(batch: tuple[Tensor, ...]) -> tuple[Tensor, dict[str, float]]:
        *shown, step = batch
        if step >= full_steps and step % RANK_EVERY == 0:
            limit_rank(model, origin, config.rank)
        return conditional_loss(*shown)

    batches = ChainBatches(photographs, parse_chains(config.chains), config, schedule)
    average = training.fit(model, loss, identity, batches)
    limit_rank(average, origin, config.rank)
    return average, factorise(average.state_dict(), origin, config.rank), facts


class ConditionalLoss:
    """The mean absolute difference between the clean estimate and the picture.

    Where ``config.features`` names a classifier, the distance between its features of both and the
    divergence between its answers are added.
    """

    def __init__(self, training: Training, schedule: Schedule, model: nn.Module) -> None:
        self.schedule, self.model, self.device = schedule, model, training.device
        features = training.config.features
        self.distance = FeatureDistance(features).to(self.device) if features else None

    def __call__(
        self, clean: Tensor, damaged: Tensor, states: Tensor, depth: Tensor
    ) -> tuple[Tensor, dict[str, float]]:
        """The loss of a batch of :class:`ChainBatches`, and its parts for the progress bar."""
        clean, damaged, states = (v.to(self.device) for v in (clean, damaged, states))
        estimate = estimate_undamaged(self.schedule, self.model, states, depth, damaged)
        error = (estimate - clean).abs().mean()
        metrics = {"error": float(error.detach())}
        if self.distance is None:
            return error, metrics
        shown = (v.contiguous(memory_format=torch.channels_last) for v in (estimate, clean))
        gaps, divergences = self.distance(*shown)
        gap, divergence = gaps.mean(), divergences.mean()
        metrics |= {"features": float(gap.detach()), "divergence": float(divergence.detach())}
        return error + FEATURE_WEIGHT * gap + DIVERGENCE_WEIGHT * divergence, metrics


def find_base(training: Training, name: str) -> Path:
    """The network whose difference from the trained one is saved.

    It is ``training.init`` or, where that is of the kind that is trained, what this one began with.
    Raises ``ValueError`` without ``training.init``.
    """
    if training.init is None:
        begins = "a diffusion model" if name == CONDITIONAL else "a conditional denoiser"
        raise ValueError(f"This model begins with {begins}: name its folder with --init.")
    has_begun = is_conditional(training.init, name)
    return find_conditional_base(training.profile, name) if has_begun else training.init


@dataclass(frozen=True)
class ChainBatches(Dataset):
    """Batches by step: clean and damaged windows, states and their depths, the step itself.

    Most states are the damaged windows, at depth 0; others noisy clean ones.
    """

    photographs: Photographs
    chains: ChainConfig
    config: TrainConfig
    schedule: Schedule

    def __getitem__(self, step: int) -> tuple[Tensor, ...]:
        rng = make_rng(self.config.seed, step)
        pairs = [self._draw_pair(rng) for _ in range(self.config.batch)]
        clean, damaged = (to_tensor(np.stack(windows)) for windows in zip(*pairs, strict=True))
        is_noisy = rng.random(len(pairs)) < NOISY_SHARE
        depth = torch.from_numpy(is_noisy * rng.integers(1, DEEPEST_NOISY + 1, len(pairs)))
        noise = torch.randn(clean.shape, generator=make_torch_rng(rng))
        abar = self.schedule.alpha_bar[depth].float().view(-1, 1, 1, 1)
        noisy = abar.sqrt() * clean + (1 - abar).sqrt() * noise
        states = torch.where((depth > 0).view(-1, 1, 1, 1), noisy, damaged)
        return clean, damaged, states, depth, torch.tensor(step)

    def _draw_pair(self, rng: np.random.Generator) -> tuple[Pixels, Pixels]:
        """A window and the same after a chain, which sees the window's surroundings, too."""
        part = self.photographs.draw_part(rng, WINDOW_SIDE + 2 * REACH)
        inner = slice(REACH, -REACH)
        return part[inner, inner], damage_randomly(part, rng, self.chains)[inner, inner]
