"""Settings as text: ``tau=0.3`` changes one field in nested frozen dataclasses.

Methods are configured by dataclasses: :class:`dga.systems.System` and those inside of it. Their
fields of simple types, at any level, are the settings that a user may name on the command line.
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
    """List the name of every setting, with the path of fields that leads to it.

    Fields of nested dataclasses have their own names; of two settings with the same name the first
    counts. ``prefix``: stands before every name. The metadata of a field can say more:

    - ``prefix``: stands before the names of the fields inside of it (``noise_`` makes
      ``noise_depth`` of ``noise_diffusion.depth``).
    - ``is_setting``: False where the field is no setting.
    - ``needs``: another field, without which (None) this one is no setting.
    """
    paths: dict[str, FieldPath] = {}
    hints = typing.get_type_hints(type(settings))
    for field in dataclasses.fields(settings):
        metadata, value = field.metadata, getattr(settings, field.name)
        is_nested = any(map(dataclasses.is_dataclass, _list_types(hints[field.name])))
        is_useless = "needs" in metadata and getattr(settings, metadata["needs"]) is None
        if not metadata.get("is_setting", True) or is_useless or (is_nested and value is None):
            continue
        inner: dict[str, FieldPath] = {prefix + field.name: ()}
        if is_nested:
            inner = list_settings(value, prefix + metadata.get("prefix", ""))
        for name, path in inner.items():
            paths.setdefault(name, (field.name, *path))
    return paths


def read_settings(settings: Any) -> dict[str, Any]:
    """Read the value of every setting, by its name."""
    paths = list_settings(settings).items()
    return {name: functools.reduce(getattr, path, settings) for name, path in paths}


def override_settings(settings: Any, changes: Mapping[str, str]) -> Any:
    """Return settings in which some are replaced, all at once.

    ``changes``: text by name. Raises ``ValueError`` for an unknown name, which lists those that
    there are, and for text that is no value of the field's type.
    """
    paths = list_settings(settings)
    for name, text in changes.items():
        if name not in paths:
            names = ", ".join(paths) or "none"
            raise ValueError(f"Unknown setting {name}={text}. This method's settings: {names}.")
    return _replace_leaves(settings, {paths[name]: (name, text) for name, text in changes.items()})


def _replace_leaves(settings: Any, changes: Mapping[FieldPath, tuple[str, str]]) -> Any:
    """Replace fields at any level. ``changes``: a setting's name and text, by the field's path."""
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
    """Parse a text as a value of the annotated type. Raises ``ValueError`` for other text."""
    is_none = text == "none" and types.NoneType in _list_types(hint)
    try:
        return TypeAdapter(hint).validate_python(None if is_none else text)
    except ValidationError:
        raise ValueError(f"{text!r} is no value for the setting {name}.") from None


def _list_types(hint: Any) -> tuple[Any, ...]:
    """List the types of a union, or the type itself."""
    is_union = typing.get_origin(hint) in (types.UnionType, typing.Union)
    return typing.get_args(hint) if is_union else (hint,)
