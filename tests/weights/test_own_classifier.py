"""Another classifier than the profile's own: by name, from a folder, or timm's of a user."""

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import timm
import torch
from PIL import Image
from safetensors.torch import save_file

from dga.commands.common import ModelOptions
from dga.images import to_tensor
from dga.networks.classifier import build_classifier, predict_proba
from dga.networks.compute import Compute
from dga.networks.models import load_models
from dga.profiles import CLASSIFIERS, EVERYDAY16, ClassifierConfig, with_classifier
from dga.readers.tent import BATCH_NORMS
from dga.training.classifier import to_group_norm
from dga.training.loop import TrainConfig
from dga.training.run import train
from dga.weights.checkpoints import WeightsError
from dga.weights.classifiers import classifier_config, read_classes
from dga.weights.sources import Sources
from dga.weights.store import read_state, save_weights, weights_folder, weights_id
from tests.fixtures.cli import done, refused
from tests.fixtures.models import randomise

CPU = Compute(torch.device("cpu"), torch.float32)
NAMES = ("cat", "dog", "ship")
SMALL = dataclasses.replace(
    EVERYDAY16.classifier, channels=(16, 16, 16, 16), groups=4, classes=NAMES
)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A timm model of three classes, as a user would save it."""
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("own") / "my.safetensors"
    save_file(randomise(timm.create_model("resnet10t", num_classes=3), 4).state_dict(), path)
    path.with_name("classes.txt").write_text("cat\n\ndog \nship\n")
    return path


def described(checkpoint: Path, **others: Any) -> Sources:
    usual = {"architecture": "resnet10t", "classes": NAMES, "input_size": 64}
    return Sources(classifier=checkpoint, **{**usual, **others})


def test_it_answers_as_timm_does(checkpoint, cat):
    half = (0.5, 0.5, 0.5)
    models = load_models("everyday16", described(checkpoint, mean=half, std=half), CPU)
    assert models.weights["classifier"] == weights_id(checkpoint)
    config = models.profile.classifier
    assert (config.architecture, config.classes, config.input_size) == ("resnet10t", NAMES, 64)
    theirs = timm.create_model("resnet10t", num_classes=3, checkpoint_path=str(checkpoint)).eval()
    x = to_tensor(cat)[None]  # a mean and deviation of a half leave it in [-1, 1]
    with torch.no_grad():
        expected = theirs(x).softmax(1)
    torch.testing.assert_close(predict_proba(models.classifier, x, config), expected)
    assert EVERYDAY16.classifier.architecture == "resnet18"  # the profile itself is as it was


def test_pixels_come_from_timms_table_or_what_is_said(checkpoint):
    usual = classifier_config(EVERYDAY16, Sources(classifier=checkpoint, architecture="resnet10t"))
    table = timm.get_pretrained_cfg("resnet10t")
    assert (usual.input_size, usual.mean, usual.std) == (176, table.mean, table.std)
    assert usual.resize == int(176 / table.crop_pct)
    assert usual.classes == EVERYDAY16.classifier.classes
    said = classifier_config(EVERYDAY16, described(checkpoint, std=(1.0, 2.0, 3.0)))
    assert (said.input_size, said.resize, said.mean) == (64, None, table.mean)
    assert said.std == (1, 2, 3)


def test_timms_config_beside_the_checkpoint_is_read(checkpoint, tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(checkpoint.read_bytes())
    told: dict[str, Any] = {
        "architecture": "resnet10t",
        "num_classes": 3,
        "label_names": list(NAMES),
        "pretrained_cfg": {"input_size": [3, 96, 96], "mean": [0, 0, 0], "std": [1, 1, 1],
                           "crop_pct": 0.75},
    }  # fmt: skip
    path.with_name("config.json").write_text(json.dumps(told))
    found = load_models("everyday16", Sources(classifier=path), CPU).profile.classifier
    assert found == ClassifierConfig(
        "resnet10t", 96, NAMES, mean=(0, 0, 0), std=(1, 1, 1), resize=128
    )
    assert classifier_config(EVERYDAY16, described(path)).input_size == 64
    path.with_name("config.json").write_text('{"architecture": ')
    with pytest.raises(WeightsError, match=r"config\.json, beside the checkpoint, cannot be read"):
        classifier_config(EVERYDAY16, Sources(classifier=path))


def test_a_transformer_is_built_for_its_input(tmp_path):
    name = "vit_tiny_patch16_224"
    theirs = randomise(timm.create_model(name, num_classes=3, img_size=64, depth=12), 5)
    save_file(theirs.state_dict(), tmp_path / "vit.safetensors")
    sources = described(tmp_path / "vit.safetensors", architecture=name)
    config = load_models("everyday16", sources, CPU).profile.classifier
    assert (config.architecture, config.input_size) == (name, 64)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.txt", "cat\ndog\nship\n"),
        ("a.json", '["cat", "dog", "ship"]'),
        ("a.json", '{"2": "ship", "0": "cat", "1": "dog"}'),
        ("a.json", '{"dog": 1, "cat": 0, "ship": 2}'),
    ],
)
def test_class_lists(tmp_path, file, text):
    (tmp_path / file).write_text(text, encoding="utf-8-sig")
    assert read_classes(tmp_path / file) == NAMES


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("a.txt", "\n\n", "is empty"),
        ("a.json", '{"0": "cat", "2": "dog"}', "numbered from 0"),
        ("a.json", '{"cat": 1}', "numbered from 0"),
        ("a.json", "[1, 2]", "is no class list"),
        ("a.json", '"cat"', "is no class list"),
        ("a.json", "{", "cannot be read"),
        ("b.txt", "", "cannot be read: No such file"),
    ],
)
def test_class_lists_that_are_none(tmp_path, file, text, words):
    (tmp_path / file.replace("b", "a")).write_text(text)
    with pytest.raises(WeightsError, match=words):
        read_classes(tmp_path / file)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"architecture": "resnet99"}, "timm has no architecture 'resnet99'"),
        ({"architecture": "hf-hub:somebody/model"}, "timm has no architecture"),
        ({"architecture": "vit_tiny_patch16_224"}, "does not fit vit_tiny_patch16_224"),
        ({"classes": None}, "tells 3 classes apart, and 16 are named"),
        ({"classes": ("one", "two")}, "tells 3 classes apart, and 2 are named"),
        ({"input_size": 0}, "input size of .* is from 1 to 2048"),
        ({"std": (0.0, 1.0, 1.0)}, "std of .* is three numbers"),
        ({"mean": (float("nan"), 1.0, 1.0)}, "mean of .* is three numbers"),
    ],
)
def test_what_does_not_fit_is_one_sentence(checkpoint, changed, words):
    with pytest.raises(WeightsError, match=words) as error:
        load_models("everyday16", described(checkpoint, **changed), CPU)
    assert "\n" not in str(error.value)


def test_commands_say_what_is_wrong(checkpoint, photo, tmp_path):
    for options, words in (
        (("--classifier", "resnet17"), "There is no classifier resnet17: give a"),
        (("--architecture", "resnet18", "--input-size", 64),
         "--architecture, --input-size describes a timm checkpoint: name it"),
        (("--classifier", checkpoint, "--mean", 3),
         "--mean looks like 0.485,0.456,0.406, not '3'"),
        (("--classifier", photo), "cannot be read as a checkpoint"),
    ):  # fmt: skip
        assert words in refused("adapt", photo, *options)


def test_a_users_own_checkpoint_from_end_to_end(checkpoint, photo, tmp_path):
    classes = checkpoint.with_name("classes.txt")
    options = ["--classifier", checkpoint, "--architecture", "resnet10t", "--input-size", 64,
               "--classes", classes, "--precision", "float32"]  # fmt: skip

    asked = "adapt", photo, "--methods", "dga", "--json", "--out", tmp_path / "pictures"
    facts = json.loads(done(*asked, *options).stdout)
    assert {row["label"] for row in facts["input"]["top5"]} == set(NAMES)
    data = tmp_path / "data" / "ship"
    data.mkdir(parents=True)
    Image.open(photo).save(data / "a.png")
    asked = "--split all --corruptions clean --methods source,tent,memo:views=2"
    place = "--data", tmp_path / "data", "--out", tmp_path / "runs"
    done("evaluate", *place, *asked.split(), *options)
    config = json.loads((tmp_path / "runs" / "config.json").read_text())
    assert config["classifier"]["architecture"] == "resnet10t"
    assert config["classifier"]["classes"] == 3
    assert config["weights"]["classifier"] == weights_id(checkpoint)
    rows = [json.loads(row) for row in (tmp_path / "runs" / "lines.jsonl").open()]
    assert {row["method"] for row in rows} == {"source", "tent", "memo:views=2"}
    assert {row["class"] for row in rows} == {"ship"}


# Named classifiers, and folders


def test_a_named_classifier_is_found_like_the_others(tmp_path, monkeypatch):
    monkeypatch.setenv("DGA_HOME", str(tmp_path))
    monkeypatch.setitem(CLASSIFIERS, "everyday16", {"small-gn": SMALL})
    folder, state = tmp_path / "everyday16" / "small-gn", build_classifier(SMALL).state_dict()
    plain = json.loads(json.dumps(dataclasses.asdict(SMALL)))
    save_weights(state, folder, {"model": "classifier", "profile": {"classifier": plain}})
    models = load_models("everyday16", Sources(classifier="small-gn"), CPU)
    assert models.weights["classifier"] == weights_id(folder)
    assert models.profile.classifier == SMALL
    assert not any(isinstance(m, BATCH_NORMS) for m in models.classifier.modules())
    by_path = load_models("everyday16", Sources(classifier=folder), CPU)
    assert by_path.profile == models.profile
    options = ModelOptions(profile="everyday16", classifier=Path("small-gn")).absolute()
    place = weights_folder("everyday16", "small-gn")
    assert options.sources.locate(EVERYDAY16)["classifier"] == place
    with pytest.raises(WeightsError, match="tells its architecture, pixels and classes itself"):
        load_models("everyday16", Sources(classifier=folder, input_size=32), CPU)


def test_a_folders_config_is_not_believed_blindly(tmp_path):
    state = build_classifier(SMALL).state_dict()
    for told in ("resnet18", {"architecture": "resnet18"}, {**vars(SMALL), "architecture": 3}):
        save_weights(state, tmp_path, {"profile": {"classifier": told}})
        with pytest.raises(WeightsError, match=r"does not describe a classifier|no architecture"):
            classifier_config(EVERYDAY16, Sources(classifier=tmp_path))


def test_named_classifiers_are_trained_by_name(picture_folder, tmp_path, monkeypatch):
    from dga.training.run import DEFAULTS

    config = dataclasses.replace(DEFAULTS["classifier"], images=12, batch=4, bf16=False)
    small = dataclasses.replace(SMALL, classes=EVERYDAY16.classifier.classes)
    monkeypatch.setitem(CLASSIFIERS, "everyday16", {"small-gn": small})
    asked = ("everyday16", [picture_folder], tmp_path, config, torch.device("cpu"))
    train("classifier", *asked, name="small-gn")
    found = classifier_config(EVERYDAY16, Sources(classifier=tmp_path))
    assert found == small == with_classifier(EVERYDAY16, "small-gn").classifier
    mended = dataclasses.replace(config, seed=1)
    norms = build_classifier(EVERYDAY16.classifier)  # with batch norm, and other widths
    save_weights(norms.state_dict(), tmp_path / "wide", {})
    with pytest.raises(WeightsError, match="another network"):
        train("classifier", *asked[:2], tmp_path / "a", mended, asked[-1], tmp_path / "wide",
              name="small-gn")  # fmt: skip
    alike = build_classifier(dataclasses.replace(small, groups=None))
    save_weights(alike.state_dict(), tmp_path / "norms", {})
    train("classifier", *asked[:2], tmp_path / "b", mended, asked[-1], tmp_path / "norms",
          name="small-gn")  # fmt: skip
    assert not any("running" in name for name in read_state(tmp_path / "b"))
    with pytest.raises(ValueError, match=r"has no classifier 'big'\. Named classifiers: small-gn"):
        train("classifier", *asked, name="big")
    words = "Only a classifier has a name and a teacher, not the diffusion"
    with pytest.raises(ValueError, match=words):
        train("diffusion", *asked, name="small-gn")


def test_a_pupil_learns_what_its_teacher_says_and_no_label(picture_folder, tmp_path, monkeypatch):
    """The same pictures as another class: with a teacher the same weights come out."""
    small = dataclasses.replace(SMALL, classes=EVERYDAY16.classifier.classes)
    monkeypatch.setitem(CLASSIFIERS["everyday16"], "small-gn", small)
    cats, frogs = tmp_path / "cats", tmp_path / "frogs"
    shutil.copytree(picture_folder / "cat", cats / "cat")
    shutil.copytree(picture_folder / "cat", frogs / "frog")
    config = TrainConfig(images=12, batch=4, lr=0.1, warmup=1, ema=0.5, seed=0)
    weights = weights_folder("everyday16", "classifier")

    def pupil(folder: Path, teacher: Path | None) -> torch.Tensor:
        out = tmp_path / f"{folder.name}-{teacher is None}"
        train("classifier", "everyday16", [folder], out, config, torch.device("cpu"),
              name="small-gn", teacher=teacher)  # fmt: skip
        return torch.cat([value.flatten() for _, value in sorted(read_state(out).items())])

    assert pupil(cats, weights).equal(pupil(frogs, weights))
    assert not pupil(cats, None).equal(pupil(frogs, None))


def test_group_norm_begins_where_batch_norm_was():
    """On a picture with the statistics that batch norm remembers, both do the same."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(1, 12, 9, 9, generator=generator) * torch.arange(1, 13).view(1, 12, 1, 1) + 2
    norm = randomise(torch.nn.BatchNorm2d(12), 3)
    norm.running_mean.copy_(x.mean((0, 2, 3)))
    norm.running_var.copy_(x.var((0, 2, 3), correction=0))
    state = {f"bn.{name}": value for name, value in norm.state_dict().items()}
    group = torch.nn.GroupNorm(4, 12)
    changed = to_group_norm({**state, "fc.weight": torch.ones(2)}, 4)
    assert set(changed) == {"bn.weight", "bn.bias", "fc.weight"}
    group.load_state_dict({name: changed[f"bn.{name}"] for name in ("weight", "bias")})
    torch.testing.assert_close(group(x), norm(x), atol=1e-4, rtol=0)
