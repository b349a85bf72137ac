"""Checkpoints that others wrote: read without running their code, checked by name."""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

WRAPPERS = ("state_dict", "model", "module")
"""Under these names some trainers keep the weights beside their own state."""
NAMED = 3


class WeightsError(RuntimeError):
    """Weights are missing, altered or of another network; the message says how to mend it."""


def read_checkpoint(path: Path) -> dict[str, Tensor]:
    """The state dict of a ``.safetensors`` or ``torch.save`` file, as it was stored.

    Mapped into memory, so that nothing is read before it is used. Only tensors are read
    (``weights_only``). Raises :class:`WeightsError` for anything else.
    """
    try:
        content = load_file(path) if path.suffix == ".safetensors" else _torch_load(path)
    except FileNotFoundError:
        raise WeightsError(f"There is no checkpoint {path}.") from None
    except (
        SafetensorError, pickle.UnpicklingError, zipfile.BadZipFile, EOFError,
        RuntimeError, ValueError, OSError, KeyError,
    ) as error:  # fmt: skip
        raise WeightsError(
            f"{path} cannot be read as a checkpoint ({_reason(error)}); fetch or copy it again."
        ) from error
    return _unwrap(content, path)


def _torch_load(path: Path) -> Any:
    """Files of before torch 1.6 are no zip archives and cannot be mapped."""
    return torch.load(path, "cpu", weights_only=True, mmap=zipfile.is_zipfile(path))


def _unwrap(content: Any, path: Path) -> dict[str, Tensor]:
    while isinstance(content, Mapping):
        if content and all(isinstance(value, Tensor) for value in content.values()):
            return {str(name): value for name, value in content.items()}
        inner = [content[name] for name in WRAPPERS if isinstance(content.get(name), Mapping)]
        if not inner:
            break
        content = inner[0]
    raise WeightsError(f"{path} holds no state dict (names with tensors).")


def _reason(error: Exception) -> str:
    if isinstance(error, pickle.UnpicklingError):
        return "it is damaged, or holds more than tensors and might run code"
    text = (str(error).strip() or type(error).__name__).splitlines()[0]
    return text if len(text) <= 160 else f"{text[:157]}..."


def match_names(state: Mapping[str, Tensor], expected: Iterable[str]) -> dict[str, Tensor]:
    """``state`` under our names: ``net.`` comes before those of a guided-diffusion network."""
    known = set(expected)
    return {
        name if name in known or f"net.{name}" not in known else f"net.{name}": value
        for name, value in state.items()
    }


def check_fit(path: Path, state: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> None:
    """Raise :class:`WeightsError` unless names and shapes are those of the network.

    ``expected`` may be on the meta device: no memory is filled for the check.
    """
    shapes = [
        f"{name} is {_shape(value)} instead of {_shape(expected[name])}"
        for name, value in state.items()
        if name in expected and value.shape != expected[name].shape
    ]
    found = {
        "missing": [name for name in expected if name not in state],
        "surplus": [name for name in state if name not in expected],
        "other shapes": shapes,
    }
    said = [f"{what}: {_few(names)}" for what, names in found.items() if names]
    if said:
        raise WeightsError(f"{path} holds another network ({'; '.join(said)}).")


def _few(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _shape(value: Tensor) -> str:
    return "x".join(map(str, value.shape)) or "a number"
