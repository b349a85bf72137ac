"""Our weights on disk: sharded, verified, and one clear sentence when something is wrong."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from dga.io.files import sha256
from dga.io.shipped import find_shipped_folder
from dga.lab.saved_weights import save_weights
from dga.weights.checkpoints import WeightsError
from dga.weights.store import load_weights, read_config, read_state


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Weights of a small layer, as our trainer writes them."""
    torch.manual_seed(0)
    save_weights(nn.Linear(4, 3).state_dict(), tmp_path / "tiny", {"model": "tiny"})
    return tmp_path / "tiny"


def vouch(folder: Path, changes: dict[str, object]) -> None:
    """Change the ``config.json``, which names each file's sum."""
    content = json.loads((folder / "config.json").read_text()) | changes
    (folder / "config.json").write_text(json.dumps(content))


def find_shard(folder: Path) -> Path:
    return next(folder.glob("*.safetensors"))


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_round_trip_in_half_precision(folder, device):
    network = load_weights(nn.Linear(4, 3, device=device), folder)
    torch.manual_seed(0)
    expected = nn.Linear(4, 3)
    torch.testing.assert_close(network.weight, expected.weight.half().float(), rtol=0, atol=0)
    assert not network.training
    assert not any(p.requires_grad for p in network.parameters())


def test_weights_are_whole_at_every_moment(folder, tmp_path, monkeypatch):
    """Wherever saving is killed, the old ones are there or the new, and can be saved over again."""
    moments = list[Path]()

    def watch(name: str) -> None:
        change = getattr(Path, name)

        def copy_and_change(self: Path, *rest: object, **options: object) -> object:
            moments.append(Path(shutil.copytree(folder, tmp_path / f"moment-{len(moments)}")))
            return change(self, *rest, **options)

        monkeypatch.setattr(Path, name, copy_and_change)

    def save(place: Path, number: float) -> None:
        names = "abc" if number == 3 else "ab"  # a file each
        save_weights({name: torch.full((60, 60), number) for name in names}, place, {})

    def read(place: Path) -> float:
        values = {float(value.mean()) for value in read_state(place).values()}
        assert len(values) == 1
        return values.pop()

    monkeypatch.setattr("dga.lab.saved_weights.SHARD_SIZE", "9KB")
    save(folder, 1.0)
    with monkeypatch.context() as monkeypatch:
        for name in ("replace", "rename", "unlink"):
            watch(name)
        save(folder, 2.0)
    assert len(moments) > 4
    numbers = [*map(read, moments), read(folder)]
    assert numbers == sorted(numbers)
    assert {numbers[0], numbers[-1]} == {*numbers} == {1, 2}
    for moment in moments:
        for number in (3.0, 1.0):
            save(moment, number)
            assert read(moment) == number
        files = {path.name for path in moment.iterdir() if path.suffix != ".part"}
        assert files == {"config.json", *read_config(moment)["sha256"]}


def test_altered_weights_are_refused(folder):
    shard = find_shard(folder)
    content = shard.read_bytes()
    for altered in (content[:-1] + bytes([content[-1] ^ 1]), content[:20]):
        shard.write_bytes(altered)
        with pytest.raises(WeightsError, match=r"was altered.*Restore that folder"):
            read_state(folder)
    shard.unlink()
    with pytest.raises(WeightsError, match="cannot be read: No such file"):
        read_state(folder)


def test_shipped_weights_keep_their_bounds():
    files = list(find_shipped_folder("assets/weights").rglob("*.safetensors"))
    assert max(path.stat().st_size for path in files) < 10 * 2**20
    assert sum(path.stat().st_size for path in files) < 40 * 2**20
    folders = [path.parent for path in find_shipped_folder("assets/weights").rglob("config.json")]
    for folder in folders:
        assert read_state(folder)
        files = {path.name for path in folder.glob("*.safetensors")}
        assert files == set(read_config(folder)["sha256"])
        assert (folder / "README.md").read_text().startswith("# ")


# Made to do harm


ENTRY = b'{"w": {"dtype": "F32", "shape": [4000], "data_offsets": [0, 16000]}}'
LYING = {
    "longer than all memory": (2**62).to_bytes(8, "little") + b"{}",
    "beyond the file": len(ENTRY).to_bytes(8, "little") + ENTRY,
    "a list": (6).to_bytes(8, "little") + b"[1, 2]",
}
"""Safetensors files whose headers, after eight bytes of their length, are not true."""


@pytest.mark.parametrize("name", LYING)
def test_headers_that_lie(folder, tmp_path, name):
    path, shard = tmp_path / "evil.safetensors", find_shard(folder)
    for file in (path, shard):
        file.write_bytes(LYING[name])
    with pytest.raises(WeightsError, match="cannot be read as a checkpoint") as caught:
        load_weights(nn.Linear(4, 3), path)
    assert "\n" not in str(caught.value)
    vouch(folder, {"sha256": {shard.name: sha256(shard)}})
    with pytest.raises(WeightsError, match="no safetensors file"):
        read_state(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("kind", ["ours", "pt", "safetensors"])
def test_values_that_are_not_numbers_are_refused(folder, tmp_path, value, kind):
    state = nn.Linear(4, 3).state_dict()
    state["bias"][1] = value
    path = tmp_path / f"w.{kind}"
    if kind == "pt":
        torch.save(state, path)
    elif kind == "safetensors":
        save_file(state, path)
    else:
        path, shard = folder, find_shard(folder)
        save_file(state, shard)
        vouch(folder, {"sha256": {shard.name: sha256(shard)}})
    with pytest.raises(WeightsError, match=r"not numbers \(bias\)"):
        load_weights(nn.Linear(4, 3), path)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "\udcff", "{", "null", '{"sha256": ["model.safetensors"]}']
)
def test_configs_that_cannot_be_read_are_refused(folder, text):
    (folder / "config.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(WeightsError, match=r"cannot be read|does not list its files"):
        read_config(folder)


def test_only_files_of_the_folder_are_read(folder, tmp_path):
    other = tmp_path / "other.safetensors"
    other.write_bytes(b"somebody's")
    for name in (f"../{other.name}", str(other)):
        vouch(folder, {"sha256": {name: "0"}})
        with pytest.raises(WeightsError, match=rf"{other.name} cannot be read: No such file"):
            read_state(folder)
