"""What is wrong with pictures: each damage, folders as people have them, and the report."""

import csv
import itertools
import json
import os
import zipfile
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import skimage.data
from PIL import Image, ImageDraw
from skimage.util import random_noise

import dga
from dga.diagnosis import SURE
from dga.explanation.operators import Disk, MotionBlur
from dga.folders import picture_folder
from dga.images import recompress_jpeg
from tests.fixtures.cli import done, refused, run_dga
from tests.fixtures.pictures import add_noise, spread


@pytest.fixture(scope="module")
def cat() -> np.ndarray:
    return np.asarray(Image.fromarray(skimage.data.chelsea()[:300, :400]))


def add_impulses(pixels: np.ndarray) -> np.ndarray:
    return (255 * random_noise(pixels, "s&p", rng=0, amount=0.1)).round().astype(np.uint8)


DAMAGE = {
    "noise": (lambda p: add_noise(p, 38), 0.3),
    "impulses": (add_impulses, 0.1),
    "blocks": (lambda p: p[::4, ::4].repeat(4, 0).repeat(4, 1), 4.0),
    "blur": (lambda p: spread(p, Disk(5.0).kernel), 5.0),
    "motion": (lambda p: spread(p, MotionBlur(8.0, 30.0, one_sided=True).kernel), 8.0),
    "veil": (lambda p: (p * 0.1 + 120).round().astype(np.uint8), 10.0),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_told_with_its_strength(cat, kind):
    """By measurement alone; the undamaged picture has none."""
    damage, strength = DAMAGE[kind]
    diagnosis = dga.diagnose(damage(cat), is_fast=True)
    first = diagnosis.findings[0]
    assert (first.kind, diagnosis.is_damaged) == (kind, True)
    assert first.strength == pytest.approx(strength, rel=0.35)
    assert first.is_undoable is None  # nobody has tried
    assert not dga.diagnose(cat, is_fast=True).is_damaged


@pytest.mark.parametrize("radius", [2.0, 8.0])
def test_a_lens_in_a_saved_file_is_as_soft_as_its_radius(cat, radius):
    saved = np.asarray(recompress_jpeg(spread(cat, Disk(radius).kernel), 85))
    soft = dga.diagnose(saved, is_fast=True).findings[0]
    assert (soft.kind, soft.strength) == ("soft", pytest.approx(radius, rel=0.4))
    sharp = {one.kind: one.sureness for one in dga.diagnose(cat, is_fast=True).findings}
    assert sharp.get("soft", 0.0) < SURE


@pytest.mark.parametrize("quality", [5, 20, 40, 90])
def test_the_quality_of_a_jpeg(cat, quality):
    diagnosis = dga.diagnose(recompress_jpeg(cat, quality), is_fast=True)
    found = [one for one in diagnosis.findings if one.kind == "jpeg"]
    assert [one.strength for one in found] == [quality] * (quality < 90)
    assert diagnosis.format == "JPEG"
    assert (diagnosis.width, diagnosis.height) == (400, 300)
    assert all(one.is_undoable is None for one in found)  # nobody has tried


@pytest.mark.parametrize("size", [(40, 30), (1500, 1100)])
def test_small_and_large_pictures_of_blocks(cat, size, tmp_path, monkeypatch):
    """Found by the part that is measured, and shown."""
    monkeypatch.chdir(tmp_path)
    small = Image.fromarray(cat).resize((size[0] // 2, size[1] // 2))
    small.resize(size, Image.Resampling.NEAREST).save("a.png")
    done("diagnose", "a.png", "--out", "out", "--fast")
    assert kinds(read_lines("out")["a.png"]) == ["blocks"]
    assert Path("out/report.html").read_text().count("<img") == 1


@pytest.mark.parametrize("darkest", [90, 150])
def test_lost_contrast_makes_no_page_of_a_photograph(darkest):
    """Though then as much of it is plain and of few colours; nor is it too dark."""
    white = Image.new("RGB", (300, 240), "white")
    white.paste(Image.fromarray(skimage.data.chelsea()[20:220, 100:300]), (10, 10))
    pale = np.asarray(
        recompress_jpeg(np.asarray(white.point(lambda level: level // 6 + darkest)), 85)
    )
    found = dga.diagnose(pale, is_fast=True).findings[0]
    assert (found.kind, found.sureness > SURE) == ("veil", True)


def test_what_is_mostly_plain_is_no_photograph():
    page = Image.new("RGB", (190, 170), "white")
    ImageDraw.Draw(page).text((10, 10), "The quick brown fox\njumps over\nthe lazy dog.", "navy")
    for image in (page, Image.new("RGB", (90, 70), "teal")):
        diagnosis = dga.diagnose(image, is_fast=True)
        assert (diagnosis.is_photograph, diagnosis.findings) == (False, ())


@pytest.mark.parametrize("seed", range(3))
def test_a_page_that_was_no_jpeg_is_none(seed):
    """Its few patterns, each many times, fit the steps of some quality."""
    page, rng = Image.new("RGB", (480, 300), (250, 250, 250)), np.random.default_rng(seed)
    draw = ImageDraw.Draw(page)
    draw.rectangle((0, 0, 480, 40), (40, 80, 160))
    for top, left in itertools.product(range(56, 300, 8), range(16, 480, 8)):
        if rng.random() < 0.6:
            draw.rectangle((left, top, left + 4, top + 3), (60, 60, 60))
    assert "jpeg" not in [one.kind for one in dga.diagnose(page, is_fast=True).findings]


@pytest.mark.parametrize("what", [np.zeros((9, 9)), np.zeros((0, 9, 3), np.uint8), "a.png"])
def test_what_is_no_picture_is_refused(what):
    with pytest.raises(ValueError, match="A picture is"):
        dga.diagnose(what, is_fast=True)


@pytest.mark.parametrize("has_readings", [True, False])
def test_networks_are_not_asked_without_networks(choosy_models, cat, has_readings):
    models = None if has_readings else choosy_models
    with pytest.raises(ValueError, match="is_fast asks no network"):
        dga.diagnose(cat, models, is_fast=True, has_readings=has_readings)


def test_readings_and_repair_by_the_networks(cat):
    """What is found is what the repair undoes; the readings are of both pictures."""
    models = dga.load_models()
    noisy = add_noise(cat[:224, :224], 51)
    diagnosis = dga.diagnose(noisy, models, has_readings=True)
    alone = dga.diagnose(noisy, models)
    assert [one.kind for one in alone.findings] == ["noise"]
    assert alone.findings[0].is_undoable is None  # only a repair could tell
    assert diagnosis.findings == (replace(alone.findings[0], is_undoable=True),)
    assert len(diagnosis.readings) == 2
    assert diagnosis.facts()["reading_repaired"] == diagnosis.readings[1][0]
    assert not dga.diagnose(cat[:224, :224], models).is_damaged


def test_noise_that_is_not_white_is_found_by_the_networks(cat):
    """Streaks of rain, which are everywhere, too, are none."""
    models = dga.load_models()
    for kind, is_noise in [("sensor_noise", True), ("enlarged_noise", True), ("rain", False)]:
        damaged = recompress_jpeg(dga.corrupt(cat[:224, :224], kind, severity=4, seed=0), 90)
        findings = dga.diagnose(damaged, models).findings
        assert any(one.kind == "noise" and one.sureness > 0.5 for one in findings) == is_noise, kind


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.75), (0.12, 1.0), (0.1, 0.85)])
def test_odd_light_ranks_pictures_and_damages_none(cat, low, high):
    """A range of levels that nobody recognises as damage comes before the whole range."""
    odd = (255 * (low + (high - low) * (cat / 255.0))).astype(np.uint8)
    surest = [
        max(
            one.sureness
            for one in dga.diagnose(picture, is_fast=True).findings
            if one.kind != "noise"
        )
        for picture in (cat, odd)
    ]
    assert surest[0] < surest[1]
    assert not dga.diagnose(odd, is_fast=True).is_damaged


def test_a_blur_that_the_networks_object_to_is_told(cat, monkeypatch):
    """It cannot be undone, and stands in the findings all the same."""
    monkeypatch.setattr(Disk, "most_objection", -1000.0)
    blurred = spread(cat, Disk(5.0).kernel)
    found = dga.diagnose(blurred, dga.load_models()).findings
    assert [(one.kind, one.is_undoable) for one in found if one.kind == "blur"] == [("blur", False)]


# Folders


@pytest.fixture
def mine(cat: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two classes; a noisy picture, one of blocks, two undamaged ones, and a torn file."""
    monkeypatch.chdir(tmp_path)
    small = cat[:96, :128]
    pictures = {
        "cat/noisy": add_noise(small, 51), "cat/fine": small,
        "dog/blocks": small[::4, ::4].repeat(4, 0).repeat(4, 1), "dog/<b>&": small[::-1],
    }  # fmt: skip
    for name, pixels in pictures.items():
        path = tmp_path / "mine" / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(path)
    (tmp_path / "mine/dog/torn.jpg").write_bytes(b"\xff\xd8\xff torn")
    return tmp_path / "mine"


def read_lines(out: str | Path) -> dict[str, dict]:
    lines = [json.loads(line) for line in Path(out, "lines.jsonl").read_text().splitlines()]
    assert len({line["path"] for line in lines}) == len(lines)
    return {line["path"]: line for line in lines}


def kinds(line: dict) -> list[str]:
    return [finding["kind"] for finding in line["findings"] if finding["sureness"] >= 0.5]


def test_a_folder_of_classes(mine):
    """Each picture has a line; what cannot be read is named, and the status says so."""
    said = run_dga("diagnose", mine, "--out", "out", "--fast")
    assert said.exit_code == 1
    assert "dog/torn.jpg" in said.stderr
    assert "4 pictures: 2 damaged" in said.stdout
    lines = read_lines("out")
    found = {name: kinds(line) for name, line in lines.items() if "error" not in line}
    assert found.pop("cat/noisy.png") == ["noise"]
    assert found.pop("dog/blocks.png") == ["blocks"]
    assert found == {"cat/fine.png": [], "dog/<b>&.png": []}
    assert lines["cat/noisy.png"]["class"] == "cat"
    with Path("out/diagnoses.csv").open(newline="") as file:
        rows = {row["path"]: row for row in csv.DictReader(file)}
    assert len(rows) == 5
    assert (rows["dog/blocks.png"]["kind"], rows["dog/blocks.png"]["strength"]) == ("blocks", "4.0")
    assert rows["dog/blocks.png"]["undoable"] == "only a repair tells"
    assert (rows["cat/fine.png"]["damaged"], rows["cat/fine.png"]["kind"]) == ("False", "")


def test_the_report_needs_nothing_else(mine):
    (mine / "dog/<b>&.png").write_bytes((mine / "cat/noisy.png").read_bytes())
    run_dga("diagnose", mine, "--out", "out", "--fast")
    page = Path("out/report.html").read_text()
    assert "3 of 4 pictures are damaged" in page
    assert not any(part in page for part in ("<script", "http:", "https:", "dog/<b>", "@import"))
    assert "dog/&lt;b&gt;&amp;.png" in page
    assert page.count('<img src="data:image/webp;base64,') == 3


def test_zips_lists_and_single_pictures(mine, tmp_path):
    with zipfile.ZipFile("all.zip", "w") as archive:
        for path in mine.rglob("*.png"):
            archive.write(path, path.relative_to(mine))
    paths = "\n".join(str(path) for path in sorted(mine.rglob("*.png")))
    Path("list.txt").write_text(paths, "utf-8-sig")  # as some editors write it
    done("diagnose", "all.zip", "--out", "a", "--fast")
    done("diagnose", "list.txt", "--out", "b", "--fast")
    done("diagnose", *sorted(mine.rglob("*.png")), "--out", "c", "--fast")
    zipped = read_lines("a")
    for out in ("b", "c"):
        listed = {str(Path(p).relative_to(mine)): line for p, line in read_lines(out).items()}
        assert {p: line["findings"] for p, line in zipped.items()} == {
            p: line["findings"] for p, line in listed.items()
        }


def test_what_of_a_zip_cannot_be_read_is_named(mine):
    """A password, and a damaged picture; a folder with a picture's name is none."""
    with zipfile.ZipFile("all.zip", "w") as archive:
        for name in ("a.png", "b.png", "c.png"):
            archive.write(mine / "cat/fine.png", name)
        archive.writestr("folder.png/", b"")
    data = bytearray(Path("all.zip").read_bytes())
    data[data.index(b"PK\1\2") + 8] |= 1  # of the first
    data[data.rindex(b"IDAT") + 9] ^= 255
    Path("all.zip").write_bytes(data)
    said = run_dga("diagnose", "all.zip", "--out", "out", "--fast")
    assert (said.exit_code, "1 picture: 0 damaged" in said.stdout) == (1, True)
    assert "a.png: The zip asks for a password" in said.stderr
    assert "c.png: This picture is damaged" in said.stderr
    assert "folder.png" not in said.stderr


def test_what_counts_and_what_fails(mine):
    """Filters need no new measurement; the status is 3 above the share that was named."""
    (mine / "dog/torn.jpg").unlink()
    fast = "diagnose", mine, "--out", "out", "--fast"
    assert run_dga(*fast, "--fail-above", "50%").exit_code == 0
    with mock.patch.object(picture_folder, "diagnose", side_effect=AssertionError):
        assert run_dga(*fast, "--fail-above", "49%").exit_code == 3
        assert "1 damaged" in done(*fast, "--only", "noise", "--fail-above", "25%").stdout
        assert "0 damaged" in done(*fast, "--only", "noise", "--min-strength", "0.9").stdout
        assert "1 damaged" in done(*fast, "--min-strength", "noise=0.9,blocks=3").stdout


def test_killed_it_goes_on(mine, monkeypatch):
    """Nothing is lost or done twice; of pictures that changed or are gone the line goes, too."""
    real, calls = picture_folder.diagnose, list[int]()

    def dies(*arguments: object) -> object:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*arguments)

    fast = "diagnose", mine, "--out", "out", "--fast"
    monkeypatch.setattr(picture_folder, "diagnose", dies)
    assert run_dga(*fast).exit_code != 0
    first = Path("out/lines.jsonl").read_text()
    assert first.count("\n") == 2
    with Path("out/lines.jsonl").open("a") as file:
        file.write('{"path": "dog/blo')  # as a kill may leave it, and a file that is not whole
    half = Path("out/.0123456789abcdef.part")
    half.touch()
    run_dga(*fast)
    assert not half.exists()
    assert len(calls) == 3 + 2  # the torn one is never diagnosed
    assert Path("out/lines.jsonl").read_text().startswith(first)
    assert len(read_lines("out")) == 5
    os.utime(mine / "cat/fine.png", (1e9, 1e9))
    (mine / "dog/blocks.png").unlink()
    run_dga(*fast)
    assert len(calls) == 6
    assert "dog/blocks.png" not in read_lines("out")


def test_odd_names_stand_in_every_file_of_the_report(mine):
    names = [b"caf\xe9.png", b"a\nb.png", b'"q",;.png', b"=1+1.png"]
    for name in names:
        path = Path(os.fsdecode(os.fsencode(mine / "dog") + b"/" + name))
        path.write_bytes((mine / "cat/noisy.png").read_bytes())
    Path(os.fsdecode(os.fsencode(mine / "dog") + b"/torn\n\x1b[2J\xe9.png")).write_bytes(b"torn")
    said = run_dga("diagnose", mine / "dog", "--out", "out", "--fast")
    (skipped,) = (line for line in said.stderr.splitlines() if line.startswith("Skipped"))
    assert r"torn\n\x1b[2J\udce9.png: This file is not" in skipped
    assert {os.fsencode(path) for path in read_lines("out")} >= set(names)
    with Path("out/diagnoses.csv").open(newline="") as file:
        assert len([*csv.DictReader(file)]) == len(names) + 4
    assert Path("out/report.html").read_text().count("<img") == len(names) + 1


@pytest.mark.usefixtures("_commands_load_choosy_models")
def test_repair_of_exactly_these(mine):
    """Damaged pictures alone, at their own paths; nothing leaves the folder, and none is redone."""
    (mine / "dog/torn.jpg").unlink()
    before = {path: path.read_bytes() for path in mine.rglob("*.png")}
    command = "diagnose", mine, "--out", "out", "--fast", "--repair"
    done(*command, "--only", "blocks")
    assert [p.name for p in Path("out/repaired").rglob("*.png")] == ["blocks.png.png"]
    done(*command)
    repaired = {str(path.relative_to("out/repaired")) for path in Path("out").rglob("*.png.png")}
    assert repaired == {"cat/noisy.png.png", "dog/blocks.png.png"}
    written = {path: path.stat().st_mtime_ns for path in Path("out/repaired").rglob("*.png")}
    done(*command)
    assert {path: path.stat().st_mtime_ns for path in written} == written
    assert {path: path.read_bytes() for path in mine.rglob("*.png")} == before
    assert "another configuration" in refused("diagnose", mine, "--out", "out")
    with zipfile.ZipFile("slip.zip", "w") as archive:
        archive.write(mine / "cat/noisy.png", "../../../noisy.png")
    done("diagnose", "slip.zip", "--out", "deep/er/out", "--fast", "--repair")
    assert {p.relative_to("deep/er").parts[0] for p in Path().rglob("deep/er/**/*.png")} == {"out"}


def test_what_is_refused_is_one_sentence(mine, tmp_path):
    (tmp_path / "empty/deeper").mkdir(parents=True)
    (tmp_path / "notes.csv").write_text("a")
    fast = "--fast", "--out", "out"
    assert "holds no pictures" in refused("diagnose", "empty", *fast)
    assert "neither a folder" in refused("diagnose", "notes.csv", *fast)
    assert "neither a folder" in refused("diagnose", "nowhere", *fast)
    assert "the pictures themselves" in refused("diagnose", mine, "--fast", "--out", mine)
    assert "Unknown kind 'fog'" in refused("diagnose", mine, *fast, "--only", "fog")
    for strength in ("0.1", "noise=-1", "noise=nan", "noise="):
        assert "looks like" in refused("diagnose", mine, *fast, "--min-strength", strength)
    assert "looks like 5%" in refused("diagnose", mine, *fast, "--fail-above", "many")
    assert "asks no network" in refused("diagnose", mine, *fast, "--classifier", "resnet18")
    assert "leave it out" in refused("diagnose", mine, *fast, "--address", "auto", "--jobs", "2")
    assert "one precision" in refused("diagnose", mine, "--out", "out", "--address", "auto")
    for other in ("up/a.png", "/../a.png"):  # would be written over the first one's result
        Path("list.txt").write_text(f"../a.png\n{other}")
        assert "would have one result" in refused("diagnose", "list.txt", *fast)
    assert not Path("out").exists()
    done("diagnose", mine / "cat", "--fast", "--out", mine / "cat/out")  # not looked into
    done("diagnose", mine / "cat", "--fast", "--out", mine / "cat/out")
    assert len(read_lines(mine / "cat/out")) == 2
    assert "holds other files" in refused("diagnose", mine, "--fast", "--out", tmp_path)
    beside = run_dga("diagnose", mine / "cat", "empty", "--fast", "--out", "beside")
    assert (beside.exit_code, len(read_lines("beside"))) == (1, 2)
    assert "empty: It holds no pictures" in beside.stderr


def test_labels_say_what_was_found(mine):
    """Of known damage: kinds, how well it is told from undamaged pictures, and its strength."""
    rows = ["path,corruption,strength,guess", "dog/<b>&.png,clean,0,9", "cat/fine.png,clean,0,8"]
    image = np.asarray(Image.open(mine / "cat/fine.png"))
    for name, strength, guess in (("a", 2, 8.5), ("b", 4, 4), ("c", 6, 6), ("d", 6, 5)):
        Image.fromarray(add_noise(image, 12.75 * strength)).save(mine / f"{name}.png")
        rows.append(f"{name}.png,noise,{strength / 10},{guess}")
    Path("labels.csv").write_text("\n".join(rows))
    assert "out holds no diagnoses" in refused("judge-diagnoses", "out", "labels.csv")
    run_dga("diagnose", mine, "--out", "out", "--fast")
    said = run_dga("judge-diagnoses", "out", "labels.csv").stdout
    header, noise = (
        next(line for line in said.splitlines() if line.startswith(f"| {word}")).split(" | ")
        for word in ("corruption", "noise")
    )
    cells = dict(zip(header, noise, strict=True))
    assert (cells["noise"], cells["right"], cells["AUC"], cells["Spearman"]) == (
        "4", "4", "1.00", "1.00",
    )  # fmt: skip
    assert 0 < float(cells["error |"].rstrip(" |")) < 0.3
    written = json.loads(Path("out/labelled.json").read_text())
    found = {row["corruption"]: (row["damaged"], row["pictures"]) for row in written["found"]}
    assert found == {"clean": (0, 2), "noise": (4, 4)}
    guesses = {row["strength"]: (row["AUC"], row["guess"]) for row in written["separation"]}
    assert guesses == {"all": (1.0, 0.875), "0.6": (1.0, 1.0)}
    assert [row["explainer"] for row in written["separation"]] == [1.0, 1.0]
    assert [row["Laplacian"] for row in written["separation"]] == [1.0, 1.0]
    assert (written["networks"], str(mine) in written["command"]) == (False, False)
    Path("labels.csv").write_text("path,strength\na.png,3")
    assert "no column corruption" in refused("judge-diagnoses", "out", "labels.csv")


@pytest.mark.slow
@pytest.mark.parametrize("others", [("--jobs", "2"), ("--address", "local")])
def test_processes_and_machines_give_the_same_lines(mine, others):
    """Where paths begin in the folder of whoever gave the command; and so they go on."""
    if "--address" in others:
        pytest.importorskip("ray")
    run_dga("diagnose", "mine", "--out", "one", "--fast")
    run_dga("diagnose", "mine", "--out", "two", "--fast", *others)
    assert read_lines("one") == read_lines("two")
    lines = Path("two/lines.jsonl").read_text().splitlines(keepends=True)
    done_before = "".join([line for line in lines if "error" not in line][:2])
    Path("two/lines.jsonl").write_text(done_before)
    run_dga("diagnose", "mine", "--out", "two", "--fast", *others)
    assert Path("two/lines.jsonl").read_text().startswith(done_before)
    assert read_lines("one") == read_lines("two")
