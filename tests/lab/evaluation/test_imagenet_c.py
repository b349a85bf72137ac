"""ImageNet-C as released, and pictures that are read as they are taken."""

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision.transforms import v2

from dga.corruptions import corrupt
from dga.folders.records import Line
from dga.lab.data.cropping import Crop, View
from dga.lab.data.image_sets import find_images
from dga.lab.data.imagenet_c import find_condition
from dga.lab.evaluation.curves import judge_pictures
from dga.lab.evaluation.plan import Plan, choose_images, derive_seed, read_batch
from dga.lab.evaluation.run import EvaluationWorker, LoadedModels, evaluate
from dga.networks.classifier import build_classifier
from dga.networks.models import Models
from dga.networks.unet import Discriminator
from dga.profiles import EVERYDAY16, Profile, ReleaseConfig
from dga.profiles.imagenet_labels import read_imagenet_labels

WNIDS = tuple(read_imagenet_labels())
FOLDERS = (3, 999, 41)
"""Classes of the synthetic ImageNet, by their position among the thousand."""
CORRUPTIONS = ("gaussian_noise", "fog")


@pytest.fixture(scope="module")
def models(tiny_models: Models, tiny_released_profile: Profile) -> Models:
    """Tiny models of a thousand classes."""
    config = dataclasses.replace(
        tiny_released_profile.classifier, classes=WNIDS, input_size=32, resize=40
    )
    profile = dataclasses.replace(tiny_released_profile, classifier=config)
    torch.manual_seed(0)
    classifier = build_classifier(config).eval().requires_grad_(False)
    judge = Discriminator(profile.discriminator).eval().requires_grad_(False)
    return dataclasses.replace(
        tiny_models, profile=profile, classifier=classifier, discriminator=judge, explainer=judge
    )


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An ImageNet folder: wnids, four photographs of different shapes in each."""
    root, rng = tmp_path_factory.mktemp("imagenet"), np.random.default_rng(0)
    for position in FOLDERS:
        folder = root / WNIDS[position]
        folder.mkdir()
        for i in range(4):
            base = Image.fromarray(rng.integers(0, 255, (5, 7, 3), dtype=np.uint8))
            name = f"ILSVRC2012_val_{position:04d}{i:04d}.JPEG"
            base.resize((40 + 9 * i, 61), Image.Resampling.BICUBIC).save(folder / name, "JPEG")
    return root


@pytest.fixture(scope="module")
def released(models: Models, clean: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corrupted data set as its authors made theirs."""
    out = tmp_path_factory.mktemp("imagenet-c")
    files = find_images([clean], View(models.profile).clean)
    for name, pixels in zip(files.names, files.load().pixels, strict=True):
        for corruption in CORRUPTIONS:
            path = out / corruption / "5" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            damaged = corrupt(pixels, corruption, 5, derive_seed(0, name, corruption))
            Image.fromarray(damaged).save(path, "JPEG", quality=85, optimize=True)
    return out


def _plan(data: Path, **changes: object) -> Plan:
    asked = {"corruptions": CORRUPTIONS, "per_class": 4, "split": "all", **changes}
    return Plan(data=(data,), **asked)


def _released_plan(root: Path, **changes: object) -> Plan:
    """Of a release alone, whose pictures are known from one of its folders."""
    (folder, *_) = sorted(root.rglob("fog/5"))
    return _plan(folder, corrupted=root, **changes)


def _lines(models: Models, plan: Plan, out: Path) -> list[Line]:
    worker = EvaluationWorker(LoadedModels(models), ("source", "dga-guided"), plan)
    return evaluate(worker, out, batch=5).lines


def _facts(lines: list[Line]) -> list[Line]:
    """But for seconds, and PSNR, which released pictures without clean ones have not."""
    apart = ("seconds", "psnr")
    return [{k: v for k, v in line.items() if k not in apart} for line in lines]


