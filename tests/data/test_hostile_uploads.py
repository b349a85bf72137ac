"""Hostile pictures: each gives a picture or one clear sentence, within bounded memory."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image

from dga.data import uploads
from dga.data.containers import ContainerError, checked, format_of
from dga.data.uploads import UploadError, open_upload
from dga.images import orientation_of
from tests.fixtures.app import Served
from tests.fuzz import blocks
from tests.fuzz.corpus import MAX_MB
from tests.fuzz.files import corpus, seeds
from tests.fuzz.uploads import Fuzzing, run

ROOT = Path(__file__).resolve().parents[2]
NAMES = tuple(corpus())


@pytest.fixture(scope="module")
def measured() -> dict[str, dict[str, Any]]:
    """The command's own records: a process of its own has a peak of memory of its own."""
    command = [sys.executable, "-m", "tests.fuzz.corpus"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    records = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(records) == len(NAMES), done.stderr[-2000:]
    return {record["name"]: record for record in records}


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_or_one_sentence(measured, name):
    record = measured[name]
    assert record["verdict"] in ("picture", "refused"), record
    assert record["peak_mb"] < MAX_MB, record


def test_what_is_read_and_what_is_not(measured):
    """Honest pictures with odd company are read; pieces, lies and other things are not."""
    refused = {name for name, record in measured.items() if record["verdict"] == "refused"}
    for name in NAMES:
        kind = name.split("-")[0]
        if kind in ("cut", "magic", "size", "other", "rare"):
            assert name in refused
        if kind == "animated" or (
            kind == "meta"
            and "gif" not in name
            and name not in ("meta-png-chunks", "meta-png-iccp")
        ):
            assert name not in refused
    assert "bomb-png-1" in refused
    assert "bomb-jpeg-passes" in refused
    read = {"bomb-png-heavy", "bomb-jpeg", "bomb-tiff", "both-png-zip", "both-jpeg-php"}
    assert not refused & read


def test_mutations_of_all_of_them(tmp_path):
    """The first files of what ``python -m tests.fuzz.uploads`` tries for minutes."""
    fuzzing = Fuzzing(tmp_path)
    run(fuzzing, 150)
    assert not fuzzing.broken
    assert fuzzing.verdicts["picture"] > 0
    assert fuzzing.verdicts["refused"] > 0


@pytest.mark.parametrize("name", seeds())
def test_checked_files_show_the_same(name, tmp_path):
    """Leaving metadata out changes no pixel."""
    data = seeds()[name]()
    kind = format_of(data)
    (tmp_path / "a").write_bytes(data)
    (tmp_path / "b").write_bytes(checked(kind, data))
    with Image.open(tmp_path / "a") as whole, Image.open(tmp_path / "b") as bare:
        assert np.array_equal(np.asarray(whole.convert("RGBA")), np.asarray(bare.convert("RGBA")))


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("rare")])
def test_rare_files_reach_no_decoder(name):
    """Some of these end the process where Pillow decodes them."""
    data = corpus()[name]()
    kind = format_of(data)
    assert kind is not None
    with pytest.raises(ContainerError):
        checked(kind, data)


def test_directories_that_name_the_same_bytes_many_times_are_left_out():
    exif = b"Exif\0\0" + blocks.overlapping(60_000, 4_900)
    data = blocks.jpeg_with(blocks.segment(0xE1, exif))
    assert exif in data
    assert exif not in checked("JPEG", data)
    with pytest.raises(ContainerError):
        checked("TIFF", blocks.overlapping(60_000, 4_900))


@pytest.mark.parametrize(
    "exif",
    [
        b"",
        b"Exif\0\0",
        b"Exif\0\0II*\0",
        b"II*\0\xff\xff\xff\xff",
        b"nonsense",
        b"MM\0*" + bytes(9),
    ],
)
def test_an_unreadable_orientation_is_upright(exif):
    assert orientation_of(exif) == 1


def test_a_large_picture_is_reduced_as_a_whole(tmp_path):
    """Bands that are converted one by one leave no seams, also where sides do not divide."""
    across = np.linspace(0, 255, 3_001).astype(np.uint8)
    path = tmp_path / "large.png"
    Image.fromarray(np.tile(across, (1_703, 1))).save(path)
    image = open_upload(path)
    assert image.size == (1_501, 852)
    shown = np.asarray(image)[..., 0].astype(int)
    assert np.abs(shown - across[::2]).max() <= 1
    assert (shown == shown[0]).all()


def test_bytes_are_limited_before_they_are_read(tmp_path):
    path = tmp_path / "long.png"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(UploadError, match="at most 20 MB"):
        open_upload(path)


def test_heic_is_read_where_its_plugin_is(tmp_path, monkeypatch):
    plugin = pytest.importorskip("pillow_heif")
    plugin.register_heif_opener()
    path = tmp_path / "phone.jpg"
    blue = Image.new("RGB", (64, 48), (30, 30, 200))
    blue.save(path, "HEIF", quality=90)
    image = open_upload(path)
    assert image.size == (64, 48)
    assert np.abs(np.asarray(image).mean((0, 1)) - (30, 30, 200)).max() < 6
    monkeypatch.setattr(uploads, "_reads_heif", lambda: False)
    with pytest.raises(UploadError, match="This file is not a PNG"):
        open_upload(path)


OVER_HTTP = ("cut-png-50", "size-gif", "bomb-jpeg-passes", "rare-tiff-jpeg", "other-svg")


def sent(served: Served, data: bytes, name: str = "a.png") -> list[dict[str, Any]]:
    """As a program uploads it; returns the ``data`` argument of a call."""
    answer = httpx.post(f"{served.url}gradio_api/upload", files={"files": (name, data)})
    assert answer.status_code == 200
    return [{"path": answer.json()[0], "meta": {"_type": "gradio.FileData"}}]


def called(served: Served, data: object) -> str:
    address = f"{served.url}gradio_api/call/repair"
    joined = httpx.post(address, json={"data": data})
    assert joined.status_code == 200, joined.text
    return httpx.get(f"{address}/{joined.json()['event_id']}", timeout=120).text


@pytest.mark.parametrize("name", OVER_HTTP)
def test_over_http_a_sentence(served, name):
    answer = called(served, sent(served, corpus()[name]()))
    assert answer.startswith("event: error")
    sentence = json.loads(answer.split("data: ", 1)[1])["error"]
    assert sentence.endswith(".")
    assert "/" not in sentence
    assert "Traceback" not in sentence


def test_over_http_a_picture(served):
    """The server that refused all those still serves."""
    answer = called(served, sent(served, corpus()["meta-png-exif"](), "../../a\0b/c.svg"))
    assert '"found"' in answer


def test_over_http_too_many_bytes(served):
    address = f"{served.url}gradio_api/upload"
    answer = httpx.post(address, files={"files": ("a.png", corpus()["other-too-long"]())})
    assert answer.status_code == 413
    assert "Traceback" not in answer.text
