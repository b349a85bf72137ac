"""A classifier that repairs every picture before it reads it, as a module for any program.

It learns nothing. A method of :mod:`dga.systems` is applied to each picture by itself.
"""

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

from dga.answers import Answer, make_answers, read_repaired_pictures
from dga.batch_size import REPAIR_BATCH
from dga.images import Pixels, from_tensor, to_pixels, to_square, to_tensor
from dga.io.parsing import check_choice
from dga.networks.classifier import OwnClassifier, predict_proba
from dga.networks.compute import isolate_numerics
from dga.networks.models import Models, load_models
from dga.photograph import content_seed, repair_photograph
from dga.pipeline import ForwardProcess, collect_results, run
from dga.profiles import ClassifierConfig, get_profile
from dga.profiles.configs import ACTIVATIONS, SOFTMAX
from dga.systems import parse

DEFAULT_METHOD = "dga-plus-ensemble"
ROUNDING = 1e-3
"""How far pixels may be outside of [0, 1]: resizing overshoots by about so much."""

Classifier = Callable[[Tensor], Any]
"""From pixels ``[b, 3, S, S]`` in [0, 1] to logits; mostly a ``torch.nn.Module``."""


class AdaptedClassifier(nn.Module):
    """A frozen classifier that reads pictures after a repair: pixels in, log-probabilities out.

    - ``models``: by default those of the profile ``photo``.
    - ``method``: as ``evaluate --methods`` names it, settings included (``dga-guided:tau=0.3``).
      The default is DGA+'s ensemble, in which the picture as it came has a weight of three tenths.
    - ``classifier``: your own module or function, instead of that of the models. It gets pixels
      ``[b, 3, S, S]`` in [0, 1], in the precision of its parameters, does its own preprocessing
      and returns logits. It runs in evaluation mode; its own mode is restored after every call.
    - ``activation``: how its answers become probabilities: ``softmax``; ``sigmoid`` for a
      classifier of several labels a picture; ``none`` for one that returns probabilities.
    - ``size``: S, by default that of the profile. At another size pictures are repaired as
      photographs (:func:`dga.repair_photograph`), which only DGA+ can do.

    The module is always in evaluation mode and has no gradients. A picture's noise depends on its
    content, so that neither order nor batches matter. Raises ``ValueError`` for an
    unknown method, setting or activation, for a method that adapts the classifier, and for any but
    DGA+ at another size.
    """

    def __init__(
        self,
        models: Models | None = None,
        method: str = DEFAULT_METHOD,
        classifier: Classifier | None = None,
        size: int | None = None,
        activation: str = SOFTMAX,
    ) -> None:
        super().__init__()
        profile = models.profile if models else get_profile("photo")
        self.size = profile.image_size if size is None else size
        self.method = method
        self.last: list[Answer] = []
        """The answers of the latest call, one a picture, with its depth, its repair and more."""
        if classifier is None and activation != SOFTMAX:
            raise ValueError("An activation is for a classifier of your own: name one.")
        system = parse(profile, method)
        if self.size != profile.image_size and system.repair != profile.plus:
            raise ValueError(
                f"At another size than {profile.image_size} pixels dga-plus repairs, not {method}."
            )
        self._system = system
        self.models = models or load_models(profile)  # loaded anew, since .to moves them in place
        if classifier is not None:
            self.models = replace_classifier(self.models, classifier, self.size, activation)
        self.networks = nn.ModuleDict(self.models.networks)
        self.eval()

    def train(self, mode: bool = True) -> Self:
        """Stay in evaluation mode: frozen networks do not train."""
        return super().train(False)

    @isolate_numerics
    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Move the networks, for ``.to``, ``.cuda`` and the like, as :meth:`Models.to` does.

        Raises ``ValueError`` where the precision would change: each network has its own.
        """
        moved = fn(torch.zeros(1))
        if moved.dtype != torch.float32:
            raise ValueError(
                "The networks' precision is chosen as they are loaded (load_models, Compute); "
                "move them to a device with .to(device)."
            )
        super()._apply(fn, recurse)
        self.models = self.models.to(moved.device)
        return self

    @isolate_numerics
    @torch.no_grad()
    def forward(self, x: Tensor) -> Tensor:
        """Repair and read pictures, ``[B, 3, H, W]`` in [0, 1]: log-probabilities ``[B, classes]``.

        Pixels are rounded to 8 bits. Pictures of another size than S are cropped to the middle
        square and resized, as picture files are. An empty batch gives ``[0, classes]``. The result
        is float32. Raises ``ValueError`` for anything else than such pictures.
        """
        _check_pixels(x)
        if not len(x):  # reading a grey picture says how many classes there are
            grey = torch.zeros(1, 3, self.size, self.size, device=self.models.device)
            self.last = []
            return self._read(grey)[:0].to(x.device)
        pictures = resize_to_square(from_tensor(x * 2 - 1), self.size)
        seeds = [content_seed(picture) for picture in pictures]
        if self.size != self.models.profile.image_size:
            pairs = zip(pictures, seeds, strict=True)
            answers = [self._answer_photograph(picture, seed) for picture, seed in pairs]
        else:
            answers = []
            for first in range(0, len(pictures), REPAIR_BATCH):
                batch = slice(first, first + REPAIR_BATCH)
                answers += self._answer_batch(pictures[batch], seeds[batch])
        self.last = answers
        probabilities = torch.stack([answer.probabilities for answer in answers]).float()
        least = torch.finfo(probabilities.dtype).tiny
        return probabilities.clamp_min(least).log().to(x.device)

    def _answer_batch(self, pictures: Pixels, seeds: Sequence[int]) -> list[Answer]:
        """Repair pictures, uint8 ``[B, S, S, 3]`` with the profile's S, together, and read them."""
        x, repair = to_tensor(pictures).to(self.models.device), self._system.repair
        if repair is not None:
            processes = ForwardProcess.of_batch(self.models, x, seeds)
            results = collect_results(run(self.models, processes, [repair]))[repair]
            return make_answers(self._system, results, x, self._read)
        start_time = time.perf_counter()
        probabilities = self._read(x)
        seconds = (time.perf_counter() - start_time) / len(x)
        return [Answer(row, seconds) for row in probabilities]

    def _answer_photograph(self, pixels: Pixels, seed: int) -> Answer:
        """Repair a picture of any size, uint8 ``[S, S, 3]``, as a photograph, and read it.

        The depth of the answer is the largest of all windows. It is crossed if all of them are.
        """
        photograph = repair_photograph(self.models, pixels, seed)
        start_time = time.perf_counter()
        repaired, damaged = (
            to_tensor(image)[None].to(self.models.device) for image in (photograph.image, pixels)
        )
        (probabilities,) = read_repaired_pictures(self._system, repaired, damaged, self._read)
        return Answer(
            probabilities,
            seconds=photograph.seconds + time.perf_counter() - start_time,
            depth=int(photograph.depths.max()),
            is_crossed=photograph.is_crossed,
            picture=repaired[0],
            details={
                "unchanged": photograph.is_unchanged,
                "degradation": str(photograph.explanation.degradation),
            },
        )

    def _read(self, x: Tensor) -> Tensor:
        """Read pictures, ``[B, 3, S, S]`` in [-1, 1]: probabilities ``[B, classes]`` on the CPU."""
        return predict_proba(self.models.classifier, x, self.models.profile.classifier).cpu()


