"""The three frozen networks of a profile, loaded and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from dga.classifier import build_classifier
from dga.compute import Compute
from dga.diffusion import Schedule
from dga.networks import Denoiser, Discriminator
from dga.profiles import Profile, get_profile
from dga.weights import WeightsError, load_weights, read_config, weights_folder, weights_id


@dataclass(frozen=True)
class Models:
    """Everything :func:`dga.adapt` needs besides a picture.

    ``source_quantiles``: by quantile, the logit that this share of held-out clean
    pictures stays below at each depth (``[T + 1]``).
    """

    profile: Profile
    schedule: Schedule
    denoiser: nn.Module
    discriminator: nn.Module
    classifier: nn.Module
    source_quantiles: dict[str, list[float]]
    compute: Compute
    weights: dict[str, str] = field(default_factory=dict)
    """Which exact weights these are, by network."""

    @property
    def device(self) -> torch.device:
        """Where the networks are."""
        return self.compute.device

    def to(self, device: torch.device) -> Models:
        """The same networks, moved to ``device`` (in place, as PyTorch does)."""
        return replace(
            self,
            denoiser=self.denoiser.to(device),
            discriminator=self.discriminator.to(device),
            classifier=self.classifier.to(device),
            compute=replace(self.compute, device=device),
        )

    def source_bound(self, quantile: float) -> list[float] | None:
        """The discriminator's bound for the quantile rule, if it has one."""
        return self.source_quantiles.get(str(quantile))


def load_models(
    profile: str | Profile = "everyday16",
    root: Path | None = None,
    compute: Compute | None = None,
    discriminator: Path | None = None,
    inputs: Sequence[str] = ("x_t",),
) -> Models:
    """Load, verify and freeze a profile's networks.

    ``root`` holds ``PROFILE/diffusion``, ``PROFILE/discriminator`` and
    ``PROFILE/classifier``; by default the weights that ship. ``discriminator``: the
    folder of another one; ``inputs``: what it may have been trained to judge. Raises
    :class:`~dga.weights.WeightsError` naming what is missing, altered or unsuited.
    """
    if isinstance(profile, str):
        profile = get_profile(profile)
    compute = compute or Compute.choose()
    folder = {
        name: weights_folder(profile.name, name, root)
        for name in ("diffusion", "discriminator", "classifier")
    }
    folder["discriminator"] = discriminator or folder["discriminator"]
    for path in folder.values():
        read_config(path)  # complain before building anything large
    bounds = _source_quantiles(folder["discriminator"], profile, inputs)
    networks = {
        "diffusion": Denoiser(profile.denoiser),
        "discriminator": Discriminator(profile.discriminator),
        "classifier": build_classifier(profile.classifier),
    }
    ready = {n: compute.prepare(load_weights(net, folder[n])) for n, net in networks.items()}
    return Models(
        profile=profile,
        schedule=Schedule.from_config(profile.schedule),
        denoiser=ready["diffusion"],
        discriminator=ready["discriminator"],
        classifier=ready["classifier"],
        source_quantiles=bounds,
        compute=compute,
        weights={name: weights_id(path) for name, path in folder.items()},
    )


def _source_quantiles(folder: Path, profile: Profile, inputs: Sequence[str]) -> dict[str, Any]:
    """A discriminator's bounds, if it suits the schedule and what will be shown to it."""
    config = read_config(folder)
    judged = config.get("input", "x_t")
    if judged not in inputs:
        raise WeightsError(
            f"{folder} judges {judged}, not {' or '.join(inputs)}: it can be judged "
            "(python -m dga judge) but cannot choose a depth."
        )
    bounds: dict[str, Any] = config.get("source_quantiles", {})
    if any(len(row) != profile.schedule.steps + 1 for row in bounds.values()):
        raise WeightsError(f"{folder} was trained for another number of steps.")
    return bounds
