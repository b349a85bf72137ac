"""The bench: what is timed and written."""

import dataclasses
import io

import pandas as pd
import pytest

from tests.fixtures.cli import done, refused, run_dga
from tests.fixtures.runs import OutOfMemory


def test_every_method_is_measured(tiny_models, monkeypatch):
    monkeypatch.setattr("dga.networks.models.load_models", lambda *a, **k: tiny_models)
    printed = done("bench", "--batches", "1,2").stdout
    assert printed.split()[:4] == ["method", "batch", "precision", "seconds"]
    table = pd.read_csv(io.StringIO(printed), sep=r"\s+")
    names = ["dda", "dga-guided", "dga-plus"]
    assert table[["method", "batch"]].to_numpy().tolist() == [[m, n] for n in (1, 2) for m in names]
    assert (table["seconds"] > 0).all()


def test_what_does_not_fit_is_said_in_a_sentence(tiny_models, monkeypatch):
    small = dataclasses.replace(tiny_models, denoiser=OutOfMemory())
    monkeypatch.setattr("dga.networks.models.load_models", lambda *a, **k: small)
    result = run_dga("bench", "--batches", "1")
    assert result.exit_code == 2
    assert "Memory ran out" in result.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--batches", "many"], "Batch sizes look like 0,10,20, not 'many'."),
        (["--batches", "0"], "whole numbers from 1 up"),
        (["--random", "--weights", "runs"], "leave --weights out"),
    ],
)
def test_the_command_refuses_in_a_sentence(options, sentence):
    assert sentence in refused("bench", *options)
