"""One training command from start to weights on disk."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from dga.data import read_images
from dga.profiles import get_profile
from dga.training import classifier, diffusion, discriminator
from dga.training.loop import TrainConfig
from dga.training.studies import Study
from dga.weights import parameter_count, save_weights, to_plain

DEFAULTS: dict[str, TrainConfig] = {
    "diffusion": diffusion.DEFAULTS,
    "classifier": classifier.DEFAULTS,
    "discriminator": discriminator.DEFAULTS,
}


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
    init: Path | None = None,
    study: Study | None = None,
) -> Path:
    """Train one model and write its weights and ``config.json`` to ``out``.

    ``init``: weights to continue from; ``study``: what a discriminator is taught.
    Raises ``ValueError`` for an unknown model or profile, for unusable data and for a
    study of another model than the discriminator.
    """
    defaults(model)
    if model != "discriminator" and study not in (None, Study()):
        raise ValueError(f"Only the discriminator can be asked for a study, not the {model}.")
    profile = get_profile(profile_name)
    images = read_images(data, profile.image_size, profile.classifier.classes or None)
    extra: dict[str, Any] = {}
    network: nn.Module
    if model == "diffusion":
        network = diffusion.train_diffusion(profile, images, config, out, device, init)
    elif model == "classifier":
        network = classifier.train_classifier(profile, images, config, out, device, init)
    else:
        network, extra = discriminator.train_discriminator(
            profile, images, config, out, device, init, study
        )
    save_weights(
        network.state_dict(),
        out,
        {
            "model": model,
            "profile": to_plain(profile),
            "parameters": parameter_count(network),
            "training": to_plain(config),
            "init": str(init) if init else None,
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
