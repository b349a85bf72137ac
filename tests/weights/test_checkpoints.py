"""Checkpoints that others wrote: read whatever their prefix, or refused; none runs code."""

import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from guided_diffusion.script_util import create_model
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.testing import assert_close

from dga.io.files import sha256
from dga.networks.classifier import load_packaged_classifier
from dga.networks.models import load_denoiser
from dga.networks.unet import Denoiser
from dga.profiles import IMAGENET, get_profile
from dga.weights.checkpoints import WeightsError, match_names, read_checkpoint
from dga.weights.sources import find_packaged_checkpoint
from dga.weights.store import compute_weights_id, read_config
from tests.fixtures.public_weights import LOAD, OPENAI_FLAGS


def shapes(state: dict[str, Tensor]) -> dict[str, tuple[int, ...]]:
    return {name.removeprefix("net."): tuple(value.shape) for name, value in state.items()}


def test_full_size_denoiser_is_openais():
    with torch.device("meta"):
        ours = Denoiser(IMAGENET.denoiser)
        shape = {"attention_resolutions": "32,16,8", "num_head_channels": 64}
        theirs = create_model(256, 256, 2, **shape, **OPENAI_FLAGS)
    assert sum(p.numel() for p in ours.parameters()) == 552_814_086
    assert shapes(ours.state_dict()) == shapes(theirs.state_dict())
    ours.load_state_dict(match_names(theirs.state_dict(), ours.state_dict()))


def test_denoiser_from_a_public_checkpoint(small_imagenet, checkpoints):
    network = load_denoiser(small_imagenet, checkpoints.paths["diffusion"])
    x, time = torch.randn(2, 3, 32, 32), torch.tensor([0, 500])
    with torch.no_grad():
        answer, expected = network(x, time), checkpoints.networks["diffusion"](x, time)
    assert_close(answer, expected, rtol=0, atol=0)
    assert float(expected.abs().mean()) > 0.01
    assert not network.training
    assert not any(p.requires_grad or p.is_meta for p in network.parameters())
    assert read_config(checkpoints.paths["diffusion"]) == {}
    assert (
        compute_weights_id(checkpoints.paths["diffusion"])
        == sha256(checkpoints.paths["diffusion"])[:12]
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda s: s.pop("out.2.bias"), r"Missing key.*net\.out\.2\.bias"),
        (
            lambda s: s.update({"out.2.bias": torch.zeros(3)}),
            r"size mismatch for net\.out\.2\.bias.*\[3\]\) from checkpoint",
        ),
        (lambda s: s.update({"out.2.bias": torch.zeros(6, dtype=int)}), "kinds of numbers: net"),
    ],
)
def test_differences_are_named(small_imagenet, checkpoints, tmp_path, change, sentence):
    state = dict(checkpoints.networks["diffusion"].state_dict())
    change(state)
    torch.save(state, tmp_path / "other.pt")
    with pytest.raises(WeightsError, match=rf"other\.pt holds another network.*{sentence}"):
        load_denoiser(small_imagenet, tmp_path / "other.pt")


# As other people's trainers write them


PREFIXES = (
    "", "module.", "model.", "_orig_mod.", "module._orig_mod.", "_orig_mod.module.", "net.",
    "backbone.", "network.0.", "ema_model.online_model.", "my.own.name.",
)  # fmt: skip
WRAPPERS = (None, "state_dict", "model", "ema", "params_ema")


def halve(value: Tensor) -> Tensor:
    """In half precision, where it is no count."""
    return value.half() if value.is_floating_point() else value


@pytest.mark.parametrize(
    ("name", "number"),
    [("classifier", number) for number in range(len(PREFIXES))]
    + [(name, number) for name in ("diffusion", "discriminator") for number in (1, 6)],
)
def test_any_prefix_and_wrapper(small_imagenet, checkpoints, tmp_path, name, number):
    """In half precision, also as before torch 1.6; beside a loss's weights, a trainer's numbers."""
    path = checkpoints.paths[name]
    prefix, wrapper = PREFIXES[number], WRAPPERS[number % len(WRAPPERS)]
    state = {prefix + key: halve(value) for key, value in read_checkpoint(path).items()}
    if prefix:
        state["criterion.weight"] = torch.ones(3)
    content = {wrapper: state, "epoch": 3, "optimizer": {"lr": 0.1}} if wrapper else state
    torch.save(content, tmp_path / "mine.pt")
    torch.save(content, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    save_file(state, tmp_path / "mine.safetensors")
    whole = LOAD[name](small_imagenet, path).state_dict()
    expected = {key: halve(value).to(value.dtype) for key, value in whole.items()}
    for file in ("mine.pt", "old.pt", "mine.safetensors"):
        loaded = LOAD[name](small_imagenet, tmp_path / file).state_dict()
        assert_close(dict(loaded), expected, rtol=0, atol=0)


def test_of_two_networks_the_one_that_fits():
    expected = ["conv.weight", "conv.bias", "head.weight"]
    state = {f"teacher.{name}": torch.zeros(1) for name in expected[:2]}
    state |= {f"student.{name}": torch.ones(1) for name in expected}
    matched = match_names(state, expected)
    assert sorted(matched) == sorted(expected)
    assert all(bool(value == 1) for value in matched.values())


def test_a_packages_checkpoint_is_the_one_that_is_known(tmp_path):
    """Its tensors are told by their order: by chance others would fit."""
    config = get_profile("photo").classifier
    path = find_packaged_checkpoint(config.package)
    state = read_checkpoint(path)
    first, second = (f"_bn0.{kind}" for kind in ("weight", "bias"))
    assert state[first].shape == state[second].shape
    turned = {first: second, second: first}
    torch.save(
        {turned.get(name, name): state[turned.get(name, name)] for name in state},
        tmp_path / "a.pth",
    )
    with pytest.raises(WeightsError, match="does not fit"):
        load_packaged_classifier(config, tmp_path / "a.pth")
    torch.save(state | {first: state[second], second: state[first]}, tmp_path / path.name)
    with pytest.raises(WeightsError, match="was altered"):
        load_packaged_classifier(config, tmp_path / path.name)
    expected = list(load_packaged_classifier(config, path).state_dict().values())
    assert all(map(torch.equal, state.values(), expected))


class Whole(nn.Module):
    """A user's own module, saved whole."""


@pytest.mark.parametrize(("name", "suffix"), zip(LOAD, (".pt", ".pth", ".ckpt"), strict=True))
@pytest.mark.parametrize(
    "make",
    [
        lambda p: torch.save(Whole(), p),
        lambda p: torch.save({"model": Whole()}, p, _use_new_zipfile_serialization=False),
        lambda p: torch.jit.script(nn.Linear(2, 2)).save(str(p)),
        lambda p: p.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid"),
        lambda p: p.write_bytes(b"\n<!DOCTYPE html><html>404"),
        lambda p: torch.save({"epoch": 3}, p),
    ],
    ids=["module", "old module", "TorchScript", "git-lfs", "web page", "no weights"],
)
def test_what_holds_no_weights_alone_is_told_how_to_save_them(
    small_imagenet, tmp_path, make, suffix, name
):
    path = tmp_path / f"mine{suffix}"
    make(path)
    with pytest.raises(WeightsError, match="save its weights alone") as caught:
        LOAD[name](small_imagenet, path)
    assert "\n" not in str(caught.value)


# Made to do harm


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
