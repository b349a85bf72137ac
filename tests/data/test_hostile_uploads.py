"""Hostile pictures: each gives a picture or one clear sentence."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from PIL import Image

from dga.data.uploads import MAX_SIDE, UploadError, read_bytes
from dga.images import MIN_PICTURE_SIDE as MIN_SIDE
from tests.fuzz.corpus import MAX_MB, read_upload, try_file
from tests.fuzz.files import corpus
from tests.fuzz.uploads import changed_files

ROOT = Path(__file__).resolve().parents[2]
NAMES = tuple(corpus())


@pytest.fixture(scope="module")
def records() -> dict[str, dict[str, Any]]:
    """The command's own records, from a process of its own: a decoder's fault would end it."""
    command = [sys.executable, "-m", "tests.fuzz.corpus"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(lines) == len(NAMES), done.stderr[-2000:]
    return {record["name"]: record for record in lines}


def test_each_is_a_picture_or_one_sentence(records):
    """Honest pictures with odd company are read; pieces, lies and other things are not."""
    verdicts = {name: record["verdict"] for name, record in records.items()}
    assert set(verdicts.values()) == {"picture", "refused"}
    assert max(record["peak_mb"] for record in records.values()) < MAX_MB
    for name, verdict in verdicts.items():
        kind = name.split("-")[0]
        assert kind not in ("cut", "magic", "size", "other") or verdict == "refused", name
        assert not name.startswith(("rare-jpeg", "rare-gif")) or verdict == "refused", name
    for name in ("bomb-png-heavy", "bomb-jpeg", "bomb-tiff", "both-png-zip", "both-jpeg-php"):
        assert verdicts[name] == "picture"


def test_changes_of_all_of_them(tmp_path):
    """More, and others each time, with EXAMPLES in the environment; the last file stays there."""
    verdicts = Counter[str]()

    @settings(
        max_examples=int(os.environ.get("EXAMPLES", "150")),
        database=None,
        deadline=None,
        derandomize="EXAMPLES" not in os.environ,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(changed_files())
    def attempt(data: bytes) -> None:
        (tmp_path / "last.png").write_bytes(data)
        verdict, said = try_file(tmp_path / "last.png")
        verdicts[verdict] += 1
        assert verdict != "failed", said

    attempt()
    assert min(verdicts["picture"], verdicts["refused"]) > 0


def test_a_large_picture_is_reduced_as_a_whole(tmp_path):
    """Bands that are converted one by one leave no seams, also where sides do not divide."""
    across = np.linspace(0, 255, 3_001).astype(np.uint8)
    path = tmp_path / "large.png"
    Image.fromarray(np.tile(across, (1_703, 1))).save(path)
    image = read_upload(path)
    assert image.size == (1_501, 852)
    shown = np.asarray(image)[..., 0].astype(int)
    assert np.abs(shown - across[::2]).max() <= 1
    assert (shown == shown[0]).all()


def test_bytes_are_limited_before_they_are_read(tmp_path):
    path = tmp_path / "long.png"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(UploadError, match="at most 20 MB"):
        read_bytes(path)


# What cannot be read, and limits


def refusal(path):
    with pytest.raises(UploadError) as caught:
        read_upload(path)
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text
    assert str(path) not in text
    return text


def test_nothing_to_read(tmp_path):
    assert "any more" in refusal(tmp_path / "gone.png")
    (tmp_path / "empty.png").touch()
    assert "empty" in refusal(tmp_path / "empty.png")


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ((20_000, 40), "too large"),
        ((20_000, 20_000), "too large"),
        ((8_000, 8_000), "too large"),
        ((300, MIN_SIDE - 1), f"at least {MIN_SIDE} pixels"),
        ((MIN_SIDE - 1, 300), f"at least {MIN_SIDE} pixels"),
    ],
)
def test_sizes_are_refused_before_decoding(tmp_path, size, words, monkeypatch):
    path = tmp_path / "wide.png"
    Image.new("1", size).save(path)

    def decode(*_):
        raise AssertionError("the picture was decoded")

    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", decode)
    assert words in refusal(path)


def test_limits_are_inclusive(tmp_path):
    path = tmp_path / "long.png"
    Image.new("L", (MAX_SIDE, MIN_SIDE), 77).save(path)
    assert read_upload(path).size == (MAX_SIDE, MIN_SIDE)
