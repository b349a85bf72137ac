"""Classifiers, timm's or a user's own: loading them, preparing pictures, and their answers."""

import contextlib
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dga.io.files import sha256
from dga.profiles import ClassifierConfig
from dga.profiles.configs import NONE, SOFTMAX
from dga.weights.checkpoints import WeightsError, check_numbers, match_names, read_checkpoint
from dga.weights.classifiers import read_timm_table
from dga.weights.sources import PACKAGED_SHA256
from dga.weights.store import fill_network

_FEW_CLASSES = 4
"""Up to so many classes all logits may lie between 0 and 1 by chance."""
_mode_lock = threading.RLock()


@dataclass(frozen=True)
class Prediction:
    """What a classifier reads in a picture: all labels, the likeliest first."""

    labels: tuple[str, ...]
    probabilities: tuple[float, ...]
    """The probability of each label, 0 to 1, falling. By softmax they sum to 1."""

    @property
    def label(self) -> str:
        """The likeliest class."""
        return self.labels[0]

    @property
    def probability(self) -> float:
        """The likeliest class's probability, in [0, 1]."""
        return self.probabilities[0]

    def top(self, count: int = 5) -> list[tuple[str, float]]:
        """The ``count`` likeliest labels, each with its probability."""
        return list(zip(self.labels, self.probabilities, strict=True))[:count]


class OwnClassifier(nn.Module):
    """A user's own classifier, a module or a function, from pixels in [0, 1] to answers.

    It gets pixels in its own precision. It runs in evaluation mode, and its own mode is restored
    afterwards. Raises ``ValueError`` for a classifier that cannot be called.
    """

    def __init__(self, classifier: Callable[[Tensor], Any]) -> None:
        super().__init__()
        if not callable(classifier):
            raise ValueError(
                "A classifier is a module or a function from pixels [B, 3, S, S] to logits, not "
                f"a {type(classifier).__name__}."
            )
        self.classifier = classifier
        self.training = False

    def train(self, mode: bool = True) -> "OwnClassifier":
        """Leave the mode of the classifier as it is."""
        return self

    def forward(self, x: Tensor) -> Any:
        """The classifier's answers for pixels, ``[B, 3, S, S]`` in [0, 1]."""
        parameters = (parameter for parameter in self.parameters() if parameter.is_floating_point())
        dtype = next((parameter.dtype for parameter in parameters), x.dtype)
        with self._evaluation_mode():
            return self.classifier(x.to(dtype))

    @contextlib.contextmanager
    def _evaluation_mode(self) -> Iterator[None]:
        """Set all modules to evaluation mode for a while.

        Threads may share the classifier: while modules are switched, one thread at a time uses it.
        """
        with _mode_lock:
            in_training = [part for part in self.modules() if getattr(part, "training", False)]
            if in_training:
                for module in in_training:
                    module.training = False
                try:
                    yield
                finally:
                    for module in in_training:
                        module.training = True
                return
        yield


