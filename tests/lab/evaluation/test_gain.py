"""Whether repair helps: the command on folders as people have them."""

from pathlib import Path

import pytest
from PIL import Image

from dga.lab.evaluation import run as evaluation
from dga.lab.evaluation.gain import summarise_gain
from tests.fixtures.cli import done, refused
from tests.fixtures.pictures import photograph
from tests.fixtures.results import line

NAMES = {"n07920052": "coffee", "n02124075": "chelsea"}
"""ImageNet's folders of an espresso and of an Egyptian cat."""
FAST = "--device", "cpu", "--corruptions"


def save(name: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(photograph(name)).save(path)


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """A coffee and a cat in ImageNet's folders."""
    for wnid, name in NAMES.items():
        save(name, tmp_path / "labelled" / wnid / f"{name}.png")
    return tmp_path / "labelled"


@pytest.fixture
def loose(tmp_path: Path) -> Path:
    """The same, beside each other."""
    for name in NAMES.values():
        save(name, tmp_path / "loose" / f"{name}.png")
    return tmp_path / "loose"


def table(said: str) -> dict[str, list[str]]:
    """Cells of the table's rows by their corruption."""
    rows = [line.strip("| ").split(" | ") for line in said.splitlines() if line.startswith("| ")]
    return {cells[0]: cells[1:] for cells in rows[2:]}


def test_labelled_pictures_are_answered_once(labelled, tmp_path, monkeypatch):
    """In a sentence and a table; a torn file beside them is named, and nothing is done twice."""
    (labelled / "n02124075" / "torn.png").write_bytes(b"no picture")
    options = labelled, "--out", tmp_path / "out", *FAST, "contrast"
    first = done("gain", *options)
    assert first.stdout.startswith("Repair ")
    assert "read right" in first.stdout.splitlines()[0]
    rows = table(first.stdout)
    assert list(rows) == ["contrast", "clean"]
    assert rows["clean"][0] == rows["clean"][1]
    assert "nan" not in first.stdout
    assert "torn.png" in first.stderr

    def measured(*_: object) -> None:
        raise AssertionError("measured twice")

    monkeypatch.setattr(evaluation, "answer", measured)
    again = done("gain", *options)
    assert again.stdout == first.stdout
    assert "torn.png" in again.stderr


@pytest.mark.usefixtures("_commands_load_choosy_models")
def test_without_labels_the_undamaged_reading_counts(loose, tmp_path):
    """Of the pictures asked for; its lines are no accuracy to be pooled."""
    asked = "gain", loose, "--out", tmp_path / "out", *FAST, "contrast"
    said = done(*asked).stdout
    assert "as undamaged" in said.splitlines()[0]
    assert table(said)["clean"][0] == "100.0"
    fewer = done(*asked, "--pictures", 1).stdout
    assert fewer.startswith("One picture")
    assert list(table(fewer)) == ["contrast", "clean"]
    assert '"correct": null' in (tmp_path / "out" / "lines.jsonl").read_text()
    assert "holds no runs" in refused("figures", tmp_path, "--out", tmp_path)


@pytest.mark.usefixtures("_commands_load_choosy_models")
def test_folders_of_one_name_are_two(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(NAMES.values()):
        save(name, tmp_path / str(number) / "photos" / "1.png")
        done("gain", tmp_path / str(number) / "photos", *FAST, "contrast")
    lines = [path.read_text() for path in tmp_path.glob("runs/gain/*/lines.jsonl")]
    assert len(set(lines)) == 2


def test_what_holds_no_picture_is_refused(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("no picture")
    for folder in (tmp_path / "mine", tmp_path / "nowhere"):
        said = refused("gain", folder, "--out", tmp_path / "out", *FAST, "contrast")
        assert str(folder) in said


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (0, 1, "helps: +100.0 "),
        (1, 0, "harms: \N{MINUS SIGN}100.0 "),
        (1, 1, "no sure change: 0.0 "),
    ],
)
def test_the_verdict_has_the_sign_of_the_change(before, after, verdict):
    lines = [
        line(n, "fog", method, bool(is_right), unchanged=False, psnr=9.0)
        for n in range(4)
        for method, is_right in (("source", before), ("dga-plus-ensemble", after))
    ]
    sentence = summarise_gain(lines, has_labels=True).splitlines()[0]
    assert verdict in sentence
    assert "more" not in sentence
