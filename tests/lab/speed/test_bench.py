"""The bench: the published way's own numbers, what is timed and written; what a wait is."""

import dataclasses
import io

import pandas as pd
import pytest
import torch

from dga.diffusion import ReverseProcess, draw_step_noise
from dga.guidance import low_pass
from dga.lab.speed.reference import PublishedSampler
from dga.networks.models import Models
from dga.profiles import GuidanceConfig
from tests.fixtures.cli import done, refused


@pytest.fixture(scope="module")
def loaded(tiny_models: Models) -> Models:
    """With named weights, as loaded ones have."""
    return dataclasses.replace(tiny_models, weights={"diffusion": "tiny"})


def test_the_published_way_without_guidance_is_our_mathematics(tiny_models, monkeypatch):
    x = torch.randn(1, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    *_, ours = ReverseProcess(tiny_models.schedule, tiny_models.denoiser).run(x, [3], [4])
    draws = iter([draw_step_noise(4, "reverse", depth, (3, 32, 32))[None] for depth in (3, 2, 1)])
    monkeypatch.setattr(torch, "randn_like", lambda like: next(draws))
    theirs = PublishedSampler(tiny_models).rebuild(x, 3, x, None)
    torch.testing.assert_close(theirs, ours.x, atol=1e-5, rtol=0)


def test_the_published_guidance_takes_one_norm_over_the_batch(tiny_models, monkeypatch):
    """Two equal pictures are each pulled by 1 / sqrt(2) of what one alone is."""
    monkeypatch.setattr(torch, "randn_like", torch.zeros_like)
    one = torch.randn(1, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    reference, published = torch.zeros(1, 3, 32, 32), PublishedSampler(tiny_models)
    config = GuidanceConfig(scale=4.0)
    free = published.rebuild(one, 1, reference, None)
    alone = published.rebuild(one, 1, reference, config)
    both = published.rebuild(one.repeat(2, 1, 1, 1), 1, reference.repeat(2, 1, 1, 1), config)
    torch.testing.assert_close((both - free)[0] * 2**0.5, (alone - free)[0], atol=1e-4, rtol=1e-3)
    assert low_pass(alone, 4).norm() < low_pass(free, 4).norm()
    assert all(p.requires_grad for p in published.network.parameters())


def test_every_task_is_measured_and_held_against_the_published_way(loaded, monkeypatch):
    monkeypatch.setattr("dga.networks.models.load_models", lambda *a, **k: loaded)
    options = "--against", "reference", "--batches", "1,2", "--steps", 1
    printed = done("bench", *options).stdout
    assert printed.split()[:6] == ["task", "batch", "way", "precision", "seconds", "faster"]
    table = pd.read_csv(io.StringIO(printed), sep=r"\s+", na_values="-")
    rows = {(row.task, row.batch, row.way): row for row in table.itertuples()}
    assert {task for task, *_ in rows} == {"unguided", "guided", "dga-guided", "dga-plus"}
    for (task, batch, _), row in rows.items():
        against = "guided" if task.startswith("dga") else task
        base = rows[against, batch, "published"]
        assert row.seconds > 0
        assert row.faster == pytest.approx(base.seconds / row.seconds, rel=0.1)


def test_what_does_not_fit_is_a_row_without_seconds(loaded, monkeypatch):
    def fail(*arguments: object) -> None:
        raise torch.OutOfMemoryError

    monkeypatch.setattr("dga.networks.models.load_models", lambda *a, **k: loaded)
    monkeypatch.setattr(PublishedSampler, "_take_guided_step", fail)
    options = "--against", "reference", "--batches", "1", "--steps", 1
    rows = [line.split() for line in done("bench", *options).stdout.splitlines()]
    assert ["guided", "1", "published", "float32", "-", "-"] in rows
    assert float(rows[1][4]) > 0  # the others are printed


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--against", "nothing"], "--against takes reference"),
        (["--batches", "many"], "Batch sizes look like 1,8,32, not 'many'."),
        (["--batches", "0"], "whole numbers from 1 up"),
    ],
)
def test_the_command_refuses_in_a_sentence(arguments, sentence, loaded, monkeypatch):
    monkeypatch.setattr("dga.networks.models.load_models", lambda *a, **k: loaded)
    assert sentence in refused("bench", *arguments)
