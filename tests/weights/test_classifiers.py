"""Another classifier than the profile's own: from a folder, or timm's of a user."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import timm
import torch
from PIL import Image
from safetensors.torch import save_file

from dga.images import to_tensor
from dga.lab.saved_weights import save_weights
from dga.networks.classifier import build_classifier, predict_proba
from dga.networks.compute import Compute
from dga.networks.models import load_models
from dga.profiles import EVERYDAY16
from dga.weights.checkpoints import WeightsError
from dga.weights.classifiers import choose_classifier_config, read_classes
from dga.weights.sources import Sources
from dga.weights.store import compute_weights_id
from tests.fixtures.cli import done, refused
from tests.fixtures.models import randomise

CPU = Compute(torch.device("cpu"), torch.float32)
NAMES = ("cat", "dog", "ship")
SMALL = dataclasses.replace(EVERYDAY16.classifier, channels=(16, 16, 16, 16), classes=NAMES)


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
    assert models.weights["classifier"] == compute_weights_id(checkpoint)
    config = models.profile.classifier
    assert (config.architecture, config.classes, config.input_size) == ("resnet10t", NAMES, 64)
    theirs = timm.create_model("resnet10t", num_classes=3, checkpoint_path=str(checkpoint)).eval()
    x = to_tensor(cat)[None]  # a mean and deviation of a half leave it in [-1, 1]
    with torch.no_grad():
        expected = theirs(x).softmax(1)
    torch.testing.assert_close(predict_proba(models.classifier, x, config), expected)
    of_labels = described(checkpoint, mean=half, std=half, activation="sigmoid")
    config = load_models("everyday16", of_labels, CPU).profile.classifier
    with torch.no_grad():
        expected = theirs(x).sigmoid()
    torch.testing.assert_close(predict_proba(models.classifier, x, config), expected)
    assert EVERYDAY16.classifier.architecture == "resnet18"  # the profile itself is as it was


def test_pixels_come_from_timms_table_or_what_is_said(checkpoint):
    usual = choose_classifier_config(
        EVERYDAY16, Sources(classifier=checkpoint, architecture="resnet10t")
    )
    table = timm.get_pretrained_cfg("resnet10t")
    assert (usual.input_size, usual.mean, usual.std) == (176, table.mean, table.std)
    assert usual.resize == int(176 / table.crop_pct)
    assert usual.classes == EVERYDAY16.classifier.classes
    said = choose_classifier_config(EVERYDAY16, described(checkpoint, std=(1.0, 2.0, 3.0)))
    assert (said.input_size, said.resize, said.mean) == (64, None, table.mean)
    assert said.std == (1, 2, 3)


def test_a_transformer_is_built_for_its_input(tmp_path):
    name = "vit_tiny_patch16_224"
    theirs = randomise(timm.create_model(name, num_classes=3, img_size=64, depth=12), 5)
    save_file(theirs.state_dict(), tmp_path / "vit.safetensors")
    sources = described(tmp_path / "vit.safetensors", architecture=name)
    config = load_models("everyday16", sources, CPU).profile.classifier
    assert (config.architecture, config.input_size) == (name, 64)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"architecture": None}, "does not fit resnet18 at 64 pixels: .* with --architecture"),
        ({"architecture": "resnet99"}, "timm has no architecture 'resnet99'"),
        ({"architecture": "hf-hub:somebody/model"}, "timm has no architecture"),
        ({"architecture": "vit_tiny_patch16_224"}, "does not fit vit_tiny_patch16_224"),
        ({"classes": None}, "tells 3 classes apart, and 16 are named"),
        ({"input_size": 0}, "input size of .* is from 1 to 2048"),
        ({"std": (0.0, 1.0, 1.0)}, "std of .* is three numbers"),
        ({"std": (58.395, 57.12, 57.375)}, r"std of .* in \[0, 1\]"),
        ({"mean": (float("nan"), 1.0, 1.0)}, "mean of .* is three numbers"),
        ({"mean": (123.675, 116.28, 103.53)}, r"mean of .* in \[0, 1\]"),
        ({"activation": "relu"}, "Unknown activation 'relu'. Choose one of: softmax, sigmoid"),
    ],
)
def test_what_does_not_fit_is_one_sentence(checkpoint, changed, words):
    with pytest.raises((WeightsError, ValueError), match=words) as error:
        load_models("everyday16", described(checkpoint, **changed), CPU)
    assert "\n" not in str(error.value)


def test_commands_say_what_is_wrong(checkpoint, photo, tmp_path):
    for options, words in (
        (("--classifier", "resnet17"), "which has none; if timm's is meant: pip install"),
        (("--architecture", "resnet18", "--input-size", 64),
         "--architecture, --input-size describes a timm checkpoint: name it"),
        (("--classifier", "tf_efficientnet_lite0", "--input-size", 64),
         "tf_efficientnet_lite0 tells its architecture, pixels and classes itself"),
        (("--classifier", photo), "cannot be read as a checkpoint"),
    ):  # fmt: skip
        assert words in refused("adapt", photo, *options)


def test_a_users_own_checkpoint_from_end_to_end(checkpoint, photo, tmp_path):
    classes = checkpoint.with_name("classes.txt")
    options = ["--classifier", checkpoint, "--architecture", "resnet10t", "--input-size", 64,
               "--classes", classes, "--precision", "float32"]  # fmt: skip
    asked = "adapt", photo, "--profile", "photo", "--methods", "dga", "--json", "--out", tmp_path
    facts = json.loads(done(*asked, *options, "--input-size", 32).stdout)
    assert {row["label"] for row in facts["input"]["top5"]} == set(NAMES)
    several = [*options, "--activation", "sigmoid", "--input-size", 32]
    facts = json.loads(done(*asked[:-1], tmp_path / "several", *several).stdout)
    assert abs(sum(row["probability"] for row in facts["input"]["top5"]) - 1) > 0.01
    data = tmp_path / "data" / "ship"
    data.mkdir(parents=True)
    Image.open(photo).save(data / "a.png")
    report = "diagnose", tmp_path / "data", "--out", tmp_path / "report"
    done(*report, *options)
    assert "another configuration" in refused(*report, *several)
    asked = "--split all --corruptions clean --methods source,tent,memo:views=2"
    place = "--data", tmp_path / "data", "--out", tmp_path / "runs"
    done("evaluate", *place, *asked.split(), *options)
    config = json.loads((tmp_path / "runs" / "config.json").read_text())
    assert config["classifier"]["architecture"] == "resnet10t"
    assert config["classifier"]["classes"] == 3
    assert config["weights"]["classifier"] == compute_weights_id(checkpoint)
    rows = [json.loads(row) for row in (tmp_path / "runs" / "lines.jsonl").open()]
    assert {row["method"] for row in rows} == {"source", "tent", "memo:views=2"}
    assert {row["class"] for row in rows} == {"ship"}


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


# Folders


def test_a_folder_tells_its_classifier_itself(tmp_path):
    folder, state = tmp_path / "small", build_classifier(SMALL).state_dict()
    plain = json.loads(json.dumps(dataclasses.asdict(SMALL)))
    save_weights(state, folder, {"model": "classifier", "profile": {"classifier": plain}})
    models = load_models("everyday16", Sources(classifier=folder), CPU)
    assert models.weights["classifier"] == compute_weights_id(folder)
    assert models.profile.classifier == SMALL
    with pytest.raises(WeightsError, match="tells its architecture, pixels and classes itself"):
        load_models("everyday16", Sources(classifier=folder, input_size=32), CPU)


def test_a_folders_config_is_not_believed_blindly(tmp_path):
    state = build_classifier(SMALL).state_dict()
    for facts in ("resnet18", {"architecture": "resnet18"}, {**vars(SMALL), "architecture": 3}):
        save_weights(state, tmp_path, {"profile": {"classifier": facts}})
        with pytest.raises(WeightsError, match=r"does not describe a classifier|no architecture"):
            choose_classifier_config(EVERYDAY16, Sources(classifier=tmp_path))
