"""People's own folders: one thing cannot end them, and reruns go on."""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.fixtures.cli import done, refused, run_dga
from tests.fixtures.odd_pictures import odd_pictures
from tests.fixtures.rights import plain_rights

COMMANDS = ("repair", "adapt")
pytestmark = pytest.mark.usefixtures("_elsewhere", "_commands_load_choosy_models")


@pytest.fixture
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def picture(path: Path, seed: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 256, (36, 40, 3), dtype=np.uint8)
    with path.open("wb") as file:
        Image.fromarray(pixels).save(file, "PNG")
    return path


def results(out: Path) -> dict[str, Path]:
    """Repaired pictures by the path of what they were made of."""
    lines = [json.loads(line) for line in (out / "lines.jsonl").read_text().splitlines()]
    return {line["path"]: out / line["repaired"] for line in lines if "repaired" in line}


NAMES = [
    "a.png", "A.PNG", "blank .jpg", "two.dots.png", "-o.png", "ünï.png", "u\u0308.png",
    "日本.jpg", "\U0001f600.png", "new\nline.png", "quote'\".png", "tab\t.png", "%s{}.png",
    "a" * 247 + ".png", "a.png.png",
    "con.png", "~.png", "$HOME.png", "*.png", "[a].png", "\\.png", "deep/er/and/deeper/a.png",
]  # fmt: skip
LATIN = [b"caf\xe9.png", b"\xff\xfe.png", b"\x80" * 240 + b".png", b"dir\xe9/a.png"]


def test_names_of_every_encoding_and_length(tmp_path):
    folder = tmp_path / "mine"
    paths = [*map(os.fsencode, NAMES), *LATIN]
    for seed, name in enumerate(paths):
        picture(folder / os.fsdecode(name), seed)
    said = done("repair", folder, "--out", "out")
    assert f"{len(paths)} pictures: " in said.stdout
    files = results(tmp_path / "out")
    assert {os.fsencode(path) for path in files} == set(paths)
    assert len(set(files.values())) == len(paths)
    assert all(path.is_file() for path in files.values())
    assert f"{len(paths)} there already" in done("repair", folder, "--out", "out").stdout


def test_what_cannot_be_read_is_named_and_ends_nothing(tmp_path):
    folder = tmp_path / "mine"
    for number in range(3):
        picture(folder / f"good{number}.png", number)
    broken = {
        "torn.png": (folder / "good0.png").read_bytes()[:200],
        "words.jpg": b"words",
        "empty.gif": b"",
        "page.webp": b"<html>",
        "phone.heic": b"no",
        "tiny.png": odd_pictures()["PNG-grey-8"]()[0][:60],
    }
    broken["a" * 250 + ".png"] = b""
    for name, content in broken.items():
        (folder / name).write_bytes(content)
    for name in ("notes.txt", "drawing.svg", "no ending", ".DS_Store", "Thumbs.db", "._good0.png"):
        (folder / name).write_bytes(b"\0\5\x16\7" + bytes(99))
    (folder / "gone.png").symlink_to(folder / "nothing.png")
    broken["gone.png"] = b""
    (folder / "round").symlink_to(folder, target_is_directory=True)
    os.mkfifo(folder / "pipe.png")
    said = run_dga("repair", folder, "--out", "out")
    assert said.exit_code == 1
    assert set(results(tmp_path / "out")) == {"good0.png", "good1.png", "good2.png"}
    assert f"Skipped {len(broken)} pictures" in said.stderr
    assert all(name in said.stderr for name in broken)
    assert not any(name in said.stderr for name in ("notes", "Thumbs", "._good", "drawing"))
    for number in range(3):
        (folder / f"good{number}.png").unlink()
    said = run_dga("repair", folder, "--out", "none")
    assert said.exit_code == 2
    assert f"None of the {len(broken)} pictures" in said.stderr


def test_links_to_folders_are_followed_and_never_round(tmp_path):
    """Whatever links there are: to folders outside and inside, to each other, to what is above."""
    mine, other = tmp_path / "mine", tmp_path / "other"
    for number, path in enumerate((mine / "a.png", other / "b.png", other / "c/d.png")):
        picture(path, number)
    links = {
        mine / "train": other, mine / "again": other / "c", mine / "above": tmp_path,
        mine / "self": mine / "self", other / "back": mine, other / "c/round": other,
    }  # fmt: skip
    for link, target in links.items():
        link.symlink_to(target, target_is_directory=True)
    done("repair", mine, "--out", "out")
    found = {path.removeprefix("train/") for path in results(tmp_path / "out")}
    assert found >= {"a.png", "b.png"}
    assert len(results(tmp_path / "out")) <= 4
    assert any(path.endswith("d.png") for path in found)


