"""Training the discriminator to tell noised corrupted images from noised source images."""

from functools import partial

import torch.nn.functional as F
from torch import Tensor, nn

from dga.lab.data.image_sets import ImageSet, take_training
from dga.lab.training.loop import TrainConfig, Training
from dga.lab.training.pairs import PairBatches
from dga.lab.training.windows import Photographs
from dga.networks.unet import Discriminator

DEFAULTS = TrainConfig(images=360_000, batch=64, lr=5e-4, warmup=200, decay=0.5, weight_decay=0.01)


def train_discriminator(
    training: Training, images: ImageSet, photographs: Photographs | None = None
) -> nn.Module:
    """Train on pairs of a source and a corrupted picture at one depth; return the moving average.

    All severities, binary cross-entropy, balanced classes (section 3.2 of the paper). The share
    ``config.window_share`` of the pictures is cut from ``photographs``.
    """
    profile, device = training.profile, training.device
    identity = training.describe("discriminator", data=images, photographs=photographs)
    model = training.start(partial(Discriminator, profile.discriminator))

    def loss(batch: tuple[Tensor, ...]) -> tuple[Tensor, dict[str, float]]:
        x, time, target = (tensor.to(device) for tensor in batch)
        logits = model(x, time)
        value = F.binary_cross_entropy_with_logits(logits, target)
        return value, {"accuracy": float(((logits > 0) == (target > 0.5)).float().mean())}

    batches = PairBatches(profile, take_training(images), training.config, photographs)
    return training.fit(model, loss, identity, batches)
