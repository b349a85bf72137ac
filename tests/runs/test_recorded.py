"""What ships with the page is what its live function answers, and can be read."""

import base64
import io
import json

import pytest
from PIL import Image

from app.recorded.__main__ import RECORDED
from app.recorded.store import FOLDER, list_recorded, read_weights
from app.runs.samples import SAMPLES
from dga.corruptions import CORRUPTIONS, EVERYDAY
from dga.networks.models import find_models
from tests.fixtures.runs import RECORD_PARTS


def decode(address: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2])))


@pytest.mark.parametrize("name", list_recorded())
def test_a_recorded_run_is_whole(name):
    record = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    assert set(record) == RECORD_PARTS | {"mended_depths"}
    assert record["damaged"]["reading"]["label"]
    for part in ("original", "damaged", "repaired", "paper", "guided", "fixed"):
        assert decode(record[part]["image"]).size == (224, 224)


def test_what_is_recorded_was_made_with_the_networks_that_ship():
    """Who changes these networks records anew: see ``app/README.md``."""
    assert find_models("photo").weights == read_weights()


def test_the_failures_that_learn_shows_are_failures():
    cases = json.loads((FOLDER.parent / "learn" / "fails.json").read_text("utf-8"))
    assert [case["plus"]["is_right"] for case in cases] == [False] * len(cases)


@pytest.mark.parametrize("photo", RECORDED)
def test_boards_and_thumbnails_have_all_fifteen(photo):
    board = json.loads((FOLDER.parent / "boards" / f"{photo}.json").read_text("utf-8"))
    assert [row["damage"] for row in board["rows"]] == list(CORRUPTIONS)
    for row in board["rows"]:
        if row["damage"] == SAMPLES[photo].damage:  # which the page says hides it
            assert not row["cells"]["damaged"]["reading"]["is_right"]
        for cell in row["cells"].values():
            assert decode(cell["image"]).width == 112
            assert cell["reading"]["is_right"] == (cell["reading"]["label"] == SAMPLES[photo].label)
    thumbnails = json.loads((FOLDER.parent / "thumbnails" / f"{photo}.json").read_text("utf-8"))
    assert set(thumbnails) == {"none", *CORRUPTIONS, *EVERYDAY}
