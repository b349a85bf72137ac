"""A start: what is cheap is checked first, the page is shown, the models follow."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import tomllib
from pathlib import Path

import numpy as np
import pytest

from app.runs.session import Session
from dga.io.shipped import shipped
from dga.networks.models import ModelFiles, Models, find_models
from dga.pipeline import Adaptation, Event
from dga.request import Request
from dga.weights.checkpoints import WeightsError
from dga.weights.sources import Sources

ROOT = Path(__file__).resolve().parents[2]
HEAVY = (
    "cv2", "imagecorruptions", "matplotlib", "numba", "plotly", "scipy", "skimage.io", "sklearn",
    "sympy", "timm", "torch._dynamo", "torchvision",
)  # fmt: skip
SERVED = f"""
import json, sys
import app.demo
from app.runs.session import Session
sys.argv = ["app.py", "--host", "127.0.0.1"]
def waiting(session):
    print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))
    raise ValueError("That is all.")
Session.load_models = waiting
app.demo.main()
"""


def test_a_page_is_served_before_anything_heavy_is_imported() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SERVED], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert "Running on local URL" in done.stdout
    assert json.loads(done.stdout.splitlines()[-1]) == []
    # What fails while the page is shown ends it, as what fails before.
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "dga: That is all."
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("theirs", ["app.py", "app/__init__.py", "app/start.py"])
def test_the_command_starts_our_page_whoever_has_an_app(tmp_path: Path, theirs: str) -> None:
    """As an installation's program does, with a visitor's own folder first on the path."""
    (tmp_path / theirs).parent.mkdir(exist_ok=True)
    (tmp_path / theirs).write_text("raise SystemExit('theirs')")
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    module, function = scripts["dga-app"].split(":")
    path = os.pathsep.join(map(str, (tmp_path, ROOT)))
    done = subprocess.run(
        [sys.executable, "-c", f"from {module} import {function}; {function}()"],
        env=os.environ | {"PYTHONPATH": path, "GRADIO_SERVER_PORT": "none"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.stderr == "dga: GRADIO_SERVER_PORT is a number above 0, not 'none'.\n"


def test_altered_weights_are_told_before_they_are_loaded(tmp_path: Path) -> None:
    root = tmp_path / "weights"
    shutil.copytree(shipped("assets/weights"), root)
    Session.open("everyday16", Sources(root))
    path = root / "everyday16" / "classifier" / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(WeightsError, match="was altered"):
        Session.open("everyday16", Sources(root))
    path.unlink()
    with pytest.raises(WeightsError, match="is missing"):
        Session.open("everyday16", Sources(root))


def test_an_early_run_waits_for_the_models(
    tiny_models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ModelFiles, "load", lambda *_: tiny_models)
    session = Session(ModelFiles(tiny_models.profile, {}))
    size = tiny_models.profile.image_size
    pixels, asked = np.full((size, size, 3), 99, np.uint8), Request(None, 1, 0.5, 0, 1)
    events: list[Event] = []
    early = threading.Thread(target=lambda: events.extend(session.events(pixels, asked)))
    early.start()
    early.join(0.3)
    assert early.is_alive()
    assert not events
    session.load_models()
    early.join(60)
    *_, alone = Session(tiny_models).events(pixels, asked)
    assert isinstance(alone, Adaptation)
    assert isinstance(events[-1], Adaptation)
    assert np.array_equal(events[-1].search.logits, alone.search.logits)


def test_whoever_waits_learns_that_loading_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Models:
        raise WeightsError("They are of another network.")

    monkeypatch.setattr(ModelFiles, "load", fail)
    session = Session(find_models())
    for ask in (session.load_models, lambda: session.models):
        with pytest.raises(WeightsError, match="another network"):
            ask()
