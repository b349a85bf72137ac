"""The command line: what it prints, and what it says when asked for the impossible."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dga.networks.models import Models
from tests.fixtures.cli import run_dga


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def photo(cat: np.ndarray, tmp_path: Path) -> Path:
    path = tmp_path / "cat.png"
    Image.fromarray(cat).resize((200, 150)).save(path)
    return path


def test_json_is_one_object_and_nothing_else(shipped_models: Models, photo: Path) -> None:
    """In a process of its own: nothing else may reach stdout."""
    root = Path(__file__).resolve().parents[2]
    options = (
        "--corruption gaussian_noise --severity 4 --methods dga,dda --dda-depth 6 --max-depth 5"
    )
    result = subprocess.run(
        [sys.executable, "-m", "dga", "adapt", photo, *options.split(), "--out", "out", "--json"],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("\n") == 1
    facts = json.loads(result.stdout)
    assert facts["corruption"] == "gaussian_noise"
    assert len(facts["confidence"]) == 101
    assert list(facts["methods"]) == ["dga", "dda"]
    assert facts["methods"]["dda"]["depth"] == 6
    assert facts["methods"]["dga"]["depth"] == facts["t_star"] > 0
    assert len(facts["methods"]["dga"]["top5"]) == 5
    for path in facts["pictures"].values():
        with Image.open(path) as image:
            assert image.size == (64, 64)
    assert set(facts["pictures"]) == {"clean", "input", "x_t_star", "dga", "dda"}


def test_text_says_what_happened(shipped_models: Models, photo: Path) -> None:
    result = run_dga("adapt", photo, "--methods", "dga", "--tau", 0.9)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[1].startswith("t* = ")
    assert Path("cat-adapted/dga.png").exists()


def test_steps_and_eta_reach_the_picture(shipped_models: Models, photo: Path) -> None:
    def dda(*options: object) -> tuple[int, bytes]:
        common = ("--methods", "dda", "--dda-depth", 6, "--max-depth", 1, "--out", "out", "--json")
        result = run_dga("adapt", photo, *common, *options)
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)["methods"]["dda"]["steps"], Path(
            "out/dda.png"
        ).read_bytes()

    usual, few, calm, every = (
        dda(),
        dda("--steps", 3),
        dda("--steps", 3, "--eta", 0),
        dda("--steps", "all"),
    )
    assert [steps for steps, _ in (usual, few, calm, every)] == [6, 3, 3, 6]
    assert len({picture for _, picture in (usual, few, calm, every)}) == 4


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--corruption", "rain"], "gaussian_noise, shot_noise"),
        (["--corruption", "fog", "--severity", "9"], "from 1 to 5"),
        (["--tau", "1.5"], "from 0 to 1"),
        (["--methods", "magic"], "dga, dga-guided, dda, dga-plus"),
        (["--dda-depth", "0"], "from 1 to 100"),
        (["--steps", "many"], "a whole number or all, not 'many'"),
        (["--steps", "0"], "at least one step, not 0"),
        (["--eta", "1.5"], "eta is a number from 0 to 1, not 1.5"),
        (["--eta", "nan"], "eta is a number from 0 to 1, not nan"),
        (["--steps", "all", "--eta", "1"], "say how many steps"),
        (["--methods", "dga-ancestral", "--eta", "1"], "say how many steps"),
        (["--profile", "everyday17"], "everyday16, imagenet"),
        (["--weights", "nowhere"], "Restore that folder"),
        (["--precision", "float8"], "auto, float32, bfloat16"),
    ],
)
def test_impossible_requests(photo: Path, arguments: list[str], sentence: str) -> None:
    result = run_dga("adapt", photo, *arguments)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    assert not result.stdout
    assert not Path("cat-adapted").exists()


def test_files_that_are_no_pictures(tmp_path: Path) -> None:
    (tmp_path / "words.png").write_text("not a picture")
    for name in ("words.png", "missing.png"):
        result = run_dga("adapt", tmp_path / name)
        assert result.exit_code == 2
        assert name in result.stderr
        assert result.stderr.count("\n") == 1


def test_a_folder_is_adapted_and_goes_on(
    shipped_models: Models, photo: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    photo.rename(folder / "cat.png")
    (folder / "torn.png").write_bytes(b"no picture")
    for _ in range(2):
        result = run_dga("adapt", folder)
        assert result.exit_code == 0, result.output
        assert "1 pictures: " in result.stdout
        assert "Skipped 1 pictures that could not be read: torn.png" in result.stderr
    assert (tmp_path / "mine-adapted" / "results.csv").read_text().count("\n") == 3
    refused = run_dga("adapt", folder, "--tau", 0.3)
    assert refused.exit_code == 2
    assert "--tau is for one picture" in refused.stderr
