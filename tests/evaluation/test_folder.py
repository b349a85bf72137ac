"""A folder of pictures without labels: repaired once, resumed, unreadable ones named."""

import csv
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dga.evaluation.folder import adapt_folder


@pytest.fixture
def pictures(cat: np.ndarray, tmp_path: Path) -> Path:
    """Three pictures at two depths, a text file, and one that only pretends."""
    folder = tmp_path / "mine"
    (folder / "trip").mkdir(parents=True)
    for i, name in enumerate(("a.png", "b.jpg", "trip/a.png")):
        Image.fromarray(np.roll(cat, 9 * i, axis=1)).save(folder / name)
    (folder / "trip" / "torn.png").write_bytes(b"not a picture")
    (folder / "notes.txt").write_text("no picture either")
    return folder


def _table(out: Path) -> list[dict[str, str]]:
    with (out / "results.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_picture_is_repaired_and_told(tiny_models, pictures, tmp_path):
    out = tmp_path / "out"
    adapted = adapt_folder(tiny_models, pictures, out, ("dga-plus", "dga-guided:depth=3"))
    rows = _table(out)
    assert list(adapted.unreadable) == [str(Path("trip/torn.png"))]
    assert [(row["path"], row["method"]) for row in rows] == [
        (str(Path(path)), method)
        for path in ("a.png", "b.jpg", "trip/a.png")
        for method in ("source", "dga-plus", "dga-guided:depth=3")
    ]
    for row in rows:
        assert (row["repaired"] == "") == (row["method"] == "source")
        if row["repaired"]:
            with Image.open(out / row["repaired"]) as repaired:
                assert repaired.size == (tiny_models.profile.image_size,) * 2
    assert {row["depth"] for row in rows if "depth=3" in row["method"]} == {"3"}
