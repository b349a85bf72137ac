"""On hosts that lend a GPU a run borrows it for its length; elsewhere nothing changes."""

from types import SimpleNamespace

from app.runs import models as running


class Movable:
    """Models that note where they were moved."""

    def __init__(self, device="cpu"):
        self.device = device

    def to(self, device):
        return Movable(str(device))


def steps(models, count):
    yield from (f"{models.device} {n}" for n in range(count))


def test_without_lending_steps_are_as_they_are():
    assert list(running.lend_gpu(steps, Movable())(2)) == ["cpu 0", "cpu 1"]


def test_a_run_borrows_the_gpu_and_the_page_keeps_its_processor(monkeypatch):
    durations = []

    def lend(duration):
        durations.append(duration)
        return lambda function: function

    monkeypatch.setattr(running, "LENDS_GPUS", True)
    monkeypatch.setattr(running, "spaces", SimpleNamespace(GPU=lend), raising=False)
    models = Movable()
    assert list(running.lend_gpu(steps, models)(2)) == ["cuda 0", "cuda 1"]
    assert durations == [running.GPU_SECONDS]
    assert models.device == "cpu"
