"""Which classifier is meant, what pixels it expects, and what its classes are called."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from dga.io.files import to_plain
from dga.io.parsing import check_choice
from dga.profiles import ClassifierConfig, Profile
from dga.profiles.configs import ACTIVATIONS
from dga.weights.checkpoints import WeightsError
from dga.weights.sources import Sources, find_packaged_checkpoint, name_timm_package
from dga.weights.store import read_config

LARGEST_INPUT = 2048
"""Largest input in pixels a side; more is a mistake, and would fill the memory."""
LARGEST_STD = 10
"""Largest deviation of pixels in [0, 1] that is accepted; a larger one is of pixels up to 255."""


def choose_classifier_config(profile: Profile, sources: Sources) -> ClassifierConfig:
    """Choose the configuration of the classifier that ``sources`` names, else the profile's.

    A folder of ours holds its configuration. That of a timm checkpoint comes from ``sources``, else
    from timm's table of its architecture, else from the profile. Raises :class:`WeightsError` for
    an unknown architecture, a class list that cannot be read, and numbers out of range.
    """
    if sources.classifier is None:
        options = [f"--{name.replace('_', '-')}" for name in sources.classifier_fields]
        if options:
            raise WeightsError(
                f"{', '.join(options)} describes a timm checkpoint: name it with --classifier."
            )
        return profile.classifier
    path, name = sources.locate(profile)["classifier"], str(sources.classifier)
    package = name_timm_package(name)
    is_packaged = path == find_packaged_checkpoint(package)
    if sources.classifier_fields and (is_packaged or not path.is_file()):
        raise WeightsError(f"{name} tells its architecture, pixels and classes itself.")
    if is_packaged:
        return replace(_timm_config(name, profile.classifier, path), package=package)
    if path.is_file():
        return _check_config(_checkpoint_config(profile, sources, path), path)
    try:
        content = read_config(path)["profile"]["classifier"]
        return _check_config(TypeAdapter(ClassifierConfig).validate_python(content), path)
    except (KeyError, TypeError, ValidationError) as error:
        raise WeightsError(f"The config.json of {path} does not describe a classifier.") from error


def _checkpoint_config(profile: Profile, sources: Sources, path: Path) -> ClassifierConfig:
    """The configuration of a checkpoint, from ``sources``, timm's table or the profile."""
    default = profile.classifier
    if sources.architecture is not None:
        default = _timm_config(sources.architecture, default, path)
    changes: dict[str, Any] = {name: getattr(sources, name) for name in sources.classifier_fields}
    if sources.input_size is not None:
        changes["resize"] = None  # timm crops for its own input size alone
    if sources.classes is not None:
        changes["classes"] = read_classes(sources.classes)
    return replace(default, **changes)


def _timm_config(architecture: str, default: ClassifierConfig, path: Path) -> ClassifierConfig:
    """The configuration from timm's table; classes that it does not name are the default's.

    Raises :class:`WeightsError` for an architecture without an entry.
    """
    _check_architecture(architecture, path)
    if not (facts := read_timm_table(architecture)):
        raise WeightsError(f"timm has no table of the pixels of {architecture}, named for {path}.")
    size, crop = int(facts["input_size"][-1]), float(facts.get("crop_pct") or 1)
    return ClassifierConfig(
        architecture,
        size,
        tuple(facts.get("label_names") or default.classes),
        mean=tuple(facts["mean"]),
        std=tuple(facts["std"]),
        resize=None if crop == 1 else math.floor(size / crop),  # as timm evaluates
    )


def _check_architecture(name: str, path: Path) -> None:
    """Raise :class:`WeightsError` for an architecture that timm does not know."""
    import timm  # here: with all that it imports it takes a second

    if not timm.is_model(name):
        raise WeightsError(
            f"timm has no architecture {name!r}: name that of {path} with --architecture."
        )


def read_timm_table(architecture: str) -> dict[str, Any]:
    """Read the entry of an architecture in timm's own table; empty where it has none."""
    import timm

    table = timm.get_pretrained_cfg(architecture)
    return table.to_dict() if table else {}


def read_classes(names: Path | str | Sequence[str]) -> tuple[str, ...]:
    """Read the names of the classes, in the order of the classifier's outputs.

    ``names``: the names themselves, or a file with one a line. Raises :class:`WeightsError` for a
    file that cannot be read, and for fewer than two names.
    """
    what = "The class list"
    if isinstance(names, Path | str):
        what = f"The class list {names}"
        try:
            names = Path(names).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise WeightsError(f"{what} cannot be read: {reason}.") from error
    classes = tuple(name.strip() for name in names if name.strip())
    if len(classes) < 2:
        raise WeightsError(f"{what} names {len(classes)} classes: two are needed, one a line.")
    return classes


def describe_classifier(config: ClassifierConfig) -> dict[str, Any]:
    """What its answers depend on beside its weights, as JSON types; of classes their number."""
    return {**to_plain(config), "classes": len(config.classes)}


def _check_config(config: ClassifierConfig, path: Path) -> ClassifierConfig:
    """Return the configuration. Raises :class:`WeightsError` for numbers out of range, and
    ``ValueError`` for an unknown activation."""
    _check_architecture(config.architecture, path)
    check_choice("activation", config.activation, ACTIVATIONS)
    sizes = [config.input_size, config.resize or config.input_size]
    if not all(1 <= size <= LARGEST_INPUT for size in sizes):
        raise WeightsError(
            f"The input size of {path} is from 1 to {LARGEST_INPUT} pixels a side, not "
            f"{config.input_size}."
        )
    for name, low, high in (("mean", 0, 1), ("std", 1e-6, LARGEST_STD)):
        values = getattr(config, name)
        if not all(low <= value <= high for value in values):
            raise WeightsError(
                f"The {name} of {path} is three numbers for pixels in [0, 1], "
                f"as in 0.485,0.456,0.406, not {values}."
            )
    return config
