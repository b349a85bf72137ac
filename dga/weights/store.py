"""Our own weights on disk: where they are, how they are checked and put into networks."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load
from torch import Tensor, nn

from dga.io.files import CHECKPOINT, CONFIG, sha256
from dga.io.parsing import first_names, to_one_line
from dga.io.shipped import find_shipped_folder
from dga.weights.checkpoints import (
    MAX_LISTED_TENSORS,
    WeightsError,
    check_numbers,
    match_names,
    read_checkpoint,
)

_ADVICE = "Restore that folder from the repository, or train anew (python -m dga train)."
LEFT, RIGHT = "left:", "right:"
"""Prefixes of the names of the two factors of a difference of low rank."""
SUFFIXES = {".pt", ".pth", ".safetensors"}
"""Endings of checkpoints."""


def find_weights_home() -> Path:
    """Find the folder of fetched weights: ``DGA_HOME``, or ``dga`` in the user's cache folder."""
    caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("DGA_HOME") or f"{caches}/dga").expanduser()


def find_weights_folder(profile: str, model: str, root: Path | None = None) -> Path:
    """Find the folder of a model's weights, ``root/profile/model``, whether or not it is there.

    By default it is among the weights that ship, else in :func:`find_weights_home`. Where it holds
    one checkpoint of others instead of weights of ours, the path of that file is returned.
    """
    folder = (root or find_shipped_folder("assets/weights")) / profile / model
    if root is None and not folder.is_dir():
        folder = find_weights_home() / profile / model
    if folder.is_dir() and not (folder / CONFIG).exists():
        files = [path for path in folder.iterdir() if path.suffix in SUFFIXES]
        foreign = [path for path in files if path.name != CHECKPOINT]
        return foreign[0] if len(foreign) == 1 else folder
    return folder


def compute_weights_id(path: Path) -> str:
    """Compute a short name of exact weights, from their SHA-256: 12 hexadecimal digits.

    Raises :class:`WeightsError` for a folder without weights.
    """
    if path.is_file():
        return sha256(path)[:12]
    sums = json.dumps(read_config(path)["sha256"], sort_keys=True)
    return hashlib.sha256(sums.encode()).hexdigest()[:12]


def read_config(folder: Path) -> dict[str, Any]:
    """Read ``config.json`` of a weights folder; a checkpoint of others has none, and gives ``{}``.

    Raises :class:`WeightsError` where it is missing or cannot be read.
    """
    if folder.is_file():
        return {}
    try:
        content = json.loads((folder / CONFIG).read_text())
    except FileNotFoundError:
        raise WeightsError(f"No weights in {folder}. {_ADVICE}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise WeightsError(f"{folder / CONFIG} cannot be read: {error}. {_ADVICE}") from error
    if not isinstance(content, dict) or not isinstance(content.get("sha256"), dict):
        raise WeightsError(f"{folder / CONFIG} does not list its files. {_ADVICE}")
    return content


def read_state(folder: Path) -> dict[str, Tensor]:
    """Read and verify the state dict of a weights folder, as it was stored.

    Raises :class:`WeightsError` for files that are missing, altered or no safetensors.
    """
    state: dict[str, Tensor] = {}
    for name, expected in read_config(folder)["sha256"].items():
        path = folder / Path(name).name
        try:
            content = path.read_bytes()
        except OSError as error:
            raise WeightsError(f"{path} cannot be read: {error.strerror}. {_ADVICE}") from error
        if hashlib.sha256(content).hexdigest() != expected:
            raise WeightsError(f"{path} was altered: its SHA-256 is not {expected}. {_ADVICE}")
        try:
            state.update(load(content))
        except Exception as error:  # a hostile file can make its reader raise anything
            raise WeightsError(f"{path} is no safetensors file. {_ADVICE}") from error
    return state


def restore_differences(
    factors: Mapping[str, Tensor], origin: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Restore the weights, float32, of a network whose training began with ``origin``.

    ``factors``: its vectors as they are and, for each matrix, the difference from that of
    ``origin`` as two factors of low rank (LoRA, Hu et al., 2022). Raises ``KeyError`` and
    ``RuntimeError`` where the two do not belong together.
    """
    state = {name: value for name, value in factors.items() if name in origin}
    for name, left in factors.items():
        if name.startswith(LEFT):
            name = name.removeprefix(LEFT)
            difference = left.float() @ factors[RIGHT + name].float()
            state[name] = origin[name].float() + difference.view(origin[name].shape)
    return state


def load_weights(network: nn.Module, path: Path) -> nn.Module:
    """Fill ``network`` from ``path``: a folder of ours, or a checkpoint with its names.

    Raises :class:`WeightsError` for weights that are missing, altered or of another network.
    """
    if path.is_file():
        state = match_names(read_checkpoint(path), network.state_dict())
    else:
        state = read_state(path)
    return fill_network(network, path, state)


def fill_network(network: nn.Module, path: Path, state: Mapping[str, Tensor]) -> nn.Module:
    """Fill ``network``, freeze it and set it to evaluation.

    A network on the meta device takes the tensors as they were read, so that memory holds them
    once. ``path``: their origin, for the error. Raises :class:`WeightsError` unless names, shapes
    and kinds of numbers are those of the network, and no value is NaN or infinite. Names and shapes
    are compared before memory is filled.
    """
    expected = network.state_dict()
    unfit = [name for name, value in state.items() if value.layout != torch.strided]
    for name in expected.keys() & state.keys():
        if state[name].is_floating_point() != expected[name].is_floating_point():
            unfit.append(name)
    if unfit:
        names = first_names(sorted(unfit), MAX_LISTED_TENSORS)
        raise WeightsError(f"{path} holds another network (other kinds of numbers: {names}).")
    state = {
        name: value.float() if value.is_floating_point() else value for name, value in state.items()
    }
    try:
        network.load_state_dict(state, assign=any(value.is_meta for value in expected.values()))
    except RuntimeError as error:
        raise WeightsError(f"{path} holds another network ({to_one_line(error)}).") from error
    check_numbers(path, state)
    return network.eval().requires_grad_(False)
