"""Checkpoints that others wrote: read without running their code, matched by name and shape."""

import argparse
import pickle
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from dga.io.parsing import some

WRAPPERS = (
    "state_dict_ema", "model_ema", "ema_state_dict", "params_ema", "ema", "state_dict",
    "model_state_dict", "model", "module", "net", "params", "weights",
)  # fmt: skip
"""Under these names some trainers keep the weights beside their own state; averaged ones first."""
WRAPPED = 3
"""How deep such a state may lie."""
NAMED = 3
_SAVE = "save its weights alone, torch.save(model.state_dict(), PATH), and name that file"
_BEGINNINGS = {
    b"version https://git-lfs": "it is git-lfs's note on a file, not the file: git lfs pull",
    b"<": "it is a web page: fetch the file itself",
    b"{": "it is a text in JSON: name the file of weights itself",
}


class WeightsError(RuntimeError):
    """Weights are missing, altered or of another network; the message says how to mend it."""


def read_checkpoint(path: Path) -> dict[str, Tensor]:
    """The state dict of a ``.safetensors`` or ``torch.save`` file, as it was stored.

    Mapped into memory, so that nothing is read before it is used. Only tensors are read, no code of
    the file is run. Raises :class:`WeightsError` for anything else.
    """
    start = b""
    try:
        with path.open("rb") as file:  # safetensors calls a file missing that it may not read
            start = file.read(64).lstrip()
        is_safe = path.suffix == ".safetensors"
        content = load_file(path) if is_safe else load_archive(path, mapped=True)
    except FileNotFoundError:
        raise WeightsError(f"There is no checkpoint {path}.") from None
    except Exception as error:  # made to do harm, a file can bring its reader to raise anything
        raise WeightsError(
            f"{path} cannot be read as a checkpoint ({_reason(error, start)})."
        ) from error
    return _unwrap(content, path)


def load_archive(path: Path, mapped: bool = False) -> Any:
    """What ``torch.save`` wrote, on the CPU; nothing but tensors and plain values.

    ``mapped``: the tensors stay in the file until they are used. Raises ``ValueError`` for a
    compressed one, which might unfold until the memory is full, and what ``torch.load`` raises.
    """
    is_zip = zipfile.is_zipfile(path)
    if is_zip:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
        if any(entry.filename.endswith("/constants.pkl") for entry in entries):
            raise pickle.UnpicklingError("it holds a TorchScript program")
        if any(entry.compress_type for entry in entries):
            raise ValueError("it would grow when it is read, as torch.save's files do not")
    with torch.serialization.safe_globals([argparse.Namespace]):  # timm's trainer keeps options so
        return torch.load(path, "cpu", weights_only=True, mmap=mapped and is_zip)


def _unwrap(content: Any, path: Path) -> dict[str, Tensor]:
    for _ in range(WRAPPED):  # a dictionary may hold itself
        if not isinstance(content, Mapping):
            break
        inner = [content[name] for name in WRAPPERS if isinstance(content.get(name), Mapping)]
        tensors = {str(k): value for k, value in content.items() if isinstance(value, Tensor)}
        if tensors and not inner:
            return tensors
        content = inner[0] if inner else None
    raise WeightsError(f"{path} holds no state dict (names with tensors): {_SAVE}.")


def _reason(error: Exception, start: bytes = b"") -> str:
    for beginning, meaning in _BEGINNINGS.items():
        if start.startswith(beginning):
            return meaning
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = (str(error).strip() or type(error).__name__).splitlines()[0]
    if not isinstance(error, pickle.UnpicklingError):
        return f"{text if len(text) <= 160 else text[:157] + '...'}; fetch or copy it again"
    if "TorchScript" in text:
        return f"{text}: {_SAVE}"
    asked = re.search(r"(?:GLOBAL|class|unsupported) ['`]?([A-Za-z_][\w.]*\.[\w.]+)", str(error))
    named = f"it asks for {asked[1]}, " if asked else ""
    return f"{named}it is damaged, or holds more than tensors and might run code: {_SAVE}"


def match_names(state: Mapping[str, Tensor], expected: Iterable[str]) -> dict[str, Tensor]:
    """``state`` under a network's own names, whatever its trainer put before them.

    The prefix (``module.``, ``model.``, ``_orig_mod.``, any) is the one with which most of the
    expected names are there; what has another belongs to something else and is left out. Of a
    network of ours ``net.`` is no part of the names that others use. A state that has none of the
    names stays as it is.
    """
    bare = {_bare(name): name for name in expected}
    found = Counter[str]()
    for name in state:
        parts = name.split(".")
        for start in range(len(parts)):
            if _bare(".".join(parts[start:])) in bare:
                found["".join(f"{part}." for part in parts[:start])] += 1
    if not found:
        return dict(state)
    best = max(found, key=lambda prefix: (found[prefix], len(prefix)))
    return {
        bare.get(_bare(name.removeprefix(best)), name): value
        for name, value in state.items()
        if name.startswith(best)
    }


def _bare(name: str) -> str:
    """A name without what compilation and our own networks put into it."""
    return name.replace("_orig_mod.", "").removeprefix("net.")


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