def test_folders_without_rights(tmp_path):
    """One that cannot be read is named, and keeps its results; none is written where none may."""
    folder, locked = tmp_path / "mine", tmp_path / "locked"
    picture(folder / "a.png")
    picture(folder / "closed/b.png", 1)
    locked.mkdir()
    done("repair", folder)
    modes = {folder / "closed": 0, locked: 0o500}
    for path, mode in modes.items():
        path.chmod(mode)
    try:
        with plain_rights():
            said = run_dga("repair", folder)
            refusal = refused("repair", folder, "--out", locked / "out")
    finally:
        for path in modes:
            path.chmod(0o700)
    assert said.exit_code == 1
    assert "closed: Permission denied" in said.stderr
    assert set(results(tmp_path / "mine-repaired")) == {"a.png", "closed/b.png"}
    assert "locked/out could not be written (Permission denied)" in refusal


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_stops_at_once_and_loses_nothing(tmp_path, monkeypatch, number):
    folder = tmp_path / "mine"
    for i in range(4):
        picture(folder / f"{i}.png", i)
    real, written = Path.write_bytes, list[Path]()

    def fills(self: Path, content: bytes) -> int:
        written.append(self)
        if len(written) == 3:
            raise OSError(number, os.strerror(number))
        return real(self, content)

    monkeypatch.setattr(Path, "write_bytes", fills)
    said = run_dga("repair", folder, "--out", "out")
    assert said.exit_code == 2
    assert os.strerror(number) in said.stderr
    assert "could not be written" in said.stderr
    assert "could not be read" not in said.stderr
    assert len(written) == 3
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    before = results(tmp_path / "out")
    assert len(before) == 2
    done("repair", folder, "--out", "out")
    after = results(tmp_path / "out")
    assert len(after) == 4
    assert before.items() <= after.items()
    assert not list((tmp_path / "out").rglob("*.part"))


WAYS: dict[str, Callable[[Path], tuple[object, object]]] = {
    "dots": lambda f: (f, f / "x/../out"),
    "link": lambda f: (f, f.parent / "link/out"),
    "folder by a link": lambda f: (f.parent / "link", f / "out"),
}


@pytest.mark.parametrize("way", WAYS)
def test_results_are_never_taken_for_pictures(tmp_path, monkeypatch, way):
    folder = tmp_path / "mine"
    picture(folder / "a.png")
    (folder / "x").mkdir()
    (tmp_path / "link").symlink_to(folder, target_is_directory=True)
    monkeypatch.chdir(folder)
    asked, out = WAYS[way](folder)
    for _ in range(3):
        done("repair", asked, "--out", out)
    done("repair", asked, "--out", tmp_path / "other")
    assert set(results(folder / "out")) == {"a.png"}
    assert set(results(tmp_path / "other")) == {"a.png"}
    assert "holds the pictures themselves" in refused("repair", asked, "--out", folder)


def test_reruns_follow_the_folder(tmp_path):
    """Pictures that were removed and new ones; results that are gone."""
    folder, out = tmp_path / "mine", tmp_path / "out"
    for i in range(3):
        picture(folder / f"{i}.png", i)
    done("repair", folder, "--out", out)
    first = {path: result.read_bytes() for path, result in results(out).items()}
    (folder / "1.png").unlink()
    results(out)["2.png"].unlink()
    picture(folder / "new.png", 5)
    said = done("repair", folder, "--out", out)
    assert results(out)["2.png"].read_bytes() == first["2.png"]
    assert "3 pictures: " in said.stdout
    assert "1 there already" in said.stdout
    other = picture(tmp_path / "other/z.png", 7).parent
    assert "data: " in refused("repair", other, "--out", out)
    assert "holds other files" in refused("repair", folder, "--out", other)


@pytest.fixture
def moving(tmp_path: Path) -> Path:
    """Three frames: noise, one colour, noise."""
    path = tmp_path / "mine" / "moving.webp"
    path.parent.mkdir()
    rng = np.random.default_rng(0)
    frames = [Image.fromarray(rng.integers(0, 256, (40, 40, 3), np.uint8)) for _ in range(2)]
    frames.insert(1, Image.new("RGB", (40, 40), "teal"))
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=[40, 80, 120],
                   lossless=True)  # fmt: skip
    return path


# One picture