def resize_to_square(pictures: Pixels, size: int) -> Pixels:
    """Cut out the middle squares of uint8 ``[B, H, W, 3]`` and resize them to ``size``."""
    if pictures.shape[1:3] == (size, size):
        return pictures
    squares = (to_square(Image.fromarray(picture), size) for picture in pictures)
    return np.stack([to_pixels(square) for square in squares])


def replace_classifier(
    models: Models, classifier: Classifier, size: int, activation: str = SOFTMAX
) -> Models:
    """Give models another classifier: any module or function from pixels in [0, 1] to answers.

    ``size``: pixels a side of the pictures that it takes; ``activation``: one of
    :data:`dga.profiles.configs.ACTIVATIONS`, for its answers. Raises ``ValueError`` for another.
    """
    check_choice("activation", activation, ACTIVATIONS)
    config = ClassifierConfig(
        architecture=type(classifier).__name__,
        input_size=size,
        classes=(),
        mean=(0.0, 0.0, 0.0),
        std=(1.0, 1.0, 1.0),
        activation=activation,
    )
    profile = dataclasses.replace(models.profile, classifier=config)
    own = OwnClassifier(classifier).to(models.device)
    return dataclasses.replace(models, profile=profile, classifier=own)


def _check_pixels(x: Tensor) -> None:
    """Raise ``ValueError`` for anything but pictures ``[B, 3, H, W]`` in [0, 1]."""
    if x.ndim != 4 or x.shape[1] != 3 or not x.is_floating_point() or 0 in x.shape[2:]:
        raise ValueError(
            f"Pictures are floats of shape [B, 3, H, W], not {x.dtype} {list(x.shape)}."
        )
    if not len(x):
        return
    low, high = float(x.min()), float(x.max())
    if not (low >= -ROUNDING and high <= 1 + ROUNDING):
        raise ValueError(
            f"Pixels are numbers in [0, 1], not from {low:.3g} to {high:.3g}: the classifier "
            "normalises them itself."
        )
