"""Full-size training: streamed pictures, batches made ahead, several processes, one result."""

import dataclasses
import os
import pickle
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from dga.corruptions import corrupt
from dga.data.framing import View
from dga.data.image_sets import ImageFiles, ImageSet, find_images, open_images
from dga.io.files import CHECKPOINT
from dga.networks.models import Models
from dga.networks.unet import Discriminator
from dga.profiles import PROFILES, Profile, ReleaseConfig
from dga.training import loop, run
from dga.training.discriminator import batches, pairs, samples
from dga.training.discriminator import trainer as discriminator
from dga.training.discriminator.batches import Batches, BatchMaker
from dga.training.discriminator.samples import Prior, draw_samples
from dga.training.discriminator.studies import Study
from dga.training.discriminator.trainer import load_backbone
from dga.training.loop import TrainConfig
from dga.training.processes import ProcessGroup
from dga.weights.checkpoints import WeightsError
from dga.weights.store import save_weights
from tests.fixtures.cli import refused
from tests.fixtures.models import die_after_saving, generate

CPU = torch.device("cpu")
CONFIG = TrainConfig(images=48, batch=8, lr=1e-3, warmup=2, ema=0.9, bf16=False)
QUICK = Study(corruptions=("gaussian_noise", "contrast", "pixelate"))
"""Nothing that every new process would have to compile first."""


@pytest.fixture(scope="module")
def profile(tiny_profile: Profile) -> Profile:
    """Four depths; pictures go through a release: 40 px for the networks, 32 px released."""
    return dataclasses.replace(
        tiny_profile,
        name="tiny-imagenet",
        image_size=40,
        schedule=dataclasses.replace(tiny_profile.schedule, steps=4),
        denoiser=dataclasses.replace(tiny_profile.denoiser, image_size=40),
        discriminator=dataclasses.replace(tiny_profile.discriminator, image_size=40),
        release=ReleaseConfig(resize=36, crop=32, quality=85),
    )


@pytest.fixture
def files(profile: Profile, picture_folder: Path) -> ImageFiles:
    return find_images([picture_folder], View.of(profile).clean, profile.classifier.classes)


@pytest.fixture
def prior(tiny_models: Models) -> Prior:
    return Prior(tiny_models.denoiser, "tiny", tiny_models.compute)


def _released(profile: Profile, files: ImageFiles, out: Path) -> Path:
    """Two conditions of the same pictures in ImageNet-C's layout."""
    for name, pixels in zip(files.names, files.load()[0].pixels, strict=True):
        for corruption, severity in (("fog", 2), ("contrast", 5)):
            path = out / corruption / str(severity) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(corrupt(pixels, corruption, severity, 1)).save(path)
    return out


def _same(one: tuple[torch.Tensor, ...], other: tuple[torch.Tensor, ...]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one[:4], other[:4], strict=True))


def test_streamed_and_held_pictures_make_the_same_batches(profile, files, picture_folder):
    held = open_images([picture_folder], files.frame, files.classes)
    assert isinstance(held, ImageSet)
    for step in range(3):
        one, other = (BatchMaker(profile, Study(), s, CONFIG)[step] for s in (held, files))
        assert _same(one, other)
        assert one.x_k.shape == (8, 3, 40, 40)


def test_batches_made_ahead_are_the_same_and_a_resumed_run_starts_in_the_middle(profile, files):
    plain = Batches(profile, QUICK, files, CONFIG, None, Path())
    ahead = Batches(profile, QUICK, files, CONFIG, None, Path(), workers=2)
    for step in (0, 1, 2, 4, 5):  # 3 is skipped: another start
        assert _same(plain.draw(step, CPU), ahead.draw(step, CPU))


