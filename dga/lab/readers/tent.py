"""Tent: entropy minimisation of the norm layers, on the stream itself.

Wang et al., "Tent: Fully Test-Time Adaptation by Entropy Minimization", ICLR 2021.
"""

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.distributions import Categorical

from dga.lab.readers.reader import Reader
from dga.lab.readers.systems import TentConfig
from dga.networks.classifier import check_finite, preprocess
from dga.networks.models import Models

BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
OTHER_NORMS = (nn.LayerNorm, nn.GroupNorm)


class Tent(Reader):
    """A reader that adapts a copy of the classifier; the classifier itself stays frozen."""

    def __init__(self, models: Models, settings: TentConfig) -> None:
        super().__init__(models, settings)
        self.reset()

    def reset(self) -> None:
        """Start again from the classifier, bit for bit."""
        self.model = copy.deepcopy(self.models.classifier)
        parameters = collect_affine(self.model)
        lr = self.settings.lr * self.settings.batch / 64
        self.optimizer = torch.optim.SGD(parameters, lr=lr, momentum=self.settings.momentum)

    def read(self, x: Tensor, seeds: Sequence[int]) -> Tensor:
        """Classify ``[B, 3, S, S]``, then take one step, which these probabilities do not know."""
        with torch.enable_grad():
            logits = self.model(preprocess(x, self.models.profile.classifier)).float()
            loss = Categorical(logits=logits).entropy().mean()  # Tent, Eq. 1
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return check_finite(logits.detach().softmax(1)).cpu()


def collect_affine(model: nn.Module) -> list[nn.Parameter]:
    """Scales and shifts of the norm layers, which alone are left trainable.

    Batch norm is switched to the statistics of the batch at hand; everything else
    stays in evaluation mode. Raises ``ValueError`` for a model with no such parameter.
    """
    model.eval().requires_grad_(False)
    parameters: list[nn.Parameter] = []
    for module in model.modules():
        if not isinstance(module, BATCH_NORMS + OTHER_NORMS):
            continue
        if isinstance(module, BATCH_NORMS):
            module.track_running_stats = False
            module.running_mean = module.running_var = None
        parameters += [p for p in (module.weight, module.bias) if p is not None]
    for parameter in parameters:
        parameter.requires_grad_()
    if not parameters:
        raise ValueError("Tent adapts norm layers, and this classifier has none with parameters.")
    return parameters