def test_all_frames_of_a_file_are_repaired(tmp_path, moving):
    said = done("repair", moving, "--json")
    facts = json.loads(said.stdout)
    assert (tmp_path / facts["file"]).suffix == ".webp"
    assert [frame["unchanged"] for frame in facts["frames"]] == [False, True, False]
    assert (facts["unchanged"], facts["lost"]) == (False, [])
    with Image.open(facts["file"]) as image:
        assert image.n_frames == 3
    told = done("repair", moving, "--out", "a.jpg").stdout
    assert "Not kept: 2 of its 3 frames" in told
    of_all = done("repair", moving, "--out", "a.png").stdout
    assert "Of 3 frames 2 were repaired" in of_all
    assert "Not kept" not in of_all
    with Image.open("a.png") as image:
        assert image.n_frames == 3


@pytest.mark.parametrize("command", COMMANDS)
def test_results_of_different_pictures_have_different_names(tmp_path, command):
    paths = [picture(tmp_path / folder / "i.png", seed) for seed, folder in enumerate("pqr")]
    few = ("--methods", "dga-plus") if command == "adapt" else ()
    for path in paths:
        done(command, path, *few)
    paths = sorted(tmp_path.glob("i-*"))
    assert len(paths) == 3
    contents = [p.read_bytes() if p.is_file() else (p / "input.png").read_bytes() for p in paths]
    assert len(set(contents)) == 3


def test_nothing_is_replaced_without_being_told(tmp_path):
    mine, other = picture(tmp_path / "a.png"), picture(tmp_path / "b.png", 1)
    before = mine.read_bytes(), other.read_bytes()
    for target in (mine, other, tmp_path / "x/../b.png"):
        (tmp_path / "x").mkdir(exist_ok=True)
        assert "is there already" in refused("repair", mine, "--out", target)
    assert (mine.read_bytes(), other.read_bytes()) == before
    assert "that --out names" in refused("repair", mine, "--overwrite")
    done("repair", mine, "--out", other, "--overwrite")
    named = picture(tmp_path / "pictures/input.png", 2)
    content = named.read_bytes()
    adapt = "adapt", named, "--methods", "dga-plus", "--out"
    assert run_dga(*adapt, named.parent).exit_code == 2
    assert named.read_bytes() == content
    for name in ("clean", "dga-plus"):  # whatever would be replaced, of those to be written
        kept = picture(tmp_path / f"{name}s/{name}.png", 3)
        content = kept.read_bytes()
        said = refused(*adapt, kept.parent, "--corruption", "fog")
        assert "holds the pictures of a run: name another with --out" in said
        assert kept.read_bytes() == content
    done(*adapt, "out")
    assert "holds the pictures of a run" in refused(*adapt, "out")


@pytest.mark.parametrize("name", ["there", "there/", "new", "new.xyz"])
def test_an_out_that_is_no_picture_names_one_that_would_be(tmp_path, name):
    mine = picture(tmp_path / "a.png")
    (tmp_path / "there").mkdir()
    said = refused("repair", mine, "--out", name)
    assert "''" not in said
    example = f"--out {Path('there') / 'a-repaired.png'}"
    assert (example in said) == name.startswith("there")
    assert ("ending" in said) == (name == "new")
    assert ("A picture is written as .png" in said) == name.startswith("new")
    if name.startswith("there"):
        done("repair", mine, *example.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_is_no_folder_for_results(tmp_path, command):
    mine = picture(tmp_path / "pictures" / "a.png")
    (tmp_path / "file").touch()
    photo = mine.parent if command == "repair" else mine
    assert "file is a file: name a folder" in refused(command, photo, "--out", tmp_path / "file")


def test_limits_for_strangers_do_not_bind_the_owner(tmp_path):
    """A TIFF of more bytes than the page takes."""
    path = tmp_path / "large.tif"
    Image.new("RGB", (3_000, 2_500), "teal").save(path)
    assert path.stat().st_size > 20 * 2**20
    done("adapt", path, "--methods", "dga-plus", "--out", "a")


@pytest.mark.parametrize(
    "arguments",
    [["repair", ""], ["adapt", ""], ["repair", "a.png", "--out", ""], ["repair", ".", "--out", ""],
     ["evaluate", "--data", "", "--out", "o"], ["train", "classifier", "--data", ".", "--out", ""]],
)  # fmt: skip
def test_nothing_is_no_folder(tmp_path, arguments):
    picture(tmp_path / "a.png")
    assert "is empty: name a file or a folder" in refused(*arguments)


def test_what_is_refused_leaves_no_trace(tmp_path):
    picture(tmp_path / "pics" / "dog" / "a.png")
    run = "evaluate", "--out", "out", "--methods", "source", "--data"
    assert "No pictures in" in refused(*run, tmp_path)
    assert "at least one picture" in refused(*run, "pics", "--batch", "0", "--split", "all")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.png", "dog", "pics"]