@pytest.mark.parametrize("source", ["images", "generated", "crossed", "corrupted"])
def test_shares_of_a_batch_make_the_whole(source, profile, files, prior, tmp_path):
    if source == "corrupted":
        made = None
        study = Study(corrupted=_released(profile, files, tmp_path / "c"))
    else:
        made = draw_samples(profile, prior, 5, tmp_path) if source != "images" else None
        study = Study(source=source)
    for step in range(2):
        whole = BatchMaker(profile, study, files, CONFIG, made)[step]
        parts = [
            BatchMaker(profile, study, files, CONFIG, made, ProcessGroup(CPU, rank, 2).share(4))[
                step
            ]
            for rank in (0, 1)
        ]
        for field in ("x_k", "time", "target", "depth"):
            halves = [getattr(part, field).chunk(2) for part in parts]  # source, corrupted
            together = [halves[rank][label] for label in (0, 1) for rank in (0, 1)]
            assert torch.equal(torch.cat(together), getattr(whole, field)), field


def test_clean_pictures_go_through_the_release(profile, files, monkeypatch):
    """Both classes: cut, (corrupted,) JPEG at quality 85, resized; else D learns the JPEG."""
    monkeypatch.setattr(pairs, "vary_source", lambda picture, *_: picture)
    view, rng = View.of(profile), np.random.default_rng(0)
    pictures = files.load()[0].pixels[:4]
    clean, corrupted = pairs.make_pairs(Study(corruptions=("fog",)), pictures, None, rng, view)
    assert clean.shape == corrupted.shape == (4, 40, 40, 3)
    assert np.array_equal(clean, np.stack([view.finish(picture) for picture in pictures]))
    rng = np.random.default_rng(0)
    for picture, damaged in zip(pictures, corrupted, strict=True):
        _, severity, seed = int(rng.integers(1)), 1 + int(rng.integers(5)), int(rng.integers(2**31))
        assert np.array_equal(view.finish(corrupt(picture, "fog", severity, seed)), damaged)


def test_corrupted_pictures_on_disk_stand_beside_the_clean_ones(profile, files, tmp_path):
    folder = _released(profile, files, tmp_path / "c")
    held = batches.released_conditions(folder, Study().corruptions)
    assert held == [("fog", 2), ("contrast", 5)]
    asked = []
    real = BatchMaker._pair

    def pair(self: BatchMaker, row: int, folder: Path) -> tuple[np.ndarray, np.ndarray] | None:
        asked.append((folder.parent.name, folder.name, real(self, row, folder)))
        return asked[-1][2]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BatchMaker, "_pair", pair)
        BatchMaker(profile, Study(corrupted=folder), files, CONFIG)[0]
    assert len(asked) == 4
    view, rows = View.of(profile), loop.batch_rows(16, 4, CONFIG.seed, 0)
    for row, (corruption, severity, (clean, damaged)) in zip(rows, asked, strict=True):
        assert np.array_equal(clean, view.finish(files.load()[0].pixels[row]))
        with Image.open(folder / corruption / severity / files.names[row]) as image:
            assert np.array_equal(damaged, view.released(image))
    with pytest.raises(ValueError, match="holds none of the corruptions snow"):
        batches.released_conditions(folder, ("snow",))
    with pytest.raises(ValueError, match="not generated or crossed"):
        Study(source="crossed", corrupted=folder)
    assert Study(corrupted=folder).identity("") == "images c"


@pytest.mark.parametrize("from_disk", [False, True])
def test_unreadable_pictures_are_replaced_and_named(from_disk, profile, picture_folder, tmp_path):
    data = tmp_path / "data"
    shutil.copytree(picture_folder, data)
    images = find_images([data], View.of(profile).clean)
    folder = _released(profile, images, tmp_path / "c")
    study = Study(corrupted=folder) if from_disk else Study()
    row = int(loop.batch_rows(16, 4, 0, 0)[2])
    bad = folder / "fog" / "2" if from_disk else data
    (bad / images.names[row]).write_bytes(b"not a picture")
    if from_disk:
        (folder / "contrast" / "5" / images.names[row]).write_bytes(b"")
    drawn = BatchMaker(profile, study, images, CONFIG)[0]
    assert drawn.unreadable == [images.names[row]]
    assert drawn.x_k.shape == (8, 3, 40, 40)
    for path in data.glob("*/*"):
        path.write_bytes(b"not a picture")
    with pytest.raises(ValueError, match="None of the pictures can be read"):
        BatchMaker(profile, study, images, CONFIG)[0]


