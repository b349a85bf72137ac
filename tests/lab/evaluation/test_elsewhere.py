"""Evaluation on many machines: the same lines, whoever dies. Ray's own tests need Ray."""

import dataclasses
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from dga.folders.engines import connect, start_on_cluster
from dga.lab.evaluation.elsewhere import Worker, evaluate_elsewhere
from dga.lab.evaluation.plan import Plan, choose_images
from dga.lab.evaluation.results_file import ResultLine
from dga.lab.evaluation.run import Task, evaluate
from dga.lab.saved_weights import save_weights
from dga.networks.compute import Compute
from dga.networks.models import Models, load_models
from dga.profiles import Profile
from dga.systems import parse_all
from dga.weights.sources import Sources
from tests.fixtures.cli import refused

METHODS = ("source", "dga", "tent:batch=3")


@pytest.fixture(scope="module")
def weights(tiny_models: Models, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny models on disk, where every worker finds them."""
    root = tmp_path_factory.mktemp("weights")
    for name, network in (
        ("diffusion", tiny_models.denoiser),
        ("discriminator", tiny_models.discriminator),
        ("classifier", tiny_models.classifier),
    ):
        save_weights(network.state_dict(), root / "tiny" / name, {})
    return root


@dataclasses.dataclass(frozen=True)
class Source:
    """Loads the tiny models; with a ``marker`` those whose first process dies, and leaves it."""

    profile: Profile
    root: Path
    marker: Path | None = None

    def load(self) -> Models:
        compute = Compute(torch.device("cpu"), torch.float32)
        models = load_models(self.profile, Sources(self.root), compute)
        if self.marker is None:
            return models
        discriminator = _Deadly(models.discriminator, self.marker)
        return dataclasses.replace(models, discriminator=discriminator)


@pytest.fixture(scope="module")
def recipe(tiny_profile: Profile, weights: Path, plan: Plan) -> Worker:
    few = dataclasses.replace(plan, per_class=4)
    return Worker(Source(tiny_profile, weights), METHODS, few)


def _single(recipe: Worker, out: Path, batch: int = 2) -> list[ResultLine]:
    models = recipe.source.load()
    asked = parse_all(models.profile, recipe.methods)
    return _facts(evaluate(models, asked, recipe.plan, out, batch).lines)


@pytest.fixture(scope="module")
def whole(recipe: Worker, tmp_path_factory: pytest.TempPathFactory) -> list[ResultLine]:
    """What one machine alone finds."""
    return _single(recipe, tmp_path_factory.mktemp("single"))


def _facts(lines: list[ResultLine]) -> list[ResultLine]:
    """In one order, whoever was done first."""
    rows = [{k: v for k, v in line.items() if k != "seconds"} for line in lines]
    return sorted(rows, key=lambda row: (row["corruption"], row["path"], row["method"]))


@pytest.mark.parametrize("stream", [None, "wild"])
def test_tasks_of_others_give_the_single_machines_lines(stream, recipe, tmp_path):
    """Of a mixed stream, too, which is shared out where a method does not keep its order."""
    severity = recipe.plan.severity if stream is None else 5
    plan = dataclasses.replace(recipe.plan, severity=severity, stream=stream)
    worker = dataclasses.replace(recipe, plan=plan)
    results = evaluate_elsewhere(worker, map, tmp_path / "elsewhere", 2)
    assert _facts(results.lines) == _single(worker, tmp_path / "here")


def test_a_worker_that_differs_is_refused(recipe):
    setup = recipe.describe()
    task, images = Task("fog", METHODS, ((0,),)), choose_images(recipe.plan, setup.profile)
    job = task, task.take_batches(images)
    for change, words in (
        ({"weights": {**setup.weights, "classifier": "other"}}, "weights.classifier: other there"),
        ({"packages": {**setup.packages, "torch": "1.0"}}, "packages.torch: 1.0 there"),
        ({"precision": "bfloat16"}, "precision: bfloat16 there, float32 here"),
    ):
        with pytest.raises(ValueError, match=f"differs from the first one .*{words}"):
            recipe.measure(dataclasses.replace(setup, **change), job)


def test_without_ray_a_sentence_says_what_to_install(picture_folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    asked = "evaluate", "--data", picture_folder, "--out", tmp_path / "out", "--engine"
    assert "pip install -r requirements-cluster.txt" in refused(*asked, "ray")
    assert "Unknown engine 'dask'. Choose one of: local, ray." in refused(*asked, "dask")


def test_an_address_without_a_cluster_is_refused_at_once():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    pytest.importorskip("ray")
    said = rf"at 127.0.0.1:{port} cannot be joined .*ray start --head"
    with pytest.raises(ConnectionError, match=said), connect(f"127.0.0.1:{port}"):
        pass


# From here on with Ray itself: a head without CPUs and two machines, each with one CPU and
# what Ray takes for one GPU, so that a machine holds one worker.


@pytest.fixture(scope="module")
def machines() -> Iterator[Any]:
    reason = "ray is not installed: pip install -r requirements-cluster.txt"
    pytest.importorskip("ray", reason=reason)
    import ray
    from ray.cluster_utils import Cluster as Machines

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    made = Machines(initialize_head=True, head_node_args={"num_cpus": 0})
    for _ in range(2):
        made.add_node(num_cpus=1, num_gpus=1)
    made.wait_for_nodes()
    yield made
    made.shutdown()


class _Deadly(torch.nn.Module):
    """A network that kills its worker the first time it is called."""

    def __init__(self, network: torch.nn.Module, marker: Path) -> None:
        super().__init__()
        self.network, self.marker = network, marker

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        if not self.marker.exists():
            self.marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.network(x, time)


@pytest.mark.slow
def test_two_machines_give_the_single_machines_file(machines, recipe, whole, tmp_path):
    with start_on_cluster(machines.address) as run:
        results = evaluate_elsewhere(recipe, run, tmp_path / "ray", 2)
        again = evaluate_elsewhere(recipe, run, tmp_path / "ray", 2)
    assert _facts(results.lines) == whole
    assert again.lines == results.lines


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_loses_nothing(
    machines, recipe, whole, tiny_profile, weights, tmp_path
):
    marker = tmp_path / "killed"
    deadly = dataclasses.replace(recipe, source=Source(tiny_profile, weights, marker))
    with start_on_cluster(machines.address) as run:
        results = evaluate_elsewhere(deadly, run, tmp_path / "ray", 2)
    assert marker.exists()
    assert _facts(results.lines) == whole
