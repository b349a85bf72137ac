"""Checkpoints that others wrote: read without running their code, matched by name and shape."""

import argparse
import pickle
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from dga.io.parsing import first_line, first_names

WRAPPERS = (
    "state_dict_ema", "model_ema", "ema_state_dict", "params_ema", "ema", "state_dict",
    "model_state_dict", "model", "module", "net", "params", "weights",
)  # fmt: skip
"""Names under which some trainers keep the weights beside their own state; averaged ones first."""
WRAPPER_LEVELS = 3
"""How many such dictionaries may lie in one another: a hostile one may hold itself."""
MAX_LISTED_TENSORS = 3
"""Most names of tensors in a sentence."""
_ADVICE = "save its weights alone, torch.save(model.state_dict(), PATH), and name that file"


class WeightsError(RuntimeError):
    """Weights are missing, altered, or those of another network; the message says what to do."""


def read_checkpoint(path: Path) -> dict[str, Tensor]:
    """Read the state dict of a ``.safetensors`` or ``torch.save`` file, as it was stored.

    The file is mapped into memory, so that a tensor is read only when it is used. Only tensors are
    read; no code of the file is run. Raises :class:`WeightsError` for anything else.
    """
    try:
        path.open("rb").close()  # safetensors calls a file missing that it is not allowed to read
        is_safetensors = path.suffix == ".safetensors"
        content = load_file(path) if is_safetensors else load_archive(path, is_mapped=True)
    except FileNotFoundError:
        raise WeightsError(f"There is no checkpoint {path}.") from None
    except Exception as error:  # a hostile file can make its reader raise anything
        is_code = isinstance(error, pickle.UnpicklingError)
        reason = "it is damaged or might run code" if is_code else first_line(error)
        raise WeightsError(
            f"{path} cannot be read as a checkpoint ({reason}): fetch or copy it again, or, if it "
            f"holds more than tensors, {_ADVICE}."
        ) from error
    return _unwrap(content, path)


def load_archive(path: Path, is_mapped: bool = False) -> Any:
    """Load what ``torch.save`` wrote, on the CPU: nothing but tensors and plain values.

    ``is_mapped``: whether the tensors stay in the file until they are used. Raises ``ValueError``
    for a compressed archive, which might fill the memory as it is unpacked, and what ``torch.load``
    raises.
    """
    is_zip = zipfile.is_zipfile(path)
    if is_zip:
        with zipfile.ZipFile(path) as archive:
            if any(entry.compress_type for entry in archive.infolist()):
                raise ValueError("it would grow when it is read, as torch.save's files do not")
    with torch.serialization.safe_globals([argparse.Namespace]):  # holds timm's training options
        return torch.load(path, "cpu", weights_only=True, mmap=is_mapped and is_zip)


def _unwrap(content: Any, path: Path) -> dict[str, Tensor]:
    """Find the names and tensors, below a trainer's own state if need be.

    Raises :class:`WeightsError` where there are none.
    """
    for _ in range(WRAPPER_LEVELS):
        if not isinstance(content, Mapping):
            break
        inner = [content[name] for name in WRAPPERS if isinstance(content.get(name), Mapping)]
        tensors = {str(key): value for key, value in content.items() if isinstance(value, Tensor)}
        if tensors and not inner:
            return tensors
        content = inner[0] if inner else None
    raise WeightsError(f"{path} holds no state dict (names with tensors): {_ADVICE}.")


def match_names(state: Mapping[str, Tensor], expected: Iterable[str]) -> dict[str, Tensor]:
    """Give the tensors of ``state`` a network's own names, without the prefix of a trainer.

    The prefix (``module.``, ``_orig_mod.``, any other) is the one with which most of the expected
    names are in ``state``. Tensors with another prefix belong to something else and are left out. A
    state that does not have the first of the expected names stays as it is.
    """
    names = {name.removeprefix("net."): name for name in expected}  # our networks wrap one, ``net``
    first = next(iter(names))
    prefixes = {name.removesuffix(first) for name in state if f".{name}".endswith(f".{first}")}

    def count_matches(prefix: str) -> int:
        return sum(prefix + name in state for name in names)

    prefix = max(prefixes, key=count_matches, default="")
    return {
        names.get(name.removeprefix(prefix), name): value
        for name, value in state.items()
        if name.startswith(prefix)
    }


def check_numbers(path: Path, state: Mapping[str, Tensor]) -> None:
    """Raise :class:`WeightsError` for weights that are infinite or not numbers (NaN)."""
    bad = [name for name, value in state.items() if not bool(value.isfinite().all())]
    if bad:
        raise WeightsError(
            f"{path} holds values that are not numbers ({first_names(bad, MAX_LISTED_TENSORS)}): "
            "its training failed, or it was altered."
        )
