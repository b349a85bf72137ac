"""What later attacks found, mostly on the newer pages: none of it works any more."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradio_client import Client, handle_file
from gradio_client.utils import Status
from PIL import Image

from app.server.upload_folder import kept
from app.words.board import NOT_KEPT
from dga.corruptions import corrupt
from dga.images import Pixels
from tests.fixtures.app import Served
from tests.server.test_twelve_ways import Page, queued


@pytest.fixture(scope="module")
def page(served: Served) -> Page:
    return Page(served)


def asked(text: Any) -> dict[str, Any]:
    """What a page's script sends with an event of its own."""
    return {"event_data": {"ask": text if isinstance(text, str) else json.dumps(text)}}


def test_what_photo_saves_lies_in_the_folder_whatever_its_name(page: Page, tmp_path: Path) -> None:
    """The name of an own photograph began those of its files, whole paths included."""
    there = tmp_path / "elsewhere" / "x"
    photo = {"path": page.upload(), "name": str(there), "damage": {"kind": "none"}}
    hers: dict[str, Any] = {"session_hash": "a-photographer"}
    value = page.press("show", [], **asked(photo), **hers).json()["data"][0]
    assert value["name"] == ""
    assert queued(page, "follow_2", [], **hers)["success"]
    saved, _ = page.press("save", [], **asked({"file": "csv"}), **hers).json()["data"]
    assert Path(saved["path"]).name == "photo-depths.csv"
    assert Path(saved["path"]).is_relative_to(page.folder)
    assert not there.parent.exists()


@pytest.mark.parametrize("name", ["../a.png", "/tmp/a.png", "..", "", "a\\b.png", "a\x00.png"])
def test_no_name_of_a_file_leads_elsewhere(name: str, tmp_path: Path) -> None:
    with (tmp_path / "content").open("w+b") as content, pytest.raises(ValueError, match="no name"):
        kept(content, name)


TOLD = (
    *(f'{{"row": "{"9" * 5_000}"}}', f'{{"row": {"[" * 900}1{"]" * 900}}}'),
    *('{"row": "\\ud800"}', '{"row": NaN}', '{"row": 1e400}', "[" * 9_000, "5"),
)  # fmt: skip


@pytest.mark.parametrize("text", TOLD, ids=range(len(TOLD)))
def test_json_within_json_ends_in_a_sentence(
    page: Page, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = page.press("name", [], **asked(text), session_hash="a-namer-of-rows")
    assert [part["error"] for part in answer.json()["data"] if "error" in part] == [NOT_KEPT]
    for event, part in (("move", "ask"), ("land", "noise")):
        text = text.replace("row", part)
        answer = page.press(event, [], **asked(text), session_hash="a-mover-of-sliders")
        told = answer.json()
        sentence = told["detail"] if "detail" in told else told["data"][0]["error"]
        assert (answer.status_code, sentence[-1]) in ((200, "."), (400, "."))
    assert "Traceback" not in caplog.text


def test_a_large_photograph_takes_nobodys_turn(served: Served, cat: Pixels, tmp_path: Path) -> None:
    """It waits in a line of its own; an ordinary run comes to its end meanwhile."""
    small, large = tmp_path / "small.png", tmp_path / "large.png"
    Image.fromarray(cat).save(small)
    Image.fromarray(corrupt(np.tile(cat, (15, 15, 1)), "gaussian_noise", 3, seed=0)).save(large)
    first, other = (Client(served.url, verbose=False, httpx_kwargs={"timeout": 60}) for _ in "ab")
    job = first.submit(handle_file(large), api_name="/repair")
    while job.status().code not in (Status.PROCESSING, Status.ITERATING):
        time.sleep(0.02)
    record, *_ = other.predict(handle_file(small), api_name="/adapt")
    assert record["t_star"] == 0
    assert not job.done()
    job.cancel()