def test_release_pictures_made_on_the_fly_and_released_are_the_same(
    models, clean, released, tmp_path
):
    made = _lines(models, _plan(clean), tmp_path / "made")
    assert len(made) == 2 * 2 * 12
    beside = _plan(clean, corrupted=released)
    assert _facts(_lines(models, beside, tmp_path / "beside")) == _facts(made)
    alone = _lines(models, _released_plan(released), tmp_path / "alone")
    assert _facts(alone) == _facts(made)


def test_archives_unpacked_by_family_are_found(models, released, tmp_path):
    shutil.copytree(released / "gaussian_noise", tmp_path / "noise" / "gaussian_noise")
    shutil.copytree(released / "fog", tmp_path / "weather" / "fog")
    assert find_condition(tmp_path, "fog", 5) == tmp_path / "weather" / "fog" / "5"
    one, other = (
        read_batch(plan, View(models.profile), choose_images(plan, models.profile), "fog")[0]
        for plan in map(_released_plan, (tmp_path, released))
    )
    assert np.array_equal(one.pixels, other.pixels)


def test_wnids_are_known_by_their_order(models, clean, tmp_path):
    images = choose_images(_plan(clean), models.profile)
    assert {int(label) for label in images.labels} == set(FOLDERS)
    for name, label in zip(images.names, images.labels, strict=True):
        assert name.split("/")[0] == WNIDS[label] == images.classes[label]
    named = tuple(f"class {i % 999}" for i in range(1000))  # two classes share a name
    with_names = find_images([clean], Crop(32), named)
    assert sorted(set(with_names.labels.tolist())) == sorted(FOLDERS)
    assert find_images([clean], Crop(32)).classes == WNIDS
    with pytest.raises(ValueError, match=r"Unknown classes n.* The classes are: dog"):
        find_images([clean], Crop(32), EVERYDAY16.classifier.classes)


def test_correct_is_told_by_position_not_by_name(models, clean, tmp_path):
    """All classes but one share a name; only hits of the right class count."""
    names = tuple("crane" for _ in range(1000))
    config = dataclasses.replace(models.profile.classifier, classes=names)
    profile = dataclasses.replace(models.profile, classifier=config)
    alike = dataclasses.replace(models, profile=profile)
    plan = _plan(clean, corruptions=("fog",))
    right = [line["correct"] for line in _lines(models, plan, tmp_path / "own")]
    lines = _lines(alike, plan, tmp_path / "alike")
    assert [line["correct"] for line in lines] == right
    assert all(line["class"] == line["prediction"] for line in lines)
    assert not all(right)


def test_cut_is_torchvisions():
    """ImageNet-C: Resize(256), CenterCrop(224)."""
    rng = np.random.default_rng(1)
    theirs = v2.Compose([v2.Resize(256), v2.CenterCrop(224)])
    for size in ((500, 375), (333, 500), (224, 300), (256, 256), (1000, 257)):
        base = Image.fromarray(rng.integers(0, 255, (9, 9, 3), dtype=np.uint8))
        image = base.resize(size, Image.Resampling.BICUBIC)
        assert np.array_equal(Crop(224, ReleaseConfig())(image), np.asarray(theirs(image))), size


def test_what_a_release_lacks_is_named(models, clean, released, tmp_path):
    for change, words in (
        ({"corruptions": ("fog", "snow", "frost")}, "has no snow, frost at severity 5"),
        ({"corruptions": ("clean", "fog")}, "has no clean at severity 5"),
        ({"severity": 3}, "has no gaussian_noise, fog at severity 3"),
        ({"stream": "wild"}, "has no clean"),
    ):
        with pytest.raises(ValueError, match=words):
            _released_plan(released, **change)
    with pytest.raises(ValueError, match=r"No pictures in .*class/picture"):
        choose_images(_plan(released), models.profile)
    with pytest.raises(ValueError, match="nothing is no folder of corrupted pictures"):
        _plan(clean, corrupted=tmp_path / "nothing")
    with pytest.raises(ValueError, match="has no clean"):
        judge_pictures(models, _released_plan(released), tmp_path)
