"""Training the classifier: flips and crops only, so that it is neither hardened nor fragile."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim.swa_utils import update_bn

from dga.images import to_tensor
from dga.lab.data.image_sets import ImageSet, take_training
from dga.lab.training.draws import choose_indices, make_rng
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
"""The share of a picture that is shown, 0 to 1."""
RECALIBRATION_STEPS = 100


def train_classifier(training: Training, images: ImageSet) -> nn.Module:
    """Train the profile's timm model and return its moving average."""
    from timm.optim import param_groups_weight_decay  # here: they take a second
    from torchvision.transforms import v2

    config, device, shape = training.config, training.device, training.profile.classifier
    identity = training.describe("classifier", data=images)
    images = take_training(images)
    augment = v2.Compose(
        [v2.RandomResizedCrop(shape.input_size, scale=CROP_AREA), v2.RandomHorizontalFlip()]
    )
    model = training.start(partial(build_classifier, shape))
    model.to(memory_format=torch.channels_last)
    groups = param_groups_weight_decay(model, config.weight_decay)  # none of norms, biases
    optimizer = torch.optim.SGD(groups, lr=config.lr, momentum=0.9, nesterov=True)

    def loss(step: int) -> tuple[Tensor, dict[str, float]]:
        indices = choose_indices(len(images), config.batch, config.seed, step)
        pictures = to_tensor(images.take(indices).pixels)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(make_rng(config.seed, step).integers(2**62)))
            x = torch.stack([augment(picture) for picture in pictures]).to(device)
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
