"""Faults that a machine meets: each is said in a sentence, and nothing is lost or wrong."""

import dataclasses
import multiprocessing
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dga.adaptation import adapt
from dga.io.files import CHECKPOINT, LINES, lock_folder
from dga.lab.evaluation.run import EvaluationWorker, LoadedModels, evaluate
from dga.lab.saved_weights import save_weights
from dga.lab.training import loop
from dga.networks.classifier import predict
from dga.networks.compute import use_one_thread_in_forks
from dga.networks.models import Models
from dga.weights.checkpoints import WeightsError

FULL = Path("/dev/full")


class Spoilt(nn.Module):
    """A network that returns no numbers at its ``at``-th call."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network, self.at, self.calls = network, 0, 0

    def forward(self, x: Tensor, *rest: Tensor) -> Tensor:
        self.calls += 1
        answer = self.network(x, *rest)
        return answer * float("nan") if self.calls == self.at else answer


# A network returns no numbers


@pytest.mark.parametrize("name", ["denoiser", "discriminator", "classifier"])
def test_no_numbers_become_no_result(tiny_models, plan, tmp_path, name):
    """Whole batches before it are kept, and the rest is done once it is mended."""
    network = Spoilt(getattr(tiny_models, name))
    models = dataclasses.replace(tiny_models, **{name: network})
    worker = EvaluationWorker(LoadedModels(models), ("dga-guided", "dda"), plan)
    fog = dataclasses.replace(plan, corruptions=("fog",))
    evaluate(dataclasses.replace(worker, plan=fog), tmp_path, 2)
    network.at = network.calls + 1
    content = (tmp_path / LINES).read_bytes()
    assert content.count(b"\n") == 8
    with pytest.raises(FloatingPointError, match=r"Method d.* was stopped: .*is kept"):
        evaluate(worker, tmp_path, 2)
    assert (tmp_path / LINES).read_bytes() == content
    assert len(evaluate(worker, tmp_path, 2).lines) == 16


def test_weights_that_no_half_can_hold_are_not_saved(tmp_path):
    with pytest.raises(WeightsError, match="not numbers"):
        save_weights({"w": torch.tensor([70_000.0])}, tmp_path / "w", {})


# Disks


def checkpoint_at(path: Path, model: nn.Module, identity: Any) -> loop.Checkpoint:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return loop.Checkpoint(path, identity, {"model": model, "optimizer": optimizer})


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
def test_a_full_disk_keeps_the_last_checkpoint(tmp_path, monkeypatch):
    path = tmp_path / CHECKPOINT
    checkpoint = checkpoint_at(path, nn.Linear(300, 300), {})
    touch = Path.touch
    for number in (1, 2):
        with monkeypatch.context() as patch:  # what is to be written to lies on a full disk
            patch.setattr(Path, "touch", lambda self, **_: self.symlink_to(FULL))
            with pytest.raises(OSError, match=r"could not be written \(No space .*same command"):
                checkpoint.save(number)
        assert Path.touch is touch
        assert {file.name for file in tmp_path.iterdir()} <= {CHECKPOINT}
        checkpoint.save(number)
        assert checkpoint.resume() == number


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", {}, {"facts": 3}, {"facts": {}}])
def test_checkpoints_that_are_none(tmp_path, content):
    path = tmp_path / CHECKPOINT
    path.write_bytes(content) if isinstance(content, bytes) else torch.save(content, path)
    with pytest.raises(ValueError, match=r"cannot be resumed; delete it|belongs to another run"):
        checkpoint_at(path, nn.Linear(1, 1), {"model": "x"}).resume()


# Clocks, forks and neighbours


def _adapt(models: Models, pixels: np.ndarray) -> tuple[np.ndarray, int]:
    """The curve, and how many threads computed it."""
    return adapt(models, pixels).forward.logits, torch.get_num_threads()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.parametrize("threads", [1, 2])
def test_forked_workers_agree(tiny_models, pictures, threads):
    """OpenMP's threads are not forked: without care the worker waits for them for ever."""
    use_one_thread_in_forks()
    x, pixels = torch.zeros(64, 3, 32, 32), pictures[1]
    (expected, before), context = _adapt(tiny_models, pixels), multiprocessing.get_context("fork")
    answered, answer = context.Pipe(duplex=False)
    torch.set_num_threads(threads)
    try:
        predict(tiny_models.classifier, x, tiny_models.profile.classifier)  # starts the threads
        worker = context.Process(target=lambda: answer.send(_adapt(tiny_models, pixels)))
        worker.start()
        assert answered.poll(60), "the worker hangs"
        logits, used = answered.recv()
    finally:
        worker.kill()
        torch.set_num_threads(before)
    assert used == 1
    np.testing.assert_allclose(logits, expected, atol=1e-4)


def test_two_processes_do_not_write_at_once(tmp_path):
    folder = tmp_path / "new" / "run"
    with (
        lock_folder(folder),
        pytest.raises(ValueError, match="Another process"),
        lock_folder(folder),
    ):
        pass
