"""Checkpoints that others wrote: read without running their code, checked by name."""

import pickle
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from dga.io.parsing import some
from dga.weights.archives import load_archive

WRAPPERS = ("state_dict_ema", "model_ema", "state_dict", "model", "module")
"""Under these names some trainers keep the weights beside their own state."""
WRAPPED = 3
"""How deep such a state may lie."""
NAMED = 3


class WeightsError(RuntimeError):
    """Weights are missing, altered or of another network; the message says how to mend it."""


def read_checkpoint(path: Path) -> dict[str, Tensor]:
    """The state dict of a ``.safetensors`` or ``torch.save`` file, as it was stored.

    Mapped into memory, so that nothing is read before it is used. Only tensors are read, see
    :func:`~dga.weights.archives.load_archive`. Raises :class:`WeightsError` for anything else.
    """
    try:
        path.open("rb").close()  # safetensors calls a file missing that it may not read
        is_safe = path.suffix == ".safetensors"
        content = load_file(path) if is_safe else load_archive(path, mapped=True)
    except FileNotFoundError:
        raise WeightsError(f"There is no checkpoint {path}.") from None
    except Exception as error:  # made to do harm, a file can bring its reader to raise anything
        raise WeightsError(
            f"{path} cannot be read as a checkpoint ({_reason(error)}); fetch or copy it again."
        ) from error
    return _unwrap(content, path)


def _unwrap(content: Any, path: Path) -> dict[str, Tensor]:
    for _ in range(WRAPPED):  # a dictionary may hold itself
        if not isinstance(content, Mapping):
            break
        if content and all(isinstance(value, Tensor) for value in content.values()):
            return {str(name): value for name, value in content.items()}
        inner = [content[name] for name in WRAPPERS if isinstance(content.get(name), Mapping)]
        content = inner[0] if inner else None
    raise WeightsError(f"{path} holds no state dict (names with tensors).")


def _reason(error: Exception) -> str:
    if isinstance(error, pickle.UnpicklingError):
        asked = f"{error}, " if str(error).startswith("it asks for") else ""
        return f"{asked}it is damaged, or holds more than tensors and might run code"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
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
    """Raise :class:`WeightsError` unless names, shapes and kinds are those of the network.

    ``expected`` may be on the meta device: no memory is filled for the check.
    """
    shapes = [
        f"{name} is {_shape(value)} instead of {_shape(expected[name])}"
        for name, value in state.items()
        if name in expected and value.shape != expected[name].shape
    ]
    kinds = [
        name
        for name, value in state.items()
        if name in expected and not _is_alike(value, expected[name])
    ]
    found = {
        "missing": [name for name in expected if name not in state],
        "surplus": [name for name in state if name not in expected],
        "other shapes": shapes,
        "other kinds of numbers": kinds,
    }
    problems = [f"{what}: {some(names, NAMED)}" for what, names in found.items() if names]
    if problems:
        raise WeightsError(f"{path} holds another network ({'; '.join(problems)}).")


def _is_alike(value: Tensor, expected: Tensor) -> bool:
    """Real or whole numbers where the network has them, in plain memory."""
    plain = value.layout == torch.strided and not value.is_quantized
    real = value.is_floating_point() == expected.is_floating_point()
    return plain and real and not value.is_complex()


def check_numbers(path: Path, state: Mapping[str, Tensor]) -> None:
    """Raise :class:`WeightsError` for weights that are infinite or not numbers (NaN)."""
    bad = [name for name, value in state.items() if not bool(value.isfinite().all())]
    if bad:
        raise WeightsError(
            f"{path} holds values that are not numbers ({some(bad, NAMED)}): its training failed, "
            "or it was altered."
        )


def _shape(value: Tensor) -> str:
    return "x".join(map(str, value.shape)) or "a number"
