"""The bench: the published way's own numbers, what is timed, counted and written."""

import csv
import dataclasses
import json
import time

import numpy as np
import pytest
import torch

from dga.diffusion import reverse, step_noise
from dga.guidance import low_pass
from dga.networks.models import Models
from dga.profiles import GuidanceConfig
from dga.speed import measure, timing
from dga.speed.reference import PublishedSampler
from dga.speed.timing import TimingPlan
from dga.speed.workload import random_models
from tests.fixtures.cli import done, refused

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def known(tiny_models: Models) -> Models:
    """With named weights, as loaded ones have."""
    return dataclasses.replace(tiny_models, weights={"diffusion": "tiny"})


@pytest.fixture(scope="module")
def report(known: Models) -> measure.BenchReport:
    plan = TimingPlan(batches=(1, 2), steps=4, timed=1, repeats=1)
    return measure.bench(known, plan)


def test_the_published_way_without_guidance_is_our_mathematics(tiny_models, monkeypatch):
    x = torch.randn(1, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    *_, ours = reverse(tiny_models.schedule, tiny_models.denoiser, x, [3], [4])
    draws = iter([step_noise(4, "reverse", depth, (3, 32, 32))[None] for depth in (3, 2, 1)])
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


def test_every_task_is_measured_both_ways(report):
    by_task: dict[str, set[str]] = {}
    for row in report.rows:
        by_task.setdefault(row.task, set()).add(row.way)
        assert row.seconds > 0
        assert (row.memory or 1) > 0
    options = {"12 steps", "gradient not through the network"}
    assert by_task["curve"] == {"ours"}
    assert by_task["unguided"] == {"ours", "published", "the network alone", "12 steps"}
    assert by_task["guided"] >= {"ours", "published", "the network alone", *options}
    assert by_task["dda"] == {"ours", "published"}
    assert by_task["dga-guided"] == {"ours", "ancestral"}
    assert by_task["dga-plus"] == {"ours"}
    assert {row.batch for row in report.rows} == {1, 2}


def test_ratios_are_of_the_rows_themselves(report):
    seconds = {(r.task, r.batch, r.way): r.seconds for r in report.rows}
    for row in report.rows:
        against = "dda" if row.task in ("dga-guided", "dga-plus") else row.task
        base = seconds.get((against, row.batch, "published"))
        assert (row.faster is None) == (base is None)
        if base:
            assert row.faster == pytest.approx(base / row.seconds)
    shares = [row.networks for row in report.rows if row.networks is not None]
    assert len(shares) == 4
    assert min(shares) > 0


def test_files_say_what_the_table_says(report, tmp_path):
    text = measure.to_text(report)
    head = "task batch way precision s an image networks memory faster"
    assert text.splitlines()[0].split() == head.split()
    assert len(text.splitlines()) > len(report.rows)
    table, facts = measure.write(report, tmp_path, "python -m dga bench")
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["seconds"]) for row in rows] == [row.seconds for row in report.rows]
    content = json.loads(facts.read_text())
    assert content["command"] == "python -m dga bench"
    assert len(content["rows"]) == len(rows)


def test_turns_are_taken_in_alternating_order_and_the_best_counts():
    order: list[str] = []
    pauses = iter([0.3, 0.0, 0.0, 0.0])

    def work(name: str) -> None:
        order.append(name)
        time.sleep(next(pauses))

    best = timing.best_seconds({"a": lambda: work("a"), "b": lambda: work("b")}, 2, CPU)
    assert order == ["a", "b", "b", "a"]
    assert best["a"] < 0.3


def test_a_long_run_is_not_repeated_and_the_bar_still_ends():
    runs: list[str] = []
    shares: list[float] = []

    def work(name: str, pause: float) -> None:
        runs.append(name)
        time.sleep(pause)

    works = {"long": lambda: work("long", 0.2), "short": lambda: work("short", 0.0)}
    timing.best_seconds(works, 3, CPU, enough=0.1, done=shares.append)
    assert runs == ["long", "short", "short", "short"]
    assert sum(shares) == pytest.approx(1)


def test_peak_memory_sees_what_one_run_takes():
    small = timing.peak_bytes(lambda: None, CPU)
    large = timing.peak_bytes(lambda: np.ones(256 << 20, dtype=np.uint8).sum(), CPU)
    assert large > small + (200 << 20)


def test_random_models_have_the_shape(tiny_models):
    made = random_models(tiny_models.profile, tiny_models.compute)
    assert not made.weights
    found = measure.bench(made, TimingPlan((1,), 2, 1, 1, against=False))
    assert {row.task for row in found.rows} == {"curve", "unguided", "guided", "dda"}
    assert all(row.faster is None for row in found.rows)


def test_impossible_plans_are_sentences():
    with pytest.raises(ValueError, match="whole numbers from 1 up"):
        TimingPlan(batches=(0,))
    with pytest.raises(ValueError, match="from 1 to 50, not 60"):
        TimingPlan(timed=60)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--against", "nothing"], "--against takes reference"),
        (["--batches", "many"], "Batch sizes look like 1,8,32, not 'many'."),
        (["--batches", ""], "Batch sizes look like 1,8,32, not ''."),
        (["--precision", "float8"], "auto, float32, bfloat16, float16"),
        (["--profile", "everyday17"], "everyday16, imagenet"),
    ],
)
def test_the_command_refuses_in_a_sentence(arguments, sentence):
    assert sentence in refused("bench", *arguments)


@pytest.mark.parametrize(
    ("options", "plan"),
    [
        ([], {"batches": (1, 8, 32), "timed": 2, "repeats": 3, "enough": 3.0}),
        (["--thorough"], {"batches": (1, 8, 32), "timed": 10, "repeats": 3, "enough": None}),
        (["--thorough", "--timed", "5", "--batches", "2"], {"batches": (2,), "timed": 5}),
        (["--repeats", "4"], {"timed": 2, "repeats": 4, "enough": None}),
        (["--steps", "1"], {"steps": 1, "timed": 1, "against": False}),
    ],
)
def test_the_default_is_short_and_what_is_named_wins(options, plan, known, monkeypatch):
    asked: list[TimingPlan] = []

    def stop(models: Models, plan: TimingPlan, reference: Models) -> None:
        asked.append(plan)
        raise ValueError("enough")

    monkeypatch.setattr("dga.networks.models.load_models", lambda *a: known)
    monkeypatch.setattr(measure, "bench", stop)
    assert refused("bench", *options) == "dga: enough\n"
    assert dataclasses.asdict(asked[0]).items() >= plan.items()


def test_the_command_prints_the_table(tmp_path, known, monkeypatch):
    monkeypatch.setattr("dga.networks.models.load_models", lambda *a: known)
    options = "--against reference --batches 1 --steps 2 --timed 1 --repeats 1"
    result = done("bench", *options.split(), "--out", tmp_path)
    assert result.stdout.startswith("task")
    assert "dga-guided, batch 1: " in result.stderr
    assert (tmp_path / "bench.csv").exists()
    assert (tmp_path / "bench.json").exists()
