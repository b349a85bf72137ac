"""One training command from start to weights on disk."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dga.io.files import to_plain
from dga.io.parsing import check_choice
from dga.io.versions import read_versions
from dga.lab.data.cropping import Crop, View
from dga.lab.data.image_sets import ImageSet, find_images
from dga.lab.saved_weights import save_weights
from dga.lab.training import (
    classifier_trainer,
    conditional_trainer,
    diffusion_trainer,
    discriminator_trainer,
)
from dga.lab.training.loop import TrainConfig, Training
from dga.lab.training.windows import PICTURE_SIDE, Photographs
from dga.weights.sources import CONDITIONAL, DEWARPER

MODELS = ("diffusion", "classifier", "discriminator", DEWARPER)
CONDITIONALS = CONDITIONAL, DEWARPER
"""Those that see the damaged picture, and learn from photographs alone."""
DEFAULTS: dict[str, TrainConfig] = {
    "diffusion": diffusion_trainer.DEFAULTS,
    "classifier": classifier_trainer.DEFAULTS,
    "discriminator": discriminator_trainer.DEFAULTS,
    CONDITIONAL: conditional_trainer.DEFAULTS,
    DEWARPER: conditional_trainer.DEWARPER_DEFAULTS,
}
TAKERS = {
    "corruptions": {"discriminator"},
    "explanations": {"discriminator"},
    "max_depth": {"diffusion"},
    "features": {"diffusion", *CONDITIONALS},
    "chains": {*CONDITIONALS},
    "rank": {*CONDITIONALS},
    "window_share": {"diffusion", "discriminator"},
}
"""The models that an option is for, of those that are not for all."""


def choose_model(name: str, is_conditional: bool) -> str:
    """The key of :data:`DEFAULTS`. Raises ``ValueError`` for an unknown model."""
    check_choice("model", name, MODELS)
    if is_conditional and name != "diffusion":
        raise ValueError(f"--conditional is of the diffusion model, not the {name}.")
    return CONDITIONAL if is_conditional else name


def check_options(model: str, training: Training, has_data: bool, has_photographs: bool) -> None:
    """Raise ``ValueError`` for options that do not belong together, or are another model's.

    ``has_data``: whether class folders were named, ``has_photographs``: whether photographs were.
    """
    config, usual = training.config, DEFAULTS[model]
    for name, models in TAKERS.items():
        if model not in models and getattr(config, name) != getattr(usual, name):
            option = "windows" if name == "window_share" else name.replace("_", "-")
            takers = " and ".join(sorted(models)).replace(CONDITIONAL, "diffusion --conditional")
            raise ValueError(f"--{option} is for {takers}, not for this {model} model.")
    if model in CONDITIONALS:
        if has_data or not has_photographs:
            raise ValueError(f"A {model} model learns from --photographs alone, not --data.")
        return
    if has_photographs != bool(config.window_share):
        raise ValueError("--photographs and --windows belong together: what is cut, and how much.")
    scale = diffusion_trainer.WINDOW_SCALE if model == "diffusion" else 1
    side = training.profile.image_size * scale
    if has_photographs and side > PICTURE_SIDE:
        raise ValueError(
            f"Photographs are reduced to {PICTURE_SIDE} pixels a side, and of "
            f"{training.profile.name} a window has {side}: leave --photographs out."
        )
    if not has_data:
        raise ValueError("Name folders or zips of class/picture files with --data.")


def train(
    model: str, training: Training, data: Sequence[Path] = (), photographs: Sequence[Path] = ()
) -> None:
    """Train one model, and write its weights and ``config.json`` to the run's folder.

    ``model``: a key of :data:`DEFAULTS`; ``data``: folders or zips of class/picture;
    ``photographs``: those from which windows are cut. Raises ``ValueError`` for unusable data, and
    for options that are another model's.
    """
    check_options(model, training, bool(data), bool(photographs))
    windows = Photographs.read(photographs) if photographs else None
    images = _find_images(model, training, data) if data else None
    facts: dict[str, Any] = {}
    if images is None:
        assert windows is not None
        network, state, facts = conditional_trainer.train_conditional(training, windows, model)
    else:
        if model == "classifier":
            network = classifier_trainer.train_classifier(training, images)
        elif model == "diffusion":
            network = diffusion_trainer.train_diffusion(training, images, windows)
        else:
            network = discriminator_trainer.train_discriminator(training, images, windows)
        state = network.state_dict()
    numbers = dataclasses.asdict(training.config)
    description = {
        "model": model,
        "profile": to_plain(training.profile),
        "parameters": sum(p.numel() for p in network.parameters()),
        "training": {
            name: numbers[name] for name in numbers if model in TAKERS.get(name, DEFAULTS)
        },
        "init": str(training.init) if training.init else None,
        "trained_on": {
            "pictures": len(images) if images else 0,
            "photographs": len(windows.pictures) if windows else 0,
            "device": str(training.device),
            **read_versions(),
        },
    }
    save_weights(state, training.out, description | facts)


def _find_images(model: str, training: Training, data: Sequence[Path]) -> ImageSet:
    """Labelled pictures, in memory unless they are too many."""
    profile = training.profile
    crop = View(profile).clean if model == "discriminator" else Crop(profile.image_size)
    images = find_images(data, crop, profile.classifier.classes or None)
    return images if images.is_large else images.load()
