"""What is on the screen before any script has run."""

from __future__ import annotations

import html
import re
from itertools import product

import httpx
import pytest

from app.words.common import PAGES
from tests.fixtures.app import Served

BEGINS = re.compile(r'<div id="first".*?(?=<script>)', re.DOTALL)


@pytest.mark.parametrize("path", [path for _, path in PAGES])
def test_a_page_begins_with_its_header_and_its_first_words(served: Served, path: str) -> None:
    answer = httpx.get(served.url + path, headers={"accept-encoding": "identity"}, timeout=60)
    assert int(answer.headers["content-length"]) == len(answer.content)
    before, root, _ = answer.text.partition("<gradio-app")
    first = BEGINS.search(before)
    assert root
    assert first is not None
    assert 'aria-label="Pages"' in first[0]
    said = re.search(r"<h1>(.+?)</h1>", first[0], re.DOTALL)
    assert said is not None
    assert "<style>" in before.partition("</head>")[0]


def test_the_first_sentence_is_that_of_the_run_that_is_sent(served: Served) -> None:
    run = httpx.get(served.url + served.first(), timeout=60).json()
    shares = run["input"]["probs"]
    label = run["classes"][shares.index(max(shares))]
    text = f"The classifier reads it as {label}: wrong."  # as the opening begins
    page = httpx.get(served.url, timeout=60).text
    said = re.search(r'<div class="say"><h1>(.+?)</h1>', page)
    assert said is not None
    assert html.unescape(re.sub(r"</?b.*?>", "", said[1])) == text
    for picture in (run["clean"], run["input"]):  # what is read, and what it was
        assert picture["src"] in page


def test_what_a_page_opens_with_is_sent_as_it_is_asked_for(served: Served) -> None:
    """One answer for all would keep the length and the packing of the last."""
    for name, packed in product((served.first(), "theme.css"), ("gzip", "br", "identity", "gzip")):
        asked = {"accept-encoding": "gzip, br" if packed == "br" else packed}
        answer = httpx.get(served.url + name, headers=asked, timeout=60)
        assert answer.headers.get("content-encoding", "identity") == packed
        assert name == "theme.css" or "t_star" in answer.json()


def test_other_answers_are_as_gradio_gives_them(served: Served) -> None:
    assert 'id="first"' not in httpx.get(f"{served.url}config", timeout=60).text
    assert httpx.head(served.url, timeout=60).status_code in (200, 405)
