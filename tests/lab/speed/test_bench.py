"""The bench: what is timed and written."""

import dataclasses
import io

import pandas as pd
import pytest

from dga.networks.models import Models
from tests.fixtures.cli import done, refused
from tests.fixtures.runs import OutOfMemory


@pytest.fixture(scope="module")
def loaded(tiny_models: Models) -> Models:
    """With named weights, as loaded ones have."""
    return dataclasses.replace(tiny_models, weights={"diffusion": "tiny"})


def test_every_task_is_measured(loaded, monkeypatch):
    monkeypatch.setattr("dga.networks.models.load_models", lambda *a, **k: loaded)
    printed = done("bench", "--batches", "1,2").stdout
    assert printed.split()[:4] == ["task", "batch", "precision", "seconds"]
    table = pd.read_csv(io.StringIO(printed), sep=r"\s+")
    tasks = ["unguided", "guided", "dga-guided", "dga-plus"]
    assert table[["task", "batch"]].to_numpy().tolist() == [[t, n] for n in (1, 2) for t in tasks]
    assert (table["seconds"] > 0).all()


def test_what_does_not_fit_is_a_row_without_seconds(loaded, monkeypatch):
    small = dataclasses.replace(loaded, denoiser=OutOfMemory())
    monkeypatch.setattr("dga.networks.models.load_models", lambda *a, **k: small)
    rows = [line.split() for line in done("bench", "--batches", "1").stdout.splitlines()]
    assert ["guided", "1", "float32", "-"] in rows


@pytest.mark.parametrize(
    ("batches", "sentence"),
    [("many", "Batch sizes look like 0,10,20, not 'many'."), ("0", "whole numbers from 1 up")],
)
def test_the_command_refuses_in_a_sentence(batches, sentence, loaded, monkeypatch):
    monkeypatch.setattr("dga.networks.models.load_models", lambda *a, **k: loaded)
    assert sentence in refused("bench", "--batches", batches)
