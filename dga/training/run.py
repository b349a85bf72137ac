"""One training command from start to weights on disk."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from dga.data import read_images
from dga.profiles import get_profile
from dga.training import classifier, diffusion, discriminator
from dga.training.loop import TrainConfig
from dga.weights import parameter_count, save_weights, to_plain

DEFAULTS: dict[str, TrainConfig] = {
    "diffusion": diffusion.DEFAULTS,
    "classifier": classifier.DEFAULTS,
    "discriminator": discriminator.DEFAULTS,
}


@dataclass(frozen=True)
class Sources:
    """Weights to continue from, and what the discriminator's source class is made of."""

    init: Path | None = None
    source: str = "images"
    diffusion: Path | None = None


def defaults(model: str) -> TrainConfig:
    """A model's usual run. Raises ``ValueError`` for an unknown model."""
    if model not in DEFAULTS:
        raise ValueError(f"Unknown model {model!r}. Choose one of: {', '.join(DEFAULTS)}.")
    return DEFAULTS[model]


def train(
    model: str,
    profile_name: str,
    data: Sequence[Path],
    out: Path,
    config: TrainConfig,
    device: torch.device,
    sources: Sources = Sources(),
) -> Path:
    """Train one model and write its weights and ``config.json`` to ``out``.

    Raises ``ValueError`` for an unknown model or profile and for unusable data.
    """
    defaults(model)
    profile = get_profile(profile_name)
    source = discriminator.SourceOptions(sources.source, sources.diffusion)
    images = read_images(data, profile.image_size, profile.classifier.classes or None)
    extra: dict[str, Any] = {}
    network: nn.Module
    if model == "diffusion":
        network = diffusion.train_diffusion(profile, images, config, out, device, sources.init)
    elif model == "classifier":
        network = classifier.train_classifier(profile, images, config, out, device, sources.init)
    else:
        network, extra = discriminator.train_discriminator(
            profile, images, config, out, device, sources.init, source
        )
    save_weights(
        network.state_dict(),
        out,
        {
            "model": model,
            "profile": to_plain(profile),
            "parameters": parameter_count(network),
            "training": to_plain(config),
            "init": str(sources.init) if sources.init else None,
            "trained_on": {
                "pictures": len(images),
                "device": str(device),
                "threads": torch.get_num_threads(),
                "torch": torch.__version__,
                "machine": platform.machine(),
            },
            **extra,
        },
    )
    return out
