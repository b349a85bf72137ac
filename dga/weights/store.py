"""Where a profile's weights are, and whether they are what they should be."""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from huggingface_hub import save_torch_state_dict
from safetensors.torch import load
from torch import Tensor, nn

from dga.io.files import CHECKPOINT, CONFIG, sha256, write_json
from dga.io.shipped import shipped
from dga.weights.checkpoints import (
    WeightsError,
    check_fit,
    check_numbers,
    match_names,
    read_checkpoint,
)

SHARD_SIZE = "9MB"
SHARD_BYTES = 64 * 2**20
"""What is read at once, at most; ours are far smaller."""
OWN_SUM = "config_sha256"
STAGED = ".new"
CHECKPOINTS = {".pt", ".pth", ".safetensors"}


def home() -> Path:
    """Where fetched weights are kept: ``DGA_HOME``, or ``dga`` in the user's cache folder."""
    if named := os.environ.get("DGA_HOME"):
        return Path(named).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "dga"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "dga"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dga"


def weights_folder(profile: str, model: str, root: Path | None = None) -> Path:
    """``root/profile/model``: by default among the weights that ship, else in :func:`home`.

    Where that folder holds one checkpoint of others instead of weights of ours, its path.
    """
    folder = (root or shipped("assets/weights")) / profile / model
    if root is None and not folder.is_dir():
        folder = home() / profile / model
    if folder.is_dir() and not (folder / CONFIG).exists():
        found = [path for path in folder.iterdir() if path.suffix in CHECKPOINTS]
        foreign = [path for path in found if path.name != CHECKPOINT]
        return foreign[0] if len(foreign) == 1 else folder
    return folder


def weights_id(path: Path) -> str:
    """Short name of exact weights, a folder's or a file's. Raises :class:`WeightsError`."""
    if path.is_file():
        return sha256(path)[:12]
    listed = json.dumps(read_config(path)["sha256"], sort_keys=True)
    return hashlib.sha256(listed.encode()).hexdigest()[:12]


def save_weights(
    state: dict[str, Tensor], folder: Path, config: dict[str, Any], half: bool = True
) -> None:
    """Write safetensors shards of at most 9 MB and ``config.json`` with their SHA-256.

    Weights that are there already are touched once the new ones are on the disk, so that a
    full disk loses none. ``config.json`` also keeps a SHA-256 of its own content. Raises
    :class:`WeightsError` for values that are not numbers, in half precision if so stored.
    """
    if half:
        state = {k: v.half() if v.is_floating_point() else v for k, v in state.items()}
    state = {k: v.detach().cpu().contiguous() for k, v in state.items()}
    check_numbers(folder, state)
    staged = folder / STAGED
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    try:
        save_torch_state_dict(state, staged, max_shard_size=SHARD_SIZE)
        shards = {path.name: sha256(path) for path in sorted(staged.glob("*.safetensors"))}
        content = {**config, "sha256": shards}
        write_json(staged / CONFIG, {**content, OWN_SUM: config_sum(content)})
        (folder / CONFIG).unlink(missing_ok=True)  # half-replaced weights have no config
        for old in folder.glob("model*.safetensors*"):
            old.unlink()
        for path in staged.glob("model*"):
            path.replace(folder / path.name)
        (staged / CONFIG).replace(folder / CONFIG)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def config_sum(content: Mapping[str, Any]) -> str:
    """SHA-256 of a ``config.json`` without its own sum: sorted, compact JSON."""
    rest = {name: value for name, value in content.items() if name != OWN_SUM}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def read_config(folder: Path) -> dict[str, Any]:
    """``config.json`` of a weights folder; a checkpoint of others has none, and gives ``{}``.

    Raises :class:`WeightsError`.
    """
    if folder.is_file():
        return {}
    try:
        content = json.loads((folder / CONFIG).read_text())
    except FileNotFoundError:
        raise WeightsError(
            f"No weights in {folder}. Restore that folder from the repository, or train them: "
            f"python -m dga train {folder.name} --profile {folder.parent.name} --data DATA "
            f"--out {folder}"
        ) from None
    except OSError as error:
        raise _unreadable(folder / CONFIG, error) from error
    except (ValueError, RecursionError) as error:
        raise WeightsError(f"{folder / CONFIG} cannot be read: {error}. {_mend(folder)}") from error
    if not isinstance(content, dict) or not _lists_files(content.get("sha256")):
        raise WeightsError(f"{folder / CONFIG} does not list its files. {_mend(folder)}")
    if content.get(OWN_SUM, "") not in ("", config_sum(content)):
        raise WeightsError(f"{folder / CONFIG} was altered. {_mend(folder)}")
    return content


def _lists_files(listed: object) -> bool:
    """Whether these are names of safetensors files in the folder itself, with their sums."""
    return isinstance(listed, dict) and all(
        isinstance(expected, str)
        and name == Path(name).name
        and "\\" not in name
        and name.endswith(".safetensors")
        for name, expected in listed.items()
    )


def _unreadable(path: Path, error: OSError) -> WeightsError:
    reason = error.strerror or type(error).__name__
    return WeightsError(f"{path} cannot be read ({reason}): check its permissions and the disk.")


def read_state(folder: Path) -> dict[str, Tensor]:
    """Verified float32 state dict of a weights folder. Raises :class:`WeightsError`."""
    state: dict[str, Tensor] = {}
    for name, expected in read_config(folder)["sha256"].items():
        path = folder / name
        content = _verified(path, expected)
        try:
            state.update(load(content))
        except Exception as error:  # made to do harm, a file can bring its reader to raise anything
            raise WeightsError(f"{path} is no safetensors file. {_mend(folder)}") from error
    return {k: v.float() if v.is_floating_point() else v for k, v in state.items()}


def verify_files(path: Path) -> None:
    """Raise :class:`WeightsError` unless a folder's files are those of its config."""
    for name, expected in read_config(path).get("sha256", {}).items():
        _verified(path / name, expected)


def _verified(path: Path, expected: str) -> bytes:
    """The very bytes that were compared with their SHA-256. Raises :class:`WeightsError`."""
    try:
        with path.open("rb") as file:
            content = file.read(SHARD_BYTES + 1)
    except (FileNotFoundError, IsADirectoryError):
        raise WeightsError(f"{path} is missing. {_mend(path.parent)}") from None
    except OSError as error:
        raise _unreadable(path, error) from error
    if len(content) > SHARD_BYTES or hashlib.sha256(content).hexdigest() != expected:
        raise WeightsError(
            f"{path} was altered: its SHA-256 is not {expected}. {_mend(path.parent)}"
        )
    return content


def load_weights(network: nn.Module, path: Path) -> nn.Module:
    """Fill ``network``, freeze it and set it to evaluation. Raises :class:`WeightsError`.

    ``path``: a folder of ours, or a checkpoint with guided-diffusion's names. A network on
    the meta device takes the tensors as they were read, so that memory holds them once.
    """
    expected = network.state_dict()
    stored = match_names(read_checkpoint(path), expected) if path.is_file() else read_state(path)
    check_fit(path, stored, expected)
    state = {k: v.float() if v.is_floating_point() else v for k, v in stored.items()}
    check_numbers(path, state)
    on_meta = any(value.is_meta for value in expected.values())
    network.load_state_dict(state, assign=on_meta)
    return network.eval().requires_grad_(False)


def _mend(folder: Path) -> str:
    return f"Restore it with: git checkout -- {folder} (or download the repository again)."


def parameter_count(network: nn.Module) -> int:
    """Number of parameters."""
    return sum(p.numel() for p in network.parameters())
