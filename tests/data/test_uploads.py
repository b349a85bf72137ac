"""Files that cannot be read give one clear sentence; what is read is within limits."""

import pytest
from PIL import Image

from dga.data.uploads import MAX_SIDE, UploadError
from dga.images import MIN_PICTURE_SIDE as MIN_SIDE
from tests.fuzz.corpus import read_upload


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
