"""Settings as text: ``tau=0.3`` changes one field in nested frozen dataclasses.

Methods are configured by dataclasses (:class:`dga.systems.System` and below). Their fields of
simple types, at any depth, are the settings that a user may name on the command line.
"""

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

FieldPath = tuple[str, ...]


def list_settings(settings: Any, prefix: str = "") -> dict[str, FieldPath]:
    """Every setting's name in text, with the path of fields that leads to it.

    Fields of nested dataclasses go by their own names; of two settings with the same name the
    first counts. Metadata of a field: ``prefix`` stands before the names of the fields below it
    (``noise_`` makes ``noise_depth`` of ``noise_diffusion.depth``); a field with ``is_setting``
    False is none; a field that ``needs`` another one (``share`` a ``repair``) is a setting only
    where that one is not None.
    """
    paths: dict[str, FieldPath] = {}
    hints = typing.get_type_hints(type(settings))
    for field in dataclasses.fields(settings):
        metadata, value = field.metadata, getattr(settings, field.name)
        nested = any(map(dataclasses.is_dataclass, _kinds(hints[field.name])))
        lacks = "needs" in metadata and getattr(settings, metadata["needs"]) is None
        if not metadata.get("is_setting", True) or lacks or (nested and value is None):
            continue
        inner: dict[str, FieldPath] = {prefix + field.name: ()}
        if nested:
            inner = list_settings(value, prefix + metadata.get("prefix", ""))
        for name, path in inner.items():
            paths.setdefault(name, (field.name, *path))
    return paths


def read_settings(settings: Any) -> dict[str, Any]:
    """The value of every setting by its name in text."""
    paths = list_settings(settings).items()
    return {name: functools.reduce(getattr, path, settings) for name, path in paths}


def override(settings: Any, changes: Mapping[str, str]) -> Any:
    """The settings with some of them replaced, all at once.

    ``changes``: text by name. Raises ``ValueError`` for an unknown name (it lists the others) and
    for text that is no value of the field's type.
    """
    paths = list_settings(settings)
    for name, text in changes.items():
        if name not in paths:
            names = ", ".join(paths) or "none"
            raise ValueError(f"Unknown setting {name}={text}. This method's settings: {names}.")
    return _replace_leaves(settings, {paths[name]: (name, text) for name, text in changes.items()})


def _replace_leaves(settings: Any, changes: Mapping[FieldPath, tuple[str, str]]) -> Any:
    """Replace fields at any depth. ``changes``: a setting's name and text by the field's path."""
    hints = typing.get_type_hints(type(settings))
    new: dict[str, Any] = {}
    for field in dict.fromkeys(path[0] for path in changes):
        below = {path[1:]: change for path, change in changes.items() if path[0] == field}
        if () in below:
            new[field] = _parse(*below[()], hints[field])
        else:
            new[field] = _replace_leaves(getattr(settings, field), below)
    return dataclasses.replace(settings, **new)


def _parse(name: str, text: str, hint: Any) -> Any:
    """``text`` as a value of the annotated type."""
    is_none = text == "none" and types.NoneType in _kinds(hint)
    try:
        return TypeAdapter(hint).validate_python(None if is_none else text)
    except ValidationError:
        raise ValueError(f"{text!r} is no value for the setting {name}.") from None


def _kinds(hint: Any) -> tuple[Any, ...]:
    """The members of a union, or the type itself."""
    union = typing.get_origin(hint) in (types.UnionType, typing.Union)
    return typing.get_args(hint) if union else (hint,)
