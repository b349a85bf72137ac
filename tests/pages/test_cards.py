"""Hide it from AI, without a browser: readings, the copies that brushes paint with, cards."""

import io
import re
from html import unescape
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest
from PIL import Image

from app.runs import models
from app.runs.card import name_winner
from app.runs.strokes import KINDS
from dga.corruptions import CORRUPTIONS, EVERYDAY

STROKES = "1.0_1_1_.2_1_0_"  # a wide dot of noise, then one of fog
EVERYWHERE = ("00", "10", "20", "30", "3_")
ALL_OVER = "1." + ".".join(f"0_{x}{y}" for x in EVERYWHERE for y in EVERYWHERE)


@pytest.fixture
def client(served):
    with httpx.Client(base_url=served.url, timeout=120) as client:
        yield client


def read(client, **settings):
    answer = client.post("reading?page=a-page", json={"damage": "paint", **settings})
    return answer.status_code, answer.json()


def test_the_classifier_answers_what_is_painted_so_far(client):
    _, before = read(client, photo="panda")
    _, after = read(client, photo="panda", strokes=ALL_OVER)
    assert before["touched"] == 0
    assert before["reading"]["label"] == "giant panda"
    assert after["touched"] == 1
    assert after["reading"]["label"] != "giant panda"


def test_every_brush_has_its_copy_of_the_photo(client):
    for kind in KINDS:
        picture = Image.open(io.BytesIO(client.get(f"brushes/panda/{kind}").content))
        assert picture.size == (224, 224)


def test_a_photo_that_is_not_recorded_has_thumbnails_of_its_own(client):
    cheetah, panda = (client.get(f"thumbnails/{photo}").json() for photo in ("cheetah", "panda"))
    assert set(cheetah) == {"none", *CORRUPTIONS, *EVERYDAY}
    assert not set(cheetah.values()) & set(panda.values())


def og(page, name):
    return unescape(re.search(f'property="og:{name}" content="([^"]*)"', page)[1])


@pytest.mark.parametrize(
    "path", ["", "all-15", "results", "learn", "?photo=goldfish", "?strokes=1.x"]
)
def test_every_page_says_what_it_is_to_other_sites(client, served, path):
    page = client.get(path).text
    assert all(og(page, name) for name in ("title", "description", "image"))
    assert og(page, "image").startswith(f"{served.url}card.png")
    assert "[[" not in page.partition("</head>")[0]


def test_a_link_with_strokes_has_a_card_of_its_own(client):
    page = client.get(f"?photo=goldfish&strokes={STROKES}").text
    assert "goldfish" in og(page, "title")
    assert "brushed over" in og(page, "description")
    address = urlsplit(og(page, "image"))
    card, other = (
        Image.open(io.BytesIO(client.get(f"card.png?{query}").content))
        for query in (address.query, "photo=goldfish&damage=none")
    )
    assert card.size == other.size == (1200, 630)
    assert (np.asarray(card) != np.asarray(other)).any()


@pytest.mark.parametrize(
    ("truth", "painted", "repaired", "winner"),
    [
        ("panda", "dog", "panda", "repair"),
        ("panda", "dog", "cat", "painter"),
        ("panda", "panda", "dog", ""),
        (None, "dog", "cat", ""),
    ],
)
def test_a_card_names_whoever_wins(truth, painted, repaired, winner):
    readings = {"damaged": painted, "repaired": repaired}
    parts = {name: {"reading": {"label": label}} for name, label in readings.items()}
    said = name_winner(parts | {"truth": truth})
    assert bool(said) == bool(winner)
    assert winner in said


def test_what_takes_too_long_is_said(client, monkeypatch):
    monkeypatch.setattr(models, "BUDGET_SECONDS", -1.0)
    for answer in (
        client.post("reading", json={"photo": "goldfish"}),
        client.get("card.png?photo=goldfish&seed=5"),
    ):
        assert answer.status_code == 503
        assert "took longer" in answer.json()["detail"]


def test_markup_in_a_link_stays_text(client):
    page = client.get(
        '?photo=goldfish&damage=fog&seed="><script>', headers={"x-forwarded-host": '"><b>'}
    )
    assert "<script>" not in page.text.partition("</head>")[0]
    assert '"><b>' not in page.text


@pytest.mark.parametrize(
    ("method", "address", "body"),
    [
        *(("POST", "reading", body) for body in (b"", b"[]", b'{"photo": "nobody"}')),
        *(
            ("GET", f"card.png?{query}", b"")
            for query in ("strokes=1.x", "photo=nobody", "seed=-1")
        ),
        *(("GET", f"brushes/{path}", b"") for path in ("panda/glue", "nobody/fog")),
        ("GET", "thumbnails/nobody", b""),
    ],
)
def test_what_is_not_there_is_one_sentence(client, method, address, body):
    answer = client.request(method, address, content=body)
    assert answer.status_code in (400, 404)
    assert answer.json()["detail"].endswith(".")
