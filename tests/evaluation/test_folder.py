"""A folder of pictures without labels: repaired once, resumed, unreadable ones named."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from dga.evaluation import folder as folders
from dga.evaluation.folder import adapt_folder
from dga.evaluation.results_file import ResultsFile


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


def test_a_killed_run_goes_on(tiny_models, pictures, tmp_path, monkeypatch):
    whole = tmp_path / "whole"
    adapt_folder(tiny_models, pictures, whole, ("dga-plus",))
    monkeypatch.setattr(folders, "AT_ONCE", 1)
    answered, written, out = list[int](), list[int](), tmp_path / "out"
    answer, append = folders.answer, ResultsFile.append

    def dies(self: ResultsFile, lines: Any) -> None:
        written.append(1)
        if len(written) == 4:
            raise KeyboardInterrupt
        append(self, lines)

    def counts(*args: Any) -> Any:
        answered.append(1)
        return answer(*args)

    monkeypatch.setattr(ResultsFile, "append", dies)
    monkeypatch.setattr(folders, "answer", counts)
    with pytest.raises(KeyboardInterrupt):
        adapt_folder(tiny_models, pictures, out, ("dga-plus",))
    assert len(_table(out)) == 3  # a table of what is done stands at any moment
    adapt_folder(tiny_models, pictures, out, ("dga-plus",))
    assert len(answered) == 2 + 2  # only the picture it died at and the one after it

    def facts(folder: Path) -> list[dict[str, str]]:
        return [{**row, "seconds": ""} for row in _table(folder)]

    assert facts(out) == facts(whole)
