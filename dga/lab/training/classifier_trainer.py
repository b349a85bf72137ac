"""Training the classifier: flips and crops only, so that it is neither hardened nor fragile."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim.swa_utils import update_bn

from dga.images import to_tensor
from dga.lab.data.image_sets import ImageSet, take_training
from dga.lab.training.draws import choose_indices, make_rng, make_torch_rng
from dga.lab.training.loop import TrainConfig, Training
from dga.networks.classifier import build_classifier, normalise, preprocess

DEFAULTS = TrainConfig(
    images=420_000,
    batch=128,
    lr=0.2,
    warmup=300,
    decay=1.0,
    weight_decay=5e-4,
    ema=0.998,
    clip=None,
)
LABEL_SMOOTHING = 0.1
CROP_AREA = (0.4, 1.0)
RECALIBRATION_STEPS = 100


def train_classifier(training: Training, images: ImageSet) -> nn.Module:
    """Train the profile's timm model and return its moving average."""
    from timm.optim import param_groups_weight_decay  # here: it takes a second

    config, device, shape = training.config, training.device, training.profile.classifier
    identity = training.describe("classifier", data=images)
    images = take_training(images)
    model = training.start(partial(build_classifier, shape))
    model.to(memory_format=torch.channels_last)
    groups = param_groups_weight_decay(model, config.weight_decay)  # none of norms, biases
    optimizer = torch.optim.SGD(groups, lr=config.lr, momentum=0.9, nesterov=True)

    def loss(step: int) -> tuple[Tensor, dict[str, float]]:
        indices = choose_indices(len(images), config.batch, config.seed, step)
        generator = make_torch_rng(make_rng(config.seed, step))
        x = to_tensor(images.take(indices).pixels).to(device)
        x = crop_and_flip(x, shape.input_size, generator)
        y = torch.from_numpy(images.labels[indices]).to(device)
        x = normalise(x, shape).to(memory_format=torch.channels_last)
        logits = model(x).float()
        value = F.cross_entropy(logits, y, label_smoothing=LABEL_SMOOTHING)
        return value, {"top1": float((logits.argmax(1) == y).float().mean())}

    network = training.fit(model, loss, identity, range(config.steps), optimizer)
    return recalibrate(network, training, images)


def recalibrate(network: nn.Module, training: Training, images: ImageSet) -> nn.Module:
    """Measure batch-norm statistics anew, for averaged weights on whole pictures.

    Those kept during training belong to the weights that were not averaged and to
    crops; with them the average classified 7 points worse.
    """
    config = training.config
    steps = range(min(RECALIBRATION_STEPS, config.steps))
    indices = (choose_indices(len(images), config.batch, config.seed, step) for step in steps)
    batches = (to_tensor(images.take(few).pixels).to(training.device) for few in indices)
    pictures = (preprocess(x, training.profile.classifier) for x in batches)
    update_bn((x.to(memory_format=torch.channels_last) for x in pictures), network)
    return network.eval()


def crop_and_flip(x: Tensor, size: int, generator: torch.Generator) -> Tensor:
    """Crop a random part of each picture, resize it to ``size`` and flip half of them.

    ``x``: ``[B, 3, H, W]``. Area in ``CROP_AREA`` of the picture, aspect 3:4 to 4:3.
    """
    count = len(x)
    draw = torch.rand(5, count, generator=generator)
    area = CROP_AREA[0] + (CROP_AREA[1] - CROP_AREA[0]) * draw[0]
    aspect = (4 / 3) ** (draw[1] - 0.5)  # square root of the aspect ratio
    width, height = (area.sqrt() * aspect).clamp(max=1), (area.sqrt() / aspect).clamp(max=1)
    theta = torch.zeros(count, 2, 3)
    theta[:, 0, 0] = width * (draw[4] < 0.5).float().mul(2).sub(1)
    theta[:, 1, 1] = height
    theta[:, 0, 2] = (1 - width) * (2 * draw[2] - 1)
    theta[:, 1, 2] = (1 - height) * (2 * draw[3] - 1)
    grid = F.affine_grid(theta.to(x.device), [count, 3, size, size], align_corners=False)
    return F.grid_sample(x, grid, padding_mode="reflection", align_corners=False)