def _state(network: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in network.state_dict().items()}


def test_interrupted_streamed_training_ends_with_the_same_bits(
    profile, files, tmp_path, monkeypatch
):
    """With workers and after a kill: the same as without either."""
    train = discriminator.train_discriminator
    whole, _ = train(profile, files, CONFIG, tmp_path / "whole", CPU)
    with monkeypatch.context() as patch:
        die_after_saving(patch, 3)
        with pytest.raises(KeyboardInterrupt):
            train(profile, files, CONFIG, tmp_path / "parts", CPU, workers=1)
    parts, _ = train(profile, files, CONFIG, tmp_path / "parts", CPU, workers=2)
    assert all(map(torch.equal, _state(whole).values(), _state(parts).values()))


def test_a_frozen_encoder_trains_the_head_alone(profile, files, tmp_path):
    torch.manual_seed(7)
    start = Discriminator(profile.discriminator)
    save_weights(start.state_dict(), tmp_path / "start", {}, half=False)
    asked, study = (profile, files, CONFIG, tmp_path / "run", CPU), Study(freeze_encoder=True)
    with pytest.raises(ValueError, match="name them with --init"):
        discriminator.train_discriminator(*asked, study=study)
    network, facts = discriminator.train_discriminator(*asked, tmp_path / "start", study)
    assert facts["encoder"] == "frozen"
    before, after = _state(start), _state(network)
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed
    assert all(name.startswith("net.out.") for name in changed)
    assert study.identity("") == "images frozen"
    with pytest.raises(ValueError, match="another source"):
        discriminator.train_discriminator(*asked, tmp_path / "start")


def test_a_guided_diffusion_classifier_lends_its_encoder(profile, tmp_path):
    torch.manual_seed(3)
    lender = Discriminator(profile.discriminator).net  # as guided-diffusion trains it:
    lender.out[2].c_proj = torch.nn.Conv1d(lender.out[2].c_proj.in_channels, 10, 1)
    path = tmp_path / "classifier.pt"
    torch.save(lender.state_dict(), path)
    network = Discriminator(profile.discriminator)
    fresh = network.net.state_dict()["out.2.c_proj.weight"].clone()
    load_backbone(network, path)
    for name, value in network.net.state_dict().items():
        if name.startswith("out.2.c_proj"):
            continue
        assert torch.equal(value, lender.state_dict()[name]), name
    assert torch.equal(network.net.state_dict()["out.2.c_proj.weight"], fresh)
    state = lender.state_dict()
    del state["time_embed.0.weight"]
    torch.save(state, path)
    with pytest.raises(WeightsError, match=r"another network .*time_embed\.0\.weight"):
        load_backbone(network, path)


