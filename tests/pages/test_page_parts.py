"""Parts of page Adapt that need no model: examples, thumbnails, cards, words."""

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

from app.pages.adapt import corruption_thumbnails as thumbnails
from app.pages.adapt.input_templates import advanced_words, summary_words
from app.pages.adapt.opening import notice_html
from app.pages.adapt.result_cards import card_html, depth_ticks
from app.parts.examples import load_examples
from app.runs.links import opening_values
from app.runs.run_state import Card
from app.words.adapt import ADVANCED_HELP, EXAMPLE_TITLES, INPUT_WORDS
from dga.corruptions import CORRUPTIONS, corrupt
from dga.networks.classifier import Prediction
from dga.profiles import EVERYDAY16, IMAGENET
from dga.sentences import percent

LABELS = ("cat", "dog", "bird", "frog", "car", "bus")
SHARES = (0.5, 0.2, 0.1, 0.08, 0.07, 0.05)


def test_six_examples_of_different_pictures():
    examples = load_examples()
    assert [example.name for example in examples] == list(EXAMPLE_TITLES)
    assert len(examples) == 6
    pictures = {example.pixels(64).tobytes() for example in examples}
    assert len(pictures) == 6
    for example in examples:
        assert example.pixels(64).shape == (64, 64, 3)
        assert example.thumbnail.startswith("data:image/jpeg;base64,")
        assert Image.open(example.path).size == (384, 384)


def uris(sheet):
    found = re.findall(r'nth-child\((\d+)\)::before\{background-image:url\("(.*?)"\)', sheet)
    return {CORRUPTIONS[int(number) - 1]: uri for number, uri in found}


def test_thumbnails_come_fast_first_and_whole_last():
    pixels = load_examples()[0].pixels(thumbnails.SIDE)
    first, whole = (uris(sheet) for sheet in thumbnails.style_sheets(pixels, remember=True))
    assert set(CORRUPTIONS) - set(first) == {"glass_blur"}
    assert set(whole) == set(CORRUPTIONS)
    assert {name: whole[name] for name in first} == first
    raw = base64.b64decode(whole["pixelate"].partition("base64,")[2])
    shown = np.asarray(Image.open(io.BytesIO(raw)), int)
    made = corrupt(pixels, "pixelate", thumbnails.SEVERITY, seed=0)
    assert np.abs(shown - made).mean() < 8  # JPEG
    assert sum(map(len, whole.values())) < 100_000


def test_only_examples_are_remembered():
    pixels = np.full((64, 64, 3), 77, np.uint8)
    before = thumbnails._remembered.cache_info().currsize
    list(thumbnails.style_sheets(pixels))
    assert thumbnails._remembered.cache_info().currsize == before


def test_families_have_titles_over_their_first():
    sheet = thumbnails.style_sheet({})
    titles = re.findall(r'nth-child\((\d+)\)::after\{content:"(\w+)" / ""\}', sheet)
    assert titles == [("1", "Noise"), ("4", "Blur"), ("8", "Weather"), ("11", "Digital")]


@pytest.mark.parametrize("agrees", [True, False, None])
def test_a_card_has_three_bars_and_two_more_on_demand(agrees):
    image = np.zeros((64, 64, 3), np.uint8)
    page = card_html(Card("dga", image=image, prediction=Prediction(LABELS, SHARES), agrees=agrees))
    shown, more = page.split("<details")
    assert re.findall(r'class="label">(\w+)<', shown) == ["cat", "dog", "bird"]
    assert re.findall(r'class="label">(\w+)<', more) == ["frog", "car"]
    assert ("agrees with" in page, "differs from" in page) == (agrees is True, agrees is False)
    assert 'alt="DGA: cat"' in page


def test_labels_are_escaped():
    strange = Prediction(("<b>", "&", "x", "y", "z"), (0.6, 0.1, 0.1, 0.1, 0.1))
    page = card_html(Card("dda", image=np.zeros((8, 8, 3), np.uint8), prediction=strange))
    assert "<b>" not in page
    assert "<script>" not in notice_html(("<script>",))


def test_depths_come_from_the_profiles():
    page = depth_ticks(EVERYDAY16)
    assert f"tuned for 64 px: {EVERYDAY16.dda_depth} " in page
    assert f"paper: {IMAGENET.dda_depth}<" in page
    at = float(re.search(r"--at:([\d.]+)", page)[1])
    assert at == pytest.approx((IMAGENET.dda_depth - 1) / 99, abs=1e-4)


def test_words_before_anything_was_changed():
    opening = opening_values(EVERYDAY16)
    words = summary_words(load_examples()[0], opening)
    assert words["title"] == "Lion, Gaussian"
    assert words["more"] == f"severity {opening['severity']} · seed {opening['seed']}"
    folded = advanced_words(opening)
    depth, scale = EVERYDAY16.stopping.max_depth, EVERYDAY16.guidance.scale
    assert folded["guidance"] == f"λ {scale} · max depth {depth}"
    assert folded["stopping"] == "threshold rule · 1 noise path"
    assert set(ADVANCED_HELP) == {"paths", "scale", "max_depth", "rule"}
    assert all(INPUT_WORDS.values())


def test_percent_keeps_a_space():
    assert percent(0.5) == "50 %"
