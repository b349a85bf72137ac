"""Parts of Try it that need no model: examples and thumbnails."""

import base64
import io
import re
from dataclasses import replace

import numpy as np
from PIL import Image

from app.pages.adapt import corruption_thumbnails as thumbnails
from app.parts import examples as parts
from app.parts.examples import load_examples
from app.words.try_it import EXAMPLE_TITLES
from dga.corruptions import CORRUPTIONS, corrupt
from dga.profiles import EVERYDAY16


def test_examples_are_different_pictures_of_known_classes():
    examples = load_examples()
    assert [example.name for example in examples] == list(EXAMPLE_TITLES)
    assert all(example.truth in EVERYDAY16.classifier.classes for example in examples)
    pictures = {example.pixels(64).tobytes() for example in examples}
    assert len(pictures) == len(examples)
    assert len({example.truth for example in examples}) == len(examples)
    for example in examples:
        assert example.pixels(64).shape == (64, 64, 3)
        assert example.thumbnail.startswith("data:image/jpeg;base64,")
        assert Image.open(example.path).size == (384, 384)


def test_an_example_that_its_package_has_moved_is_left_out(monkeypatch):
    moved = {
        "horse": replace(parts.SOURCES["horse"], file="elsewhere/horse.png"),
        "lake": replace(parts.SOURCES["lake"], package="no_such_package"),
    }
    monkeypatch.setattr(parts, "SOURCES", parts.SOURCES | moved)
    found = load_examples.__wrapped__()
    assert [example.name for example in found] == ["cat", "lion"]


def uris(sheet):
    found = re.findall(r'nth-child\((\d+)\)::before\{background-image:url\("(.*?)"\)', sheet)
    return {CORRUPTIONS[int(number) - 1]: uri for number, uri in found}


def test_thumbnails_come_fast_first_and_whole_last():
    pixels = load_examples()[0].pixels(thumbnails.SIDE)
    first, whole = (uris(sheet) for sheet in thumbnails.style_sheets(pixels))
    assert set(CORRUPTIONS) - set(first) == {"glass_blur"}
    assert set(whole) == set(CORRUPTIONS)
    assert {name: whole[name] for name in first} == first
    raw = base64.b64decode(whole["pixelate"].partition("base64,")[2])
    shown = np.asarray(Image.open(io.BytesIO(raw)), int)
    made = corrupt(pixels, "pixelate", thumbnails.SEVERITY, seed=0)
    assert np.abs(shown - made).mean() < 8  # JPEG
    assert sum(map(len, whole.values())) < 100_000


def test_families_have_titles_over_their_first():
    sheet = thumbnails.style_sheet({})
    titles = re.findall(r'nth-child\((\d+)\)::after\{content:"(\w+)" / ""\}', sheet)
    assert titles == [("1", "Noise"), ("4", "Blur"), ("8", "Weather"), ("11", "Digital")]
