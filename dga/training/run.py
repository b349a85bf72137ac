"""One training command from start to weights on disk."""

import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from dga.data.framing import View
from dga.data.image_sets import ImageFiles, ImageSet, open_images, read_images
from dga.io.files import to_plain
from dga.io.parsing import check_choice
from dga.profiles import get_profile
from dga.training import classifier, diffusion
from dga.training.discriminator import trainer as discriminator
from dga.training.discriminator.studies import Study
from dga.training.loop import TrainConfig, Training
from dga.training.windows import Photographs
from dga.weights.store import save_weights

DEFAULTS: dict[str, TrainConfig] = {
    "diffusion": diffusion.DEFAULTS,
    "classifier": classifier.DEFAULTS,
    "discriminator": discriminator.DEFAULTS,
}


def defaults(model: str) -> TrainConfig:
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
    workers: int | None = None,
    max_depth: int | None = None,
    photographs: Sequence[Path] = (),
    features: str | None = None,
) -> Path:
    """Train one model, write its weights and ``config.json`` to ``out`` and return that.

    ``init``: weights to continue from; ``study``: what a discriminator is taught;
    ``workers``: processes that make its batches ahead, by default as many as there are
    CPUs where pictures are large or read from disk; ``max_depth``: the deepest depth that the
    diffusion model is mostly trained at, all by default;
    ``features``: see :func:`~dga.training.diffusion.train_diffusion`;
    ``photographs``: folders or zips of which ``config.windows`` of the pictures are cut. Raises
    ``ValueError`` for an unknown model or profile, for unusable data, for windows without
    photographs, and for a study or windows of a model that takes none.
    """
    defaults(model)
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
    cut = Photographs.read(photographs) if photographs else None
    profile = get_profile(profile_name)
    training = Training(profile, config, out, device, init)
    classes = profile.classifier.classes or None
    images: ImageSet | ImageFiles
    facts: dict[str, Any] = {}
    if model == "discriminator":
        images = open_images(data, View.of(profile).clean, classes)
        if workers is None:
            is_quick = isinstance(images, ImageSet) and profile.release is None
            workers = 0 if is_quick else max(1, (os.cpu_count() or 1) - 1)
        network, facts = discriminator.train_discriminator(training, images, study, workers, cut)
    else:
        images = read_images(data, profile.image_size, classes)
        if model == "diffusion":
            network = diffusion.train_diffusion(
                training, images, max_depth, cut, workers or 0, features
            )
            facts = {"max_depth": max_depth, "features": features}
        else:
            network = classifier.train_classifier(training, images)
    described = {
        "model": model,
        "profile": to_plain(profile),
        "parameters": sum(p.numel() for p in network.parameters()),
        "training": to_plain(config),
        "init": str(init) if init else None,
        "trained_on": {
            "pictures": len(images),
            "photographs": len(cut.pictures) if cut else 0,
            "device": str(device),
            "threads": torch.get_num_threads(),
            "torch": torch.__version__,
            "machine": platform.machine(),
        },
    }
    save_weights(network.state_dict(), out, described | facts)
    return out