def test_several_processes_share_the_shards(profile, prior, tmp_path, monkeypatch):
    monkeypatch.setattr(samples, "SAMPLES_PER_SHARD", 2)
    monkeypatch.setattr(samples, "POLL_SECONDS", 0.01)
    alone = generate(profile, prior, 7, tmp_path / "alone")
    drawn: list[range] = []
    real = samples._draw

    def draw(*args: object) -> np.ndarray:
        drawn.append(args[2])
        return real(*args)

    monkeypatch.setattr(samples, "_draw", draw)
    found: dict[int, samples.Samples] = {}

    def work(rank: int) -> None:
        found[rank] = draw_samples(profile, prior, 7, tmp_path / "shared", rank, 2)

    def together() -> list[int]:
        threads = [threading.Thread(target=work, args=(r,), daemon=True) for r in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
        return sorted(seeds.start for seeds in drawn)

    assert together() == [0, 2, 4, 6]  # each shard once
    assert np.array_equal(np.stack([*found[0]]), alone)
    assert all(np.array_equal(found[1][i], alone[i]) for i in range(7))
    assert (len(found[1]), len(list((tmp_path / "shared").glob("*/*.part")))) == (7, 0)
    next((tmp_path / "shared").glob("*/000002*")).unlink()
    drawn.clear()
    assert together() == [2]  # resumed: only what is missing


TRAIN = """
import pickle, sys
from pathlib import Path
import torch
from dga import profiles
from dga.training import run
torch.set_num_threads(1)
profile, config, study, data, out = pickle.loads(Path(sys.argv[1]).read_bytes())
profiles.PROFILES[profile.name] = profile
cpu = torch.device("cpu")
print(run.train("discriminator", profile.name, [data], out, config, cpu, study=study, workers=0))
"""


def _processes(task: Path, size: int) -> list[str]:
    """Train in ``size`` processes as a launcher starts them; what each printed last."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(size)}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", TRAIN, str(task)],
            env={**os.environ, "OMP_NUM_THREADS": "1", **place, "RANK": str(r), "LOCAL_RANK": "0"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for r in range(size)
    ]
    finished = [process.communicate(timeout=300) for process in started]
    assert all(p.returncode == 0 for p in started), [err for _, err in finished]
    return [printed.strip().splitlines()[-1] for printed, _ in finished]


@pytest.mark.slow
def test_two_processes_with_half_a_batch_equal_one_with_the_whole(
    profile, picture_folder, tmp_path, monkeypatch
):
    """Weights within 5e-5 and logits within 1e-3 after 6 steps at rate 1e-3, float32, gloo.

    Biases that a norm removes are left out: their gradients are rounding, and Adam makes
    steps of full size of it.
    """
    monkeypatch.setitem(PROFILES, profile.name, profile)
    data, one = picture_folder, tmp_path / "one"
    run.train("discriminator", profile.name, [data], one, CONFIG, CPU, study=QUICK, workers=0)
    task = tmp_path / "task"
    task.write_bytes(pickle.dumps((profile, CONFIG, QUICK, data, tmp_path / "two")))
    assert _processes(task, 2) == [str(tmp_path / "two"), "None"]
    states = [
        torch.load(tmp_path / name / CHECKPOINT, weights_only=True) for name in ("one", "two")
    ]
    assert states[0]["step"] == states[1]["step"] == 6
    optimizer = states[0]["optimizer"]["state"]
    taught = {n for i, n in enumerate(states[0]["model"]) if _is_taught(optimizer[i])}
    assert len(taught) > 0.7 * len(optimizer)
    for key, prefix in (("model", ""), ("average", "module.")):
        for name in taught:
            one, two = (state[key][prefix + name] for state in states)
            torch.testing.assert_close(two, one, atol=5e-5, rtol=0, msg=name)


def _is_taught(moments: dict[str, torch.Tensor]) -> bool:
    """Whether a parameter's gradient is more than rounding: a bias before a norm has none."""
    return float(moments["exp_avg_sq"].sqrt().mean()) > 1e-8


def test_only_even_shares_and_the_discriminator(picture_folder, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"4 pairs .* 3 processes.*multiple of 6"):
        ProcessGroup(CPU, 0, 3).share(4)
    monkeypatch.setattr(ProcessGroup, "join", classmethod(lambda cls, device: cls(device, 0, 2)))
    monkeypatch.setattr(ProcessGroup, "leave", lambda self: None)
    options = ["--data", picture_folder, "--out", tmp_path, "--device", "cpu"]
    said = refused("train", "classifier", *options)
    assert "Several processes train the discriminator, not the classifier" in said
    freeze = refused("train", "discriminator", *options, "--freeze-encoder")
    assert "name them with --init" in freeze
