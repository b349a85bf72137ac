"""Checkpoints as other people's trainers write them: any prefix, for all three networks alike."""

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.testing import assert_close

from dga.networks.classifier import load_packaged
from dga.profiles import get_profile
from dga.weights.checkpoints import WeightsError, match_names, read_checkpoint
from dga.weights.classifiers import read_classes
from dga.weights.sources import find_packaged_checkpoint
from tests.fixtures.public_weights import LOAD

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
        load_packaged(config, tmp_path / "a.pth")
    torch.save(state | {first: state[second], second: state[first]}, tmp_path / path.name)
    with pytest.raises(WeightsError, match="was altered"):
        load_packaged(config, tmp_path / path.name)
    expected = list(load_packaged(config, path).state_dict().values())
    assert all(map(torch.equal, state.values(), expected))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\n\n", "names 0 classes: two are needed"),
        ('["cat", "dog"]', "names 1 classes: two are needed, one a line"),
        (None, "cannot be read: No such file"),
    ],
)
def test_what_is_no_class_list(tmp_path, text, words):
    path = tmp_path / "a.txt"
    if text is not None:
        path.write_text(text)
    with pytest.raises(WeightsError, match=words):
        read_classes(path)
