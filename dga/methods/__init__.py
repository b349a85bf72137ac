"""The systems of the paper's Table 1 and their variants, one interface for all."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from dga.methods.batch import Batch
from dga.methods.diffusion import Diffusion, diffusion_settings
from dga.methods.memo import Memo
from dga.methods.plus import Plus, PlusSettings
from dga.methods.protocol import Method, Outcome
from dga.methods.settings import override
from dga.methods.source import Source
from dga.methods.tent import Tent
from dga.networks.models import Models
from dga.profiles import EVERYDAY16

__all__ = ["METHODS", "Batch", "Method", "Outcome", "build_method", "build_methods"]


def _diffusion(name: str) -> Callable[[Models], Method]:
    return lambda models: Diffusion(models, diffusion_settings(models.profile)[name])


METHODS: dict[str, Callable[[Models], Method]] = {
    "source": Source,
    "tent": lambda models: Tent(models, models.profile.tent),
    "memo": lambda models: Memo(models, models.profile.memo),
    "dga-plus": lambda models: Plus(models, PlusSettings(models.profile.plus)),
    **{name: _diffusion(name) for name in diffusion_settings(EVERYDAY16)},
}


def build_method(models: Models, spec: str) -> Method:
    """``"dga-guided"`` or, with settings changed, ``"dga-guided:tau=0.3:scale=3"``.

    Raises ``ValueError`` naming the methods, or the settings, that there are.
    """
    name, *parts = spec.split(":")
    if name not in METHODS:
        raise ValueError(f"Unknown method {name!r}. Known: {', '.join(METHODS)}.")
    pairs = [part.partition("=") for part in parts]
    if any(not sign for _, sign, _ in pairs):
        raise ValueError(f"Settings look like {name}:tau=0.3:scale=3, not {spec!r}.")
    method: Any = METHODS[name](models)
    if not pairs:
        return method
    changes = {key: value for key, _, value in pairs}
    return dataclasses.replace(method, settings=override(method.settings, changes))


def build_methods(models: Models, specs: Sequence[str]) -> dict[str, Method]:
    """Methods by the text that names them. Raises ``ValueError`` for none or unknown ones."""
    if not specs:
        raise ValueError(f"No method was named. Known: {', '.join(METHODS)}.")
    return {spec: build_method(models, spec) for spec in specs}
