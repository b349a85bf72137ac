"""Weights made to do harm: one sentence, and nothing of theirs has run."""

import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from dga.io.files import sha256
from dga.lab.saved_weights import save_weights
from dga.weights.checkpoints import WeightsError
from dga.weights.store import load_weights, read_config, read_state
from tests.fixtures.public_weights import LOAD


def leave(mark: str) -> None:
    """What a hostile pickle calls."""
    Path(mark).touch()


class Touch:
    """Unpickled, it would leave a mark."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return leave, (str(self.mark),)


def zipped(path: Path, content: bytes, compression: int = zipfile.ZIP_STORED) -> None:
    """A file of ``torch.save`` with a pickle of ours, and 16 bytes of values."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("a/data.pkl", content)
        archive.writestr("a/data/0", bytes(16))
        archive.writestr("a/byteorder", "little")
        archive.writestr("a/version", "3\n")


def circle() -> dict[str, object]:
    content: dict[str, object] = {}
    content["state_dict"] = content
    return content


LONG_TEXT = b"\x80\x02X" + (2**24).to_bytes(4, "little") + b"a" * 2**24 + b"."
HARMFUL: dict[str, Callable[[Path, Touch], object]] = {
    "code": lambda path, touch: torch.save({"weight": touch}, path),
    "old code": lambda path, touch: torch.save(
        {"weight": touch}, path, _use_new_zipfile_serialization=False
    ),
    "bare code": lambda path, touch: path.write_bytes(pickle.dumps(touch)),
    "compressed": lambda path, touch: zipped(path, LONG_TEXT, zipfile.ZIP_DEFLATED),
    "circle": lambda path, touch: zipped(path, pickle.dumps(circle(), 2)),
}


@pytest.mark.parametrize("kind", HARMFUL)
@pytest.mark.parametrize(
    ("name", "suffix"),
    [("diffusion", ".pt"), ("discriminator", ".safetensors"), ("classifier", ".pt")],
)
def test_files_made_to_do_harm(small_imagenet, tmp_path, kind, suffix, name):
    path, mark = tmp_path / f"evil{suffix}", tmp_path / "mark"
    HARMFUL[kind](path, Touch(mark))
    with pytest.raises(WeightsError) as caught:
        LOAD[name](small_imagenet, path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    assert not mark.exists()


ENTRY = b'{"w": {"dtype": "F32", "shape": [4000], "data_offsets": [0, 16000]}}'
LYING = {
    "longer than all memory": (2**62).to_bytes(8, "little") + b"{}",
    "beyond the file": len(ENTRY).to_bytes(8, "little") + ENTRY,
    "a list": (6).to_bytes(8, "little") + b"[1, 2]",
}
"""Safetensors files whose headers, after eight bytes of their length, are not true."""


@pytest.mark.parametrize("name", LYING)
def test_headers_that_lie(tmp_path, name):
    path = tmp_path / "evil.safetensors"
    path.write_bytes(LYING[name])
    with pytest.raises(WeightsError, match="cannot be read as a checkpoint") as caught:
        load_weights(nn.Linear(4, 1), path)
    assert "\n" not in str(caught.value)
    folder = ours(tmp_path / "ours")
    shard = next(folder.glob("*.safetensors"))
    shard.write_bytes(LYING[name])
    vouch(folder, {"sha256": {shard.name: sha256(shard)}})
    with pytest.raises(WeightsError, match="no safetensors file"):
        read_state(folder)


def ours(folder: Path) -> Path:
    """Weights of a small layer, as our trainer writes them."""
    state = {"weight": torch.ones(1, 4), "bias": torch.zeros(1)}
    save_weights(state, folder, {"rate": 2.0})
    return folder


def vouch(folder: Path, changes: dict[str, object]) -> None:
    """Change a ``config.json``."""
    content = json.loads((folder / "config.json").read_text()) | changes
    (folder / "config.json").write_text(json.dumps(content))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("kind", ["ours", "pt", "safetensors"])
def test_values_that_are_not_numbers(tmp_path, value, kind):
    state = {"weight": torch.ones(1, 4), "bias": torch.tensor([value])}
    path = tmp_path / f"w.{kind}"
    if kind == "ours":
        shard = next(ours(path).glob("*.safetensors"))  # which would not save them
        save_file(state, shard)
        vouch(path, {"sha256": {shard.name: sha256(shard)}})
    elif kind == "pt":
        torch.save(state, path)
    else:
        save_file(state, path)
    with pytest.raises(WeightsError, match=r"not numbers \(bias\)"):
        load_weights(nn.Linear(4, 1), path)


# The config beside our weights


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "\udcff", "{", "null", '{"sha256": ["model.safetensors"]}']
)
def test_configs_that_cannot_be_read(tmp_path, text):
    folder = ours(tmp_path / "w")
    (folder / "config.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(WeightsError, match=r"cannot be read|does not list its files"):
        read_config(folder)


@pytest.mark.parametrize("name", ["../other.safetensors", "/dev/zero"])
def test_only_files_of_the_folder_are_read(tmp_path, name):
    folder = ours(tmp_path / "w")
    vouch(folder, {"sha256": {name: "0"}})
    with pytest.raises(WeightsError, match=rf"{Path(name).name} cannot be read: No such file"):
        read_state(folder)
