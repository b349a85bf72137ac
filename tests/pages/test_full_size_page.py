"""The page with a profile of 256 px and 1,000 classes."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from app.demo import build
from app.pages.findings.exhibits import read_exhibits
from app.pages.findings.page import shipped_exhibits
from app.runs.run_state import RunState
from app.runs.run_value import run_value
from app.runs.session import Picture, Session
from dga.data.uploads import read_square
from dga.diffusion import Schedule
from dga.networks.classifier import build_classifier
from dga.networks.compute import Compute
from dga.networks.models import Models
from dga.networks.unet import Denoiser, Discriminator
from dga.pipeline import Adaptation
from dga.profiles import IMAGENET, StoppingConfig
from dga.record import to_record
from dga.request import Request
from tests.fixtures.models import TINY_NETWORK, randomise

NETWORK = dataclasses.replace(TINY_NETWORK, image_size=256, fold=8)


@pytest.fixture(scope="module")
def session() -> Session:
    """Untrained models that see 256 px and know ImageNet's classes."""
    profile = dataclasses.replace(
        IMAGENET,
        denoiser=NETWORK,
        discriminator=NETWORK,
        classifier=dataclasses.replace(
            IMAGENET.classifier, architecture="resnet10t", channels=(8, 8, 8, 8)
        ),
        stopping=StoppingConfig(max_depth=4),
        dda_depth=3,
    )
    torch.manual_seed(0)
    discriminator = randomise(Discriminator(NETWORK), 2)
    models = Models(
        profile=profile,
        schedule=Schedule.from_config(profile.schedule),
        denoiser=randomise(Denoiser(NETWORK), 1),
        discriminator=discriminator,
        explainer=discriminator,
        classifier=randomise(build_classifier(profile.classifier), 3),
        compute=Compute(torch.device("cpu"), torch.float32),
    )
    return Session(models)


def test_a_run_fills_the_page_and_the_record(session: Session) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (256, 256, 3), dtype=np.uint8)
    settings = Request(None, 3, 0.5, 0, 3)
    subject = Picture(pixels, session._classify(pixels))
    state = RunState(session.profile, settings, subject)
    for event in session.events(pixels, settings):
        state.take(event)
    assert isinstance(event, Adaptation)
    value = run_value(state)
    assert value["phase"] == "done"
    assert len(json.dumps(value)) < 4_000_000
    assert all(result["state"] == "done" for result in value["results"].values())
    record = to_record(event)
    assert len(record["input"]["top5"]) == 5
    assert {m["depth"] for m in record["methods"].values()} == {
        event.t_star, 3, event.explained.stop.t_star
    }  # fmt: skip


def test_all_pages_are_built_without_recorded_runs(
    session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    demo, opens, _ = build(session, read_exhibits(shipped_exhibits(session.profile)))
    assert "256 px" in str(demo.config)
    (photo,) = (content for content in opens.values() if b"strokes" in content)
    assert b"repaired" not in photo
    assert not any(b"t_star" in content for content in opens.values())  # of a run
    assert "recorded run" not in caplog.text


def test_uploads_are_read_at_its_size(session: Session, tmp_path: Path) -> None:
    Image.new("RGB", (300, 500), "red").save(tmp_path / "red.png")
    assert read_square(tmp_path / "red.png", session.profile.image_size).shape == (256, 256, 3)
