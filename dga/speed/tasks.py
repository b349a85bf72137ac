"""The pieces of work that are timed, ours and the published way's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import torch

from dga.diffusion import ANCESTRAL, Sampler, forward_path
from dga.discriminator import curve
from dga.methods import Batch, build_method
from dga.networks.classifier import predict_proba
from dga.pipeline import rebuild
from dga.profiles import GuidanceConfig
from dga.sampling import FewSteps
from dga.speed.reference import Published
from dga.speed.workload import Subject

Work = Callable[[], object]
Task = Literal["curve", "unguided", "guided", "dda", "dga-guided"]
FEW = FewSteps(12, eta=1.0)
"""The few-step option."""


def judging(subject: Subject) -> Work:
    """The discriminator at every depth 0...T of each picture."""
    models, paths = subject.models, list(subject.paths())
    return lambda: [curve(models.schedule, models.discriminator, path) for path in paths]


def rebuilding(
    subject: Subject,
    steps: int,
    guidance: GuidanceConfig | None,
    sampler: Sampler = ANCESTRAL,
) -> Work:
    """Reverse diffusion of the whole batch from depth ``steps``."""
    x = subject.noised(steps)  # [B, 3, S, S]
    depths = [steps] * subject.count
    return lambda: rebuild(subject.models, x, subject.x, depths, subject.seeds, guidance, sampler)


def publishing(
    published: Published, subject: Subject, steps: int, guidance: GuidanceConfig | None
) -> Work:
    """The same the published way."""
    x = subject.noised(steps)
    return lambda: published.rebuild(x, steps, subject.x, guidance)


def passing(subject: Subject, steps: int, guided: bool) -> Work:
    """The denoiser alone, as often as ``steps`` steps ask it."""
    models = subject.models
    time = models.schedule.time[[steps] * subject.count].to(models.device)
    start = subject.noised(steps)

    def work() -> None:
        for _ in range(steps):
            with torch.set_grad_enabled(guided):
                x = start.detach().requires_grad_(guided)
                output = models.denoiser(x, time)
            if guided:
                torch.autograd.grad(output[:, :3].sum(), x)

    return work


def ends(subject: Subject, published: Published | None = None) -> Work:
    """What a fixed depth costs besides its steps: noising and reading the result."""
    models = subject.models

    def work() -> None:
        if published:
            published.noised(subject.x, models.profile.dda_depth)
        else:
            for seed, x in enumerate(subject.x):
                forward_path(models.schedule, x, seed)
        predict_proba(models.classifier, subject.x, models.profile.classifier).cpu()

    return work


def adapting(subject: Subject, spec: str) -> Work:
    """A method of the bench from the picture to the label, nothing known beforehand."""
    method = build_method(subject.models, spec)
    return lambda: method.predict(Batch(subject.models, subject.x, subject.seeds))


def detached(guidance: GuidanceConfig) -> GuidanceConfig:
    """The same guidance without the gradient through the network."""
    return replace(guidance, through_network=False)
