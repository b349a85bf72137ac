"""Weights on disk: sharded, verified, and clear when something is wrong."""

import shutil
from pathlib import Path

import pytest
import torch
from torch import nn

from dga.io.shipped import find_shipped_folder
from dga.lab.saved_weights import save_weights
from dga.weights.checkpoints import WeightsError
from dga.weights.store import load_weights, read_config, read_state


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    save_weights(nn.Linear(4, 3).state_dict(), tmp_path / "tiny", {"model": "tiny"})
    return tmp_path / "tiny"


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_round_trip_in_half_precision(folder, device):
    network = load_weights(nn.Linear(4, 3, device=device), folder)
    torch.manual_seed(0)
    expected = nn.Linear(4, 3)
    torch.testing.assert_close(network.weight, expected.weight.half().float(), rtol=0, atol=0)
    assert not network.training
    assert not any(p.requires_grad for p in network.parameters())


def test_large_weights_are_split_below_ten_megabytes(tmp_path):
    numbers = {f"layer{i}": float(i) for i in range(12)}
    state = {name: torch.full((1000, 1000), number) for name, number in numbers.items()}
    save_weights(state, tmp_path, {})
    shards = list(tmp_path.glob("*.safetensors"))
    assert len(shards) > 1
    assert max(path.stat().st_size for path in shards) < 10 * 2**20
    back = read_state(tmp_path)
    assert {name: float(value[0, 0]) for name, value in back.items()} == numbers


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
    shard = next(folder.glob("*.safetensors"))
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
    limits = {
        "diffusion": 12e6,
        "conditional": 12e6,
        "discriminator": 4e6,
        "explainer": 4e6,
        "classifier": 5e6,
    }
    folders = [path.parent for path in find_shipped_folder("assets/weights").rglob("config.json")]
    assert {folder.name for folder in folders} == set(limits)
    for folder in folders:
        state, config = read_state(folder), read_config(folder)
        assert {path.name for path in folder.glob("*.safetensors")} == set(config["sha256"])
        assert sum(v.numel() for v in state.values()) <= limits[folder.name]
        assert (folder / "README.md").read_text().startswith("# ")
