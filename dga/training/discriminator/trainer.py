"""Training the discriminator to tell noised corrupted images from noised source images."""

from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dga.data.image_sets import ImageFiles, ImageSet, split_training
from dga.io.files import CHECKPOINT
from dga.networks.unet import Discriminator
from dga.profiles import Profile
from dga.training import loop
from dga.training.discriminator.batches import Batches
from dga.training.discriminator.samples import Prior
from dga.training.discriminator.studies import Study
from dga.training.loop import TrainConfig
from dga.training.windows import Photographs
from dga.weights.checkpoints import check_fit, read_checkpoint

LAST = "out.2.c_proj."
"""The one layer whose shape depends on the number of classes."""

DEFAULTS = TrainConfig(images=360_000, batch=64, lr=5e-4, warmup=200, decay=0.5, weight_decay=0.01)


def train_discriminator(
    profile: Profile,
    images: ImageSet | ImageFiles,
    config: TrainConfig,
    out: Path,
    device: torch.device,
    init: Path | None = None,
    study: Study | None = None,
    workers: int = 0,
    photographs: Photographs | None = None,
) -> tuple[nn.Module, dict[str, Any]]:
    """Train on pairs of a source and a corrupted picture at one depth, as the study says.

    All severities, binary cross-entropy, balanced classes (section 3.2 of the paper).
    ``workers``: processes that make batches ahead;
    ``photographs``: of which ``config.windows`` are cut. Returns the moving average and what its
    config must keep of the study.
    """
    study = study or Study()
    prior = Prior.load(profile, study, device) if study.diffusion_needed else None
    diffusion_id = prior.diffusion_id if prior else ""
    identity = loop.describe_run(
        "discriminator", profile, images, init, study.identity(diffusion_id)
    )
    if photographs:
        identity["photographs"] = photographs.fingerprint()
    training, _ = split_training(images)
    torch.manual_seed(config.seed)
    model = _start(profile, init, out).to(device)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=config.lr, weight_decay=config.weight_decay
    )
    shards = study.shards or out / "samples"
    batches = Batches(profile, study, training, config, prior, shards, workers, photographs)

    def loss(step: int) -> tuple[Tensor, dict[str, float]]:
        x, time, target = (v.to(device) for v in batches.draw(step, device))
        logits = model(x, time)
        value = F.binary_cross_entropy_with_logits(logits, target)
        return value, {"accuracy": float(((logits > 0) == (target > 0.5)).float().mean())}

    network = loop.run(model, optimizer, loss, config, out, device, identity)
    return network, study.facts(diffusion_id)


def _start(profile: Profile, init: Path | None, out: Path) -> Discriminator:
    """A new network with the weights in ``init``: ours, or those of a classifier's file."""
    model = Discriminator(profile.discriminator)
    if init is not None and not init.is_dir() and not (out / CHECKPOINT).exists():
        load_backbone(model, init)
    else:
        loop.start_from(model, init, out)
    return model


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
