"""The command line: what it prints, and what it says when asked for the impossible."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from dga.commands import app
from dga.io.shipped import ROOT
from dga.photograph import repair
from tests.fixtures.cli import done, refused


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_json_is_one_object_and_nothing_else(photo):
    """In a process of its own: nothing else may reach stdout."""
    asked = (
        "--profile everyday16 --corruption gaussian_noise --severity 4 "
        "--methods dga:max_depth=5,dda:depth=6 --out out --json"
    )
    result = subprocess.run(
        [sys.executable, "-m", "dga", "adapt", photo, *asked.split()],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("\n") == 1
    facts = json.loads(result.stdout)
    assert facts["corruption"] == "gaussian_noise"
    assert len(facts["confidence"]) == 101
    dga, dda = facts["methods"].values()
    assert list(facts["methods"]) == ["dga:max_depth=5", "dda:depth=6"]
    assert dda["depth"] == 6
    assert dga["depth"] == facts["t_star"] > 0
    assert len(dga["top5"]) == 5
    for path in facts["pictures"].values():
        with Image.open(path) as image:
            assert image.size == (64, 64)
    assert set(facts["pictures"]) == {"clean", "input", "x_t_star", *facts["methods"]}


@pytest.mark.usefixtures("_commands_load_choosy_models")
def test_text_says_what_happened(photo):
    result = done("adapt", photo, "--methods", "dga:tau=0.9")
    assert result.stdout.startswith("t* = ")
    assert Path("cat-adapted/dga,tau=0.9.png").exists()
    assert json.loads(Path("cat-adapted/adapted.json").read_text())["methods"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--corruption", "hail"], "gaussian_noise, shot_noise"),
        (["--methods", "magic"], "Known: source, diffpure"),
        (["--corruption", "fog", "--severity", "9"], "from 1 to 5"),
        (["--severity", "2"], "--severity is a corruption's: name one"),
        (["--profile", "everyday17"], "Known profiles: photo, everyday16, imagenet"),
        (["--weights", "nowhere"], "Weights of everyday16 are missing: the diffusion model"),
        (["--precision", "float8"], "auto, float32, bfloat16"),
    ],
)
def test_impossible_requests(photo, arguments, sentence):
    assert sentence in refused("adapt", photo, *arguments)
    assert not Path("cat-adapted").exists()


def test_where_an_error_comes_from_is_shown_on_demand(photo, monkeypatch):
    monkeypatch.setenv("DGA_TRACEBACK", "1")
    with pytest.raises(ValueError, match="name one with --corruption"):
        CliRunner().invoke(app, ["adapt", str(photo), "--severity", "9"], catch_exceptions=False)


def test_a_folder_is_no_picture(tmp_path):
    assert "dga repair takes folders" in refused("adapt", tmp_path)
    assert "--json is for one picture." in refused("repair", tmp_path, "--json")


@pytest.mark.usefixtures("_commands_load_choosy_models")
def test_a_photograph_is_repaired_at_its_size(choosy_models, tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (40, 90, 3), dtype=np.uint8)
    Image.fromarray(pixels).save("photo.png")
    facts = json.loads(done("repair", "photo.png", "--out", "out.jpg", "--json").stdout)
    size = facts["width"], facts["height"]
    assert size == Image.open("out.jpg").size == (90, 40)
    assert 0 <= facts["noise"] <= 2
    assert facts["depths"]["least"] <= facts["depths"]["median"] <= facts["depths"]["largest"]
    assert set(facts) == {
        "width", "height", "unchanged", "mended", "undone", "found", "noise", "depths",
        "seconds", "lost", "file",
    }  # fmt: skip
    done("repair", "photo.png")
    written = np.asarray(Image.open("photo-repaired.png"))
    assert np.array_equal(written, repair(pixels, choosy_models))
