"""Others' weights: fetched with consent, from hosts that break off, alter or refuse, or named."""

import dataclasses
import functools
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import torch
from huggingface_hub import constants, hf_hub_download
from PIL import Image
from timm.data import ImageNetInfo
from torchvision import transforms

from app.demo import main
from dga import profiles
from dga.images import to_tensor
from dga.io.files import lock_folder
from dga.networks.classifier import preprocess
from dga.networks.compute import Compute
from dga.networks.models import load_models
from dga.profiles import IMAGENET, Profile, PublicFile
from dga.profiles.imagenet_labels import read_imagenet_labels
from dga.weights import fetch
from dga.weights.checkpoints import WeightsError
from dga.weights.fetch import download, fetch_missing
from dga.weights.sources import Sources
from dga.weights.store import compute_weights_id, find_weights_home
from tests.fixtures.cli import done, refused, run_dga
from tests.fixtures.host import Host
from tests.fixtures.public_weights import Checkpoints

CPU = Compute(torch.device("cpu"), torch.float32)
HUB = "timm/small"
CONTENT = random.Random(0).randbytes(300_000)
OTHER = random.Random(1).randbytes(300_000)
NAME = "weights.pt"


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test looks into, or writes to, the caches of whoever runs it."""
    monkeypatch.setenv("DGA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))


@pytest.fixture
def hosted(
    host: Host, small_imagenet: Profile, checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> Profile:
    """The small profile with its weights on a local host, which plays the hub as well."""
    host.files["/diffusion.pt"] = checkpoints.paths["diffusion"].read_bytes()
    hub_path = f"/{HUB}/resolve/main/model.safetensors"
    host.files[hub_path] = checkpoints.paths["classifier"].read_bytes()
    profile = dataclasses.replace(
        small_imagenet,
        name="hosted",
        public=host.public("/diffusion.pt"),
        classifier=dataclasses.replace(small_imagenet.classifier, hub=HUB),
    )
    monkeypatch.setitem(profiles.PROFILES, "hosted", profile)
    monkeypatch.setattr(
        fetch, "hf_hub_download", functools.partial(hf_hub_download, endpoint=host.url)
    )
    return profile


# Labels and preprocessing


def test_labels_are_a_thousand_and_in_the_models_order():
    labels, info = list(read_imagenet_labels().values()), ImageNetInfo("imagenet-1k")
    assert list(read_imagenet_labels()) == info.label_names()
    assert len(set(labels)) == 1000
    assert tuple(labels) == IMAGENET.classifier.classes
    assert (labels[0], labels[134], labels[517]) == ("tench", "crane (bird)", "crane (machine)")


def test_preprocessing_is_resize_256_and_centre_crop_224():
    pixels = np.random.default_rng(0).integers(0, 256, (256, 256, 3), dtype=np.uint8)
    config = IMAGENET.classifier
    steps = transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor()
    usual = transforms.Compose([*steps, transforms.Normalize(config.mean, config.std)])
    seen = preprocess(to_tensor(pixels)[None], config)[0]
    torch.testing.assert_close(seen, usual(Image.fromarray(pixels)), rtol=0, atol=1e-5)
    assert preprocess(torch.zeros(1, 3, 300, 300), config).shape == (1, 3, 224, 224)


# What is missing


def test_missing_weights_are_named_together_with_their_commands(hosted, host, photo):
    place = find_weights_home() / "hosted" / "discriminator"
    for arguments in (["adapt", photo], ["repair", photo]):
        said = refused(*arguments, "--profile", "hosted")
        assert said.count("python -m dga fetch --profile hosted") == 2
        assert f"train discriminator --profile hosted --data DATA --out {place}" in said
    assert host.asked == []  # nothing is fetched unasked


def test_named_paths_that_hold_nothing(hosted, checkpoints, tmp_path):
    named = checkpoints.paths | {"discriminator": tmp_path / "nowhere"}
    with pytest.raises(WeightsError, match=r"--discriminator names .*nowhere, which has none"):
        load_models(hosted, Sources(**named), CPU)
    with pytest.raises(WeightsError, match=r"train diffusion .* name one with --diffusion PATH"):
        load_models(hosted, Sources(tmp_path), CPU)


def test_page_says_what_is_missing():
    with pytest.raises(SystemExit, match=r"^dga: Weights of imagenet are missing: the diffusion"):
        main(["--profile", "imagenet"])


# One file


def sleep_in_this_thread(nap: Callable[[], None]) -> Callable[[float], None]:
    """``nap`` in place of sleep for the test alone: servers of other tests go on sleeping."""
    sleep, here = time.sleep, threading.get_ident()
    return lambda seconds: nap() if threading.get_ident() == here else sleep(seconds)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", sleep_in_this_thread(lambda: None))
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 10_000)


@pytest.fixture
def file(host: Host) -> PublicFile:
    host.files[f"/{NAME}"] = CONTENT
    return host.public(f"/{NAME}")


def left_in(folder: Path) -> set[str]:
    """Files that are more than a lock or an empty beginning."""
    return {path.name for path in folder.iterdir() if path.stat().st_size}


def test_broken_connections_resume_in_this_call_and_in_the_next(host, file, tmp_path, monkeypatch):
    host.cuts = [100_000, 50_000]
    with monkeypatch.context() as patch:
        nap = mock.Mock(side_effect=[None, KeyboardInterrupt])
        patch.setattr("time.sleep", sleep_in_this_thread(nap))
        with pytest.raises(KeyboardInterrupt):
            download(file, tmp_path)
    assert left_in(tmp_path) == {f"{NAME}.part"}
    assert download(file, tmp_path).read_bytes() == CONTENT
    assert download(file, tmp_path) == tmp_path / NAME  # and asks nobody
    assert [asked for _, asked in host.asked] == [None, "bytes=100000-", "bytes=150000-"]
    assert left_in(tmp_path) == {NAME}


def test_one_process_at_a_time(file, tmp_path):
    """Also while the first one has it all, and compares its sum."""
    part = tmp_path / f"{NAME}.part"
    part.write_bytes(CONTENT)
    with lock_folder(tmp_path):
        with pytest.raises(ValueError, match="Another process writes"):
            download(file, tmp_path)
        assert left_in(tmp_path) == {part.name}
    assert download(file, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("status", [404, 503])
def test_refusals(host, file, tmp_path, status):
    host.status = status
    with pytest.raises(WeightsError, match=rf"{NAME} could not be fetched: .*{status}") as caught:
        download(file, tmp_path)
    assert "\n" not in str(caught.value)
    assert left_in(tmp_path) == set()


@pytest.mark.parametrize("there", ["", NAME, f"{NAME}.part"])
@pytest.mark.parametrize("sent", [OTHER, CONTENT + b"more"], ids=["altered", "of another size"])
def test_another_file_leaves_nothing(host, file, tmp_path, sent, there):
    """Nor does what lay there before stay in the way of the right one."""
    if there:
        (tmp_path / there).write_bytes(OTHER)
    host.files[f"/{NAME}"] = sent
    with pytest.raises(WeightsError, match=f"not the file that was expected .*{file.sha256}"):
        download(file, tmp_path)
    assert left_in(tmp_path) <= {NAME}
    host.files[f"/{NAME}"] = CONTENT
    assert download(file, tmp_path).read_bytes() == CONTENT


# Fetching


def test_fetch_and_run(hosted, host, checkpoints, photo, tmp_path):
    result = run_dga("fetch", "--profile", "hosted")
    path = find_weights_home() / "hosted" / "diffusion" / "diffusion.pt"
    assert path.read_bytes() == checkpoints.paths["diffusion"].read_bytes()
    assert f"diffusion: {path}" in result.stdout
    assert "classifier: " in result.stdout
    assert "the discriminator (python -m dga train discriminator" in result.stderr

    asked = len(host.asked)
    options = ["--discriminator", checkpoints.paths["discriminator"], "--precision", "float32"]
    adapt = "adapt", photo, "--profile", "hosted", "--methods", "dda", "--out", tmp_path / "o"
    done(*adapt, *options)
    assert len(host.asked) == asked
    models = load_models(hosted, Sources(discriminator=checkpoints.paths["discriminator"]), CPU)
    assert models.weights == {name: compute_weights_id(p) for name, p in checkpoints.paths.items()}


def test_hub_that_cannot_be_reached(hosted, host):
    host.files.pop(f"/{HUB}/resolve/main/model.safetensors")
    with pytest.raises(WeightsError, match=r"could not be fetched from .*--classifier PATH"):
        fetch_missing(hosted, Sources())


def test_altered_file_is_refused_and_fetched_again(hosted, checkpoints):
    fetch_missing(hosted, Sources())
    path = find_weights_home() / "hosted" / "diffusion" / "diffusion.pt"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(WeightsError, match=r"was altered .*dga fetch --profile hosted\)"):
        load_models(hosted, Sources(discriminator=checkpoints.paths["discriminator"]), CPU)
    path.unlink()
    run_dga("fetch", "--profile", "hosted")
    load_models(hosted, Sources(discriminator=checkpoints.paths["discriminator"]), CPU)
