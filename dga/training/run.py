"""One training command from start to weights on disk."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from dga.data.framing import View
from dga.data.image_sets import ImageFiles, ImageSet, find_images, read_images
from dga.io.files import to_plain
from dga.io.parsing import check_choice
from dga.profiles import Profile, get_profile
from dga.record import versions
from dga.training import classifier, diffusion
from dga.training.classifier import train_classifier
from dga.training.diffusion import train_diffusion
from dga.training.discriminator import trainer
from dga.training.discriminator.studies import Study
from dga.training.discriminator.trainer import train_discriminator
from dga.training.loop import TrainConfig, Training
from dga.training.windows import PICTURE_SIDE, Photographs
from dga.weights.store import save_weights

DEFAULTS: dict[str, TrainConfig] = {
    "diffusion": diffusion.DEFAULTS,
    "classifier": classifier.DEFAULTS,
    "discriminator": trainer.DEFAULTS,
}


def get_defaults(model: str) -> TrainConfig:
    """A model's usual run. Raises ``ValueError`` for an unknown model."""
    check_choice("model", model, DEFAULTS)
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
    workers: int = 0,
    max_depth: int | None = None,
    photographs: Sequence[Path] = (),
    features: str | None = None,
) -> None:
    """Train one model, and write its weights and ``config.json`` to ``out``.

    ``init``: weights to continue from; ``study``: what a discriminator is taught; ``photographs``:
    folders or zips of which ``config.windows`` of the pictures are cut; the rest as
    :func:`~dga.training.diffusion.train_diffusion` takes it. Raises ``ValueError`` for an unknown
    model or profile, for unusable data, and for options that are another model's.
    """
    profile = get_profile(profile_name)
    _check_options(model, profile, config, study, max_depth, photographs, features)
    training = Training(profile, config, out, device, init)
    classes = profile.classifier.classes or None
    windows = Photographs.read(photographs) if photographs else None
    images: ImageSet | ImageFiles
    facts: dict[str, Any] = {}
    if model == "discriminator":
        files = find_images(data, View.of(profile).clean, classes)
        images = files if files.is_large else files.load(strict=True)[0]
        network, facts = train_discriminator(training, images, study, workers, windows)
    elif model == "diffusion":
        images = read_images(data, profile.image_size, classes)
        network = train_diffusion(training, images, max_depth, windows, workers, features)
        facts = {"max_depth": max_depth, "features": features}
    else:
        images = read_images(data, profile.image_size, classes)
        network = train_classifier(training, images)
    described = {
        "model": model,
        "profile": to_plain(profile),
        "parameters": sum(p.numel() for p in network.parameters()),
        "training": to_plain(config),
        "init": str(init) if init else None,
        "trained_on": {
            "pictures": len(images),
            "photographs": len(windows.pictures) if windows else 0,
            "device": str(device),
            **versions(),
        },
    }
    save_weights(network.state_dict(), out, described | facts)


def _check_options(
    model: str,
    profile: Profile,
    config: TrainConfig,
    study: Study | None,
    max_depth: int | None,
    photographs: Sequence[Path],
    features: str | None,
) -> None:
    """Raise ``ValueError`` for an unknown model, and for options that are another model's."""
    get_defaults(model)
    if model != "discriminator" and study not in (None, Study()):
        raise ValueError(f"Only the discriminator can be asked for a study, not the {model}.")
    if model != "diffusion" and (max_depth is not None or features):
        raise ValueError(
            f"Only the diffusion model takes a deepest depth and features, not the {model}."
        )
    if bool(photographs) != bool(config.windows):
        raise ValueError("--photographs and --windows belong together: what is cut, and how much.")
    if photographs and model == "classifier":
        raise ValueError("Windows of photographs are for the diffusion model and discriminators.")
    side = profile.image_size * (diffusion.WINDOW_SCALE if model == "diffusion" else 1)
    if photographs and side > PICTURE_SIDE:
        raise ValueError(
            f"Photographs are reduced to {PICTURE_SIDE} pixels a side, and of {profile.name} a "
            f"window has {side}: leave --photographs out."
        )
