"""Settings written as text: ``dga-guided:tau=0.3`` is a method with one thing changed."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any


def override(settings: Any, changes: dict[str, str]) -> Any:
    """A frozen dataclass with some fields, its own or those one level down, replaced at once.

    Raises ``ValueError`` for a field it does not have (naming those it has) and for text
    that is no value of the field's type.
    """
    known, hints = fields(settings), typing.get_type_hints(type(settings))
    own, inner = dict[str, Any](), dict[str, dict[str, str]]()
    for name, text in changes.items():
        if name not in known:
            allowed = ", ".join(known) or "none"
            raise ValueError(f"Unknown setting {name}={text}. This method's settings: {allowed}.")
        head, *rest = known[name]
        if rest:
            inner.setdefault(head, {})[name] = text
        else:
            own[name] = _parse(name, text, hints[name])
    own |= {head: override(getattr(settings, head), texts) for head, texts in inner.items()}
    return dataclasses.replace(settings, **own)


def fields(settings: Any) -> dict[str, tuple[str, ...]]:
    """Every field that can be changed, with the way to it."""
    found: dict[str, tuple[str, ...]] = {}
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if dataclasses.is_dataclass(value):
            found |= {inner: (field.name, inner) for inner in fields(value)}
        else:
            found[field.name] = (field.name,)
    return found


def _parse(name: str, text: str, hint: Any) -> Any:
    """``text`` as the first of the annotated types that takes it."""
    kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if text == "none" and types.NoneType in kinds:
        return None
    for kind in kinds:
        if kind is bool and text in ("true", "false"):
            return text == "true"
        if typing.get_origin(kind) is typing.Literal and text in typing.get_args(kind):
            return text
        if kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                continue
    raise ValueError(f"{text!r} is no value for the setting {name}.")