def load_classifier(config: ClassifierConfig, path: Path) -> nn.Module:
    """Load a timm model, frozen, from timm's weights (``.safetensors``, ``.pth``).

    The file is read here, not by timm, which only puts the tensors into the network. Raises
    :class:`~dga.weights.checkpoints.WeightsError` for a file that cannot be read, or that holds
    another network, NaN or infinity.
    """
    state = read_checkpoint(path)
    with (
        torch.device("meta"),
        contextlib.suppress(Exception),
    ):  # raised again below, with a sentence
        state = match_names(state, build_classifier(config).state_dict())
    _check_class_count(config, path, state)
    overlay = {"state_dict": state, "num_classes": len(config.classes)}
    try:
        model = build_classifier(config, pretrained=True, pretrained_cfg_overlay=overlay)
    except (RuntimeError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise WeightsError(
            f"{path} does not fit {config.architecture} at {config.input_size} pixels: name its "
            "own architecture with --architecture, as timm calls it, or its --input-size."
        ) from error
    check_numbers(path, model.state_dict())
    return model.eval().requires_grad_(False)


def load_packaged_classifier(config: ClassifierConfig, path: Path) -> nn.Module:
    """Load the checkpoint of a Python package: timm's tensors in timm's order, with other names.

    Raises :class:`~dga.weights.checkpoints.WeightsError` where kinds or shapes do not fit in that
    order, and for a known file that was altered.
    """
    expected = PACKAGED_SHA256.get(path.name)
    if expected and sha256(path) != expected:
        raise WeightsError(
            f"{path} was altered (its SHA-256 is not {expected}): install its package again."
        )
    model, state = build_classifier(config), read_checkpoint(path)
    names = model.state_dict()
    if _list_kinds(state) != _list_kinds(names):
        raise WeightsError(f"{path} does not fit {config.architecture}: install its package again.")
    return fill_network(model, path, dict(zip(names, state.values(), strict=True)))


def _list_kinds(state: Mapping[str, Tensor]) -> list[tuple[str, torch.Size]]:
    """List the last part of each name, such as ``weight`` or ``running_mean``, with the shape."""
    return [(name.rpartition(".")[2], value.shape) for name, value in state.items()]


def _check_class_count(config: ClassifierConfig, path: Path, state: Mapping[str, Tensor]) -> None:
    """Raise ``WeightsError`` for a checkpoint with more or fewer classes than there are names."""
    head = read_timm_table(config.architecture).get("classifier")
    weight = state.get(f"{head[0] if isinstance(head, tuple) else head}.weight")
    if weight is not None and weight.ndim and len(weight) != len(config.classes):
        raise WeightsError(
            f"{path} tells {len(weight)} classes apart, and {len(config.classes)} are named: name "
            "its own with --classes FILE (one a line)."
        )


def build_classifier(config: ClassifierConfig, **options: Any) -> nn.Module:
    """Build a timm model of the profile's shape, untrained unless ``options`` name weights."""
    import timm  # here: importing it takes a second

    if config.channels:
        options["channels"] = config.channels
    facts = read_timm_table(config.architecture)
    if facts.get("fixed_input_size") and facts["input_size"][-1] != config.input_size:
        options["img_size"] = config.input_size
    classes = len(config.classes)
    model: Any = timm.create_model(config.architecture, num_classes=classes, **options)
    if not config.stem_pool:
        # For small pictures: a ResNet's max pool would throw away half of their pixels.
        model.maxpool = nn.Identity()
    return model


def normalise(x: Tensor, config: ClassifierConfig) -> Tensor:
    """Normalise pixels in [-1, 1] by the mean and deviation of the classifier's training."""
    mean = torch.tensor(config.mean, device=x.device).view(1, 3, 1, 1)
    std = torch.tensor(config.std, device=x.device).view(1, 3, 1, 1)
    return ((x + 1) / 2 - mean) / std


def preprocess(x: Tensor, config: ClassifierConfig) -> Tensor:
    """Turn ``[B, 3, H, W]`` in [-1, 1] into the classifier's input: resize, crop, normalise."""
    resize, size = config.resize or config.input_size, config.input_size
    if x.shape[-2:] != (resize, resize):
        x = F.interpolate(x, size=(resize, resize), mode="bicubic", antialias=True).clamp(-1, 1)
    if resize != size:
        edge = (resize - size) // 2
        x = x[..., edge : edge + size, edge : edge + size]
    return normalise(x, config)


@torch.no_grad()
def predict(model: nn.Module, x: Tensor, config: ClassifierConfig) -> list[Prediction]:
    """Classify pictures, ``[B, 3, H, W]`` in [-1, 1]. Every prediction has all classes.

    Raises what :func:`predict_proba` does.
    """
    predictions = []
    for probabilities in predict_proba(model, x, config).cpu():
        ordered = probabilities.sort(descending=True, stable=True)
        labels = tuple(config.classes[i] for i in ordered.indices.tolist())
        predictions.append(Prediction(labels, tuple(ordered.values.tolist())))
    return predictions


@torch.no_grad()
def predict_proba(model: nn.Module, x: Tensor, config: ClassifierConfig) -> Tensor:
    """Predict the probabilities of pictures, float32 ``[B, classes]``.

    ``x``: ``[B, 3, H, W]`` in [-1, 1]. Raises ``FloatingPointError`` if they are not numbers, and
    ``ValueError`` for answers that do not suit the activation.
    """
    answer = model(preprocess(x, config))
    return check_finite(to_probabilities(answer, len(x), config.activation))


def to_probabilities(answer: Any, count: int, activation: str) -> Tensor:
    """Turn an answer for ``count`` pictures into probabilities, float32 ``[count, classes]``.

    Raises ``ValueError`` with the likely cause where it cannot be what ``activation`` says.
    """
    if not isinstance(answer, Tensor) or answer.ndim != 2 or len(answer) != count:
        shape = list(answer.shape) if isinstance(answer, Tensor) else f"a {type(answer).__name__}"
        raise ValueError(
            f"The classifier returned {shape} for {count} pictures, not a tensor of logits with "
            "one row a picture and a column for each class: wrap it in a module that returns "
            "them alone."
        )
    values = answer.float()
    _check_answer(values, activation)
    if activation == NONE:
        return values
    return values.softmax(1) if activation == SOFTMAX else values.sigmoid()


def _check_answer(values: Tensor, activation: str) -> None:
    """Check an answer, float32 ``[count, classes]``, for signs that it is not what is expected.

    Raises ``ValueError``, and warns where few classes leave a doubt.
    """
    are_shares = bool(((values >= 0) & (values <= 1)).all())
    if activation == NONE:
        if not are_shares and bool(values.isfinite().all()):
            raise ValueError(
                "The classifier returned numbers outside of [0, 1], which are no probabilities: "
                "of logits activation is softmax, or sigmoid."
            )
        return
    classes = values.shape[1]
    if classes < 2 and activation == SOFTMAX:
        raise ValueError(
            "The classifier returned one number a picture, which would always be 100 % sure; two "
            "classes need two logits: for a binary one return [0, its logit]."
        )
    if not are_shares:
        return
    if classes > 1 and bool(((values.sum(1) - 1).abs() < 1e-3).all()):
        raise ValueError(
            "The classifier returned probabilities, not logits: leave its softmax out, or return "
            'their logarithms, or name activation="none".'
        )
    doubt = (
        "The classifier returned numbers from 0 to 1 that do not sum to 1, as a sigmoid does: "
        'if they are probabilities, name activation="none", or leave the sigmoid out and name '
        'activation="sigmoid".'
    )
    if classes > _FEW_CLASSES:
        raise ValueError(doubt)
    warnings.warn(doubt, stacklevel=3)


def check_finite(probabilities: Tensor) -> Tensor:
    """Return ``probabilities``. Raises ``FloatingPointError`` if one is NaN or infinite."""
    if not bool(probabilities.isfinite().all()):
        raise FloatingPointError("The classifier returned values that are not numbers.")
    return probabilities
