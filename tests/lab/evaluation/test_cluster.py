"""Evaluation on many machines: the same lines, whoever dies. Ray's own tests need Ray."""

import dataclasses
import os
import pickle
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from dga.folders.records import Line
from dga.lab.evaluation import cluster
from dga.lab.evaluation.plan import Plan, choose_images
from dga.lab.evaluation.run import EvaluationResults, EvaluationWorker, Task, evaluate
from dga.lab.saved_weights import save_weights
from dga.networks.compute import Compute
from dga.networks.models import Models, load_models
from dga.profiles import Profile
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


@dataclass(frozen=True)
class Recipe:
    """Loads the models in ``root``; ``marker``: a file until which the first call is deadly."""

    profile: Profile
    root: Path
    marker: Path | None = None

    def load(self) -> Models:
        compute = Compute(torch.device("cpu"), torch.float32)
        models = load_models(self.profile, Sources(self.root), compute)
        if self.marker is None:
            return models
        deadly = _Deadly(models.discriminator, self.marker)
        return dataclasses.replace(models, discriminator=deadly)


@pytest.fixture(scope="module")
def recipe(tiny_profile: Profile, weights: Path, plan: Plan) -> EvaluationWorker:
    few = dataclasses.replace(plan, per_class=4)
    return EvaluationWorker(Recipe(tiny_profile, weights), METHODS, few)


@pytest.fixture(scope="module")
def wild(recipe: EvaluationWorker) -> EvaluationWorker:
    """The same of a stream in which all severities come."""
    stream = dataclasses.replace(recipe.plan, severity=5, stream="wild")
    return dataclasses.replace(recipe, plan=stream)


def _single(recipe: EvaluationWorker, out: Path) -> list[Line]:
    return _facts(evaluate(recipe, out, 2).lines)


@pytest.fixture(scope="module")
def whole(recipe: EvaluationWorker, tmp_path_factory: pytest.TempPathFactory) -> list[Line]:
    """What one machine alone finds."""
    return _single(recipe, tmp_path_factory.mktemp("single"))


def _facts(lines: list[Line]) -> list[Line]:
    """In one order, whoever was done first."""
    rows = [{k: v for k, v in line.items() if k != "seconds"} for line in lines]
    return sorted(rows, key=lambda row: (row["corruption"], row["path"], row["method"]))


@pytest.mark.parametrize(("kind", "streams"), [("recipe", 2), ("wild", 1)])
def test_tasks_in_order_give_the_single_machines_lines(kind, streams, request, tmp_path):
    """Of a mixed stream, too, which is shared out where a method does not keep its order."""
    recipe = request.getfixturevalue(kind)

    def run(function: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
        """The last first, each by a copy of the worker."""
        asked = list(tasks)
        long = [task for task in asked if isinstance(task, Task) and len(task.batches) > 1]
        assert len(long) == streams * isinstance(asked[0], Task)
        for task in reversed(asked):
            yield pickle.loads(pickle.dumps(function))(task)

    results = evaluate(recipe, tmp_path / "tasks", 2, run=run)
    assert _facts(results.lines) == _single(recipe, tmp_path / "alone")


def test_a_worker_that_differs_is_refused(recipe):
    setup = recipe.inspect()
    task, images = Task("fog", METHODS, ((0,),)), choose_images(recipe.plan, setup.profile)
    for change, words in (
        ({"weights": {**setup.weights, "classifier": "other"}}, "weights.classifier: other there"),
        ({"packages": {**setup.packages, "torch": "1.0"}}, "packages.torch: 1.0 there"),
        ({"precision": "bfloat16"}, "precision: bfloat16 there, float32 here"),
    ):
        with pytest.raises(ValueError, match=f"differs from the first one .*{words}"):
            recipe.measure(dataclasses.replace(setup, **change), images, task)


def test_without_ray_a_sentence_says_what_to_install(picture_folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    asked = "evaluate", "--data", picture_folder, "--out", tmp_path / "out", "--address", "local"
    assert "pip install -r requirements-cluster.txt" in refused(*asked)


def test_an_address_without_a_cluster_is_refused_at_once():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    pytest.importorskip("ray")
    said = rf"at 127.0.0.1:{port} cannot be joined .*ray start --head"
    with pytest.raises(ConnectionError, match=said), cluster.start_on_cluster(f"127.0.0.1:{port}"):
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


def _evaluate(worker: EvaluationWorker, out: Path, address: str) -> EvaluationResults:
    with cluster.start_on_cluster(address) as run:
        return evaluate(worker, out, 2, run=run)


@pytest.mark.slow
def test_two_machines_give_the_single_machines_file(
    machines, recipe, whole, tiny_profile, weights, tmp_path, monkeypatch
):
    """Where paths begin in the folder of whoever gave the command."""
    monkeypatch.chdir(weights)
    relative = dataclasses.replace(recipe, source=Recipe(tiny_profile, Path()))
    results = _evaluate(relative, tmp_path / "ray", machines.address)
    assert _facts(results.lines) == whole
    again = _evaluate(recipe, tmp_path / "ray", machines.address)
    assert again.lines == results.lines


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_loses_nothing(
    machines, recipe, whole, tiny_profile, weights, tmp_path
):
    marker = tmp_path / "killed"
    deadly = dataclasses.replace(recipe, source=Recipe(tiny_profile, weights, marker))
    results = _evaluate(deadly, tmp_path / "ray", machines.address)
    assert marker.exists()
    assert _facts(results.lines) == whole
