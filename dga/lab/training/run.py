"""One training command from start to weights on disk."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

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
from dga.lab.training.chains import ChainConfig
from dga.lab.training.loop import TrainConfig, Training
from dga.lab.training.studies import Study
from dga.lab.training.windows import PICTURE_SIDE, Photographs
from dga.profiles import Profile

DEFAULTS: dict[str, TrainConfig] = {
    "diffusion": diffusion_trainer.DEFAULTS,
    "classifier": classifier_trainer.DEFAULTS,
    "discriminator": discriminator_trainer.DEFAULTS,
}


def get_defaults(model: str, is_conditional: bool = False) -> TrainConfig:
    """A model's usual run. Raises ``ValueError`` for an unknown model."""
    check_choice("model", model, DEFAULTS)
    return conditional_trainer.DEFAULTS if is_conditional else DEFAULTS[model]


@dataclass(frozen=True)
class TrainingOptions:
    """Options that the training of some models takes and that of others does not."""

    study: Study = Study()
    """What a discriminator is taught."""
    max_depth: int | None = None
    """The depth up to which a diffusion model is mostly trained, see
    :func:`~dga.lab.training.diffusion_trainer.train_diffusion`."""
    features: str | None = None
    """timm's name of the classifier whose features a diffusion model shall keep."""
    photographs: Sequence[Path] = ()
    """Folders or zips of the photographs from which windows are cut."""
    chains: ChainConfig | None = None
    """The chains of damage for a diffusion model that sees the damaged picture; None: it does
    not see it."""

    def check(self, model: str, profile: Profile, window_share: float, has_data: bool) -> None:
        """Raise ``ValueError`` for an unknown model, and for options that do not belong together.

        ``window_share``: the share of pictures that are windows of photographs; ``has_data``:
        whether class folders were named.
        """
        get_defaults(model)
        if model != "discriminator" and self.study != Study():
            raise ValueError(f"Only the discriminator can be asked for a study, not the {model}.")
        if model != "diffusion" and (self.max_depth is not None or self.features):
            raise ValueError(
                f"Only the diffusion model takes a deepest depth and features, not the {model}."
            )
        if self.chains is not None:
            if model != "diffusion" or not self.photographs or window_share or self.max_depth:
                raise ValueError(
                    "--conditional is of the diffusion model, and takes --photographs alone: "
                    "leave --windows and --max-depth out."
                )
            if has_data:
                raise ValueError("A conditional model learns from --photographs: leave --data out.")
            return
        if bool(self.photographs) != bool(window_share):
            raise ValueError(
                "--photographs and --windows belong together: what is cut, and how much."
            )
        if self.photographs and model == "classifier":
            raise ValueError(
                "Windows of photographs are for the diffusion model and discriminators."
            )
        side = profile.image_size * (diffusion_trainer.WINDOW_SCALE if model == "diffusion" else 1)
        if self.photographs and side > PICTURE_SIDE:
            raise ValueError(
                f"Photographs are reduced to {PICTURE_SIDE} pixels a side, and of {profile.name} a "
                f"window has {side}: leave --photographs out."
            )
        if not has_data:
            raise ValueError("Name folders or zips of class/picture files with --data.")


def train(
    model: str,
    training: Training,
    data: Sequence[Path],
    options: TrainingOptions = TrainingOptions(),
) -> None:
    """Train one model, and write its weights and ``config.json`` to the run's folder.

    ``data``: folders or zips of class/picture. Raises ``ValueError`` for an unknown model, for
    unusable data, and for options that are another model's.
    """
    profile, config = training.profile, training.config
    options.check(model, profile, config.window_share, bool(data))
    photographs = Photographs.read(options.photographs) if options.photographs else None
    pictures = 0
    if options.chains is not None:
        assert photographs is not None
        model = "conditional"
        network, state, facts = conditional_trainer.train_conditional(
            training, photographs, options.chains, options.features
        )
    else:
        crop = View.of(profile).clean if model == "discriminator" else Crop(profile.image_size)
        images = find_images(data, crop, profile.classifier.classes or None)
        pictures = len(images)
        images = images if images.is_large else images.load()
        network, facts = _train_on(images, model, training, options, photographs)
        state = network.state_dict()
    description = {
        "model": model,
        "profile": to_plain(profile),
        "parameters": sum(p.numel() for p in network.parameters()),
        "training": to_plain(config),
        "init": str(training.init) if training.init else None,
        "trained_on": {
            "pictures": pictures,
            "photographs": len(photographs.pictures) if photographs else 0,
            "device": str(training.device),
            **read_versions(),
        },
    }
    save_weights(state, training.out, description | facts)


def _train_on(
    images: ImageSet,
    model: str,
    training: Training,
    options: TrainingOptions,
    photographs: Photographs | None,
) -> tuple[nn.Module, dict[str, Any]]:
    """Train a model on labelled pictures. Returns it, and what its ``config.json`` says of it."""
    if model == "discriminator":
        return discriminator_trainer.train_discriminator(
            training, images, options.study, photographs
        )
    if model == "diffusion":
        facts: dict[str, Any] = {"max_depth": options.max_depth, "features": options.features}
        network = diffusion_trainer.train_diffusion(
            training, images, photographs=photographs, **facts
        )
        return network, facts
    return classifier_trainer.train_classifier(training, images), {}
