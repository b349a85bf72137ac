"""Trained weights as files: halved, whole at every moment, or as what changed, of low rank.

A network that was trained on from another is saved as its difference from that: each weight's is
L R, with R of few rows (LoRA, Hu et al., 2022), a fifth of the whole.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from huggingface_hub import save_torch_state_dict
from torch import Tensor, nn

from dga.io.files import CONFIG, sha256, write_atomically, write_json
from dga.weights.checkpoints import check_numbers
from dga.weights.store import LEFT, RIGHT

SHARD_SIZE = "9MB"
"""Hosts of code take no larger files."""


def save_weights(state: dict[str, Tensor], folder: Path, config: dict[str, Any]) -> None:
    """Write half-precision safetensors of at most 9 MB and ``config.json`` with their SHA-256.

    Files are called after their content: until ``config.json`` names the new ones the old ones
    count, and they go afterwards, so that at any moment the weights are whole.
    Raises :class:`~dga.weights.checkpoints.WeightsError` for numbers too large to be halved.
    """
    state = {k: v.half() if v.is_floating_point() else v for k, v in state.items()}
    state = {k: v.detach().cpu().contiguous() for k, v in state.items()}
    check_numbers(folder, state)
    folder.mkdir(parents=True, exist_ok=True)
    sums = dict[str, str]()
    with TemporaryDirectory() as made:
        save_torch_state_dict(state, made, max_shard_size=SHARD_SIZE)
        for path in sorted(Path(made).glob("*.safetensors")):
            digest = sha256(path)
            name = f"{path.stem}-{digest[:8]}.safetensors"
            with write_atomically(folder / name) as part:
                shutil.copyfile(path, part)
            sums[name] = digest
    write_json(folder / CONFIG, {**config, "sha256": sums})
    for path in folder.glob("model*.safetensors*"):
        if path.name not in sums:
            path.unlink()


def limit_rank(network: nn.Module, origin: Mapping[str, Tensor], share: float) -> None:
    """Bring each matrix of a network to the nearest whose difference from ``origin`` has low rank.

    ``share``: the rank, as a share of its smaller side. (Eckart and Young, 1936.)
    """
    with torch.no_grad():
        for name, value in network.state_dict().items():
            if value.ndim > 1:
                left, right = _factorise(value.float().cpu() - origin[name], share)
                value.copy_(origin[name] + (left @ right).view(value.shape))


def factorise(
    state: Mapping[str, Tensor], origin: Mapping[str, Tensor], share: float
) -> dict[str, Tensor]:
    """What is saved of a network: factors of each matrix's difference, and its vectors whole."""
    factors = dict[str, Tensor]()
    for name, value in state.items():
        if value.ndim > 1:
            left, right = _factorise(value.float() - origin[name].float(), share)
            factors |= {LEFT + name: left, RIGHT + name: right}
        else:
            factors[name] = value
    return factors


def _factorise(difference: Tensor, share: float) -> tuple[Tensor, Tensor]:
    """The nearest product of low rank to a weight ``[n, ...]``: ``[n, r]`` and ``[r, m]``."""
    matrix = difference.flatten(1)
    rank = max(1, round(share * min(matrix.shape)))
    u, s, v = torch.linalg.svd(matrix, full_matrices=False)
    root = s[:rank].sqrt()
    return u[:, :rank] * root, root[:, None] * v[:rank]
