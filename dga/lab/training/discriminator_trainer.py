"""Training the discriminator to tell noised corrupted images from noised source images."""

from functools import partial
from pathlib import Path
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from dga.lab.data.image_sets import ImageSet, take_training
from dga.lab.training.loop import TrainConfig, Training
from dga.lab.training.pairs import Batch, PairBatches
from dga.lab.training.studies import Study
from dga.lab.training.windows import Photographs
from dga.networks.unet import Discriminator
from dga.weights.checkpoints import read_checkpoint
from dga.weights.store import fill_network, load_weights

LAST_LAYER = "out.2.c_proj."
"""The one layer whose shape depends on the number of classes."""

DEFAULTS = TrainConfig(images=360_000, batch=64, lr=5e-4, warmup=200, decay=0.5, weight_decay=0.01)


def train_discriminator(
    training: Training,
    images: ImageSet,
    study: Study = Study(),
    photographs: Photographs | None = None,
) -> tuple[nn.Module, dict[str, Any]]:
    """Train on pairs of a source and a corrupted picture at one depth, as the study says.

    All severities, binary cross-entropy, balanced classes (section 3.2 of the paper).
    The share ``config.window_share`` of the pictures is cut from ``photographs``. Returns the
    moving average of the network, and what its ``config.json`` says of the study.
    """
    profile, config, device = training.profile, training.config, training.device
    windows = photographs and photographs.compute_fingerprint()
    identity = training.describe("discriminator", images.compute_fingerprint(), photographs=windows)
    images = take_training(images)
    is_file = training.init is not None and not training.init.is_dir()
    load = load_backbone if is_file else load_weights
    model = training.start(partial(Discriminator, profile.discriminator), load)

    batches = PairBatches(profile, study, images, config, photographs)

    def loss(batch: Batch) -> tuple[Tensor, dict[str, float]]:
        x, time, target = (tensor.to(device) for tensor in batch)
        logits = model(x, time)
        value = F.binary_cross_entropy_with_logits(logits, target)
        return value, {"accuracy": float(((logits > 0) == (target > 0.5)).float().mean())}

    network = training.fit(model, loss, identity | study.facts, batches)
    return network, study.facts


def load_backbone(network: Discriminator, path: Path) -> Discriminator:
    """Fill a discriminator from a classifier's checkpoint (``256x256_classifier.pt``).

    All tensors but those of the last layer must be there in the right shape; that layer keeps its
    fresh weights. Raises :class:`~dga.weights.checkpoints.WeightsError` naming what differs.
    """
    fresh = network.net.state_dict()
    last = {name: value for name, value in fresh.items() if name.startswith(LAST_LAYER)}
    fill_network(network.net, path, read_checkpoint(path) | last)
    return network
