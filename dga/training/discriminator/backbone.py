"""A discriminator's start from the encoder of a guided-diffusion classifier."""

from __future__ import annotations

from pathlib import Path

from torch import nn

from dga.networks.unet import Discriminator
from dga.weights.checkpoints import check_fit, read_checkpoint

HEAD = "out."
"""Norm, attention pooling and the layer that gives the logit."""
LAST = "out.2.c_proj."
"""The one layer whose shape depends on the number of classes."""


def load_backbone(network: Discriminator, path: Path) -> Discriminator:
    """Fill a discriminator from a classifier's checkpoint (``256x256_classifier.pt``).

    All tensors but those of the last layer must be there in the right shape; that layer
    keeps its fresh weights. Raises :class:`~dga.weights.checkpoints.WeightsError` naming what
    differs.
    """
    state = read_checkpoint(path)
    fresh = network.net.state_dict()
    expected = {
        name: state.get(name, value) if name.startswith(LAST) else value
        for name, value in fresh.items()
    }
    check_fit(path, state, expected)
    taken = {name: value for name, value in state.items() if not name.startswith(LAST)}
    network.net.load_state_dict(taken, strict=False)
    return network


def freeze_encoder(network: nn.Module) -> None:
    """Leave only the head (norm, attention pooling, logit) to be trained."""
    for name, parameter in network.named_parameters():
        parameter.requires_grad_(name.removeprefix("net.").startswith(HEAD))
