"""MEMO: one step on the entropy of the mean prediction over augmented views.

Zhang et al., "MEMO: Test Time Robustness via Adaptation and Augmentation", NeurIPS 2022.
"""

import copy
from collections.abc import Sequence

import torch
from torch import Tensor

from dga.images import HALF_RANGE, from_tensor
from dga.lab.readers.reader import Reader
from dga.lab.readers.systems import MemoConfig
from dga.lab.readers.tent import BATCH_NORMS
from dga.networks.classifier import normalise, predict_proba
from dga.networks.models import Models

VIEWS_AT_ONCE = 8
"""Views that pass the network together: of all 64 no layer would fit into a processor's caches."""


class Memo(Reader):
    """A reader that adapts a copy of the classifier to one picture at a time."""

    def __init__(self, models: Models, settings: MemoConfig) -> None:
        from torchvision.transforms import v2  # here: the page must not wait for it

        super().__init__(models, settings)
        self.model = copy.deepcopy(models.classifier).eval().requires_grad_()
        self.model.to(memory_format=torch.channels_last)
        size = models.profile.classifier.input_size
        self._augment = v2.Compose(
            [
                v2.RandomResizedCrop(size, scale=(settings.min_area, 1.0), antialias=True),
                v2.RandomHorizontalFlip(),
                v2.AugMix(severity=1, all_ops=False),  # without what overlaps the corruptions
            ]
        )

    def reset(self) -> None:
        """Start again from the classifier, bit for bit."""
        self.model.load_state_dict(self.models.classifier.state_dict())

    def read(self, x: Tensor, seeds: Sequence[int]) -> Tensor:
        """Adapt to each picture, classify it, and forget it. ``seeds`` fix the augmentations."""
        probabilities = []
        self.model.to(x.device)
        for picture, seed in zip(x, seeds, strict=True):
            self._adapt(self.draw_views(picture, seed))
            config = self.models.profile.classifier
            probabilities.append(predict_proba(self.model.eval(), picture[None], config)[0].cpu())
            self.reset()
        return torch.stack(probabilities)

    def draw_views(self, x: Tensor, seed: int) -> Tensor:
        """Augmented copies of one picture ``[3, S, S]``, normalised, ``[views, 3, s, s]``."""
        config = self.models.profile.classifier
        pixels = torch.from_numpy(from_tensor(x)).movedim(-1, 0)  # uint8 [3, S, S]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            copies = torch.stack([self._augment(pixels) for _ in range(self.settings.views)])
        return normalise((copies.float() / HALF_RANGE - 1).to(x.device), config)

    def _adapt(self, views: Tensor) -> None:
        with torch.enable_grad():
            logits = [self.model(chunk).float() for chunk in views.split(VIEWS_AT_ONCE)]
            loss = marginal_entropy(torch.cat(logits))
            self.model.zero_grad()
            loss.backward()
        # A fresh optimizer: no momentum is carried from picture to picture.
        convolutional = any(isinstance(module, BATCH_NORMS) for module in self.model.modules())
        optimizer = torch.optim.SGD if convolutional else torch.optim.AdamW
        weight_decay = 0.0 if convolutional else 0.01
        optimizer(self.model.parameters(), lr=self.settings.lr, weight_decay=weight_decay).step()


def marginal_entropy(logits: Tensor) -> Tensor:
    """The entropy in nats of the mean of the softmax of rows ``[views, C]`` (MEMO, Eq. 2)."""
    log_mean = logits.log_softmax(1).logsumexp(0) - torch.tensor(float(len(logits))).log()
    return -(log_mean.exp() * log_mean).sum()
