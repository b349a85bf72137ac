"""DDA, DiffPure, DGA and DGA + G: one method, told apart by its settings."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from dga.methods.batch import Batch
from dga.methods.protocol import Outcome
from dga.networks.classifier import predict_proba
from dga.networks.models import Models
from dga.profiles import GuidanceConfig, Profile, StoppingConfig
from dga.sampling import few_steps
from dga.stopping import check_tau


@dataclass(frozen=True)
class DiffusionSettings:
    """How deep, with what guidance, and whether the input is asked too.

    ``depth``: a fixed depth; without one, ``stopping`` decides for each picture.
    ``ensemble``: probabilities of input and reconstruction are averaged (DDA, section 3.3).
    ``steps``: at most so many, over some of the depths; without it, every depth.
    ``eta``: how random those few steps are, 0 (the default) to 1.
    """

    depth: int | None = None
    stopping: StoppingConfig | None = None
    guidance: GuidanceConfig | None = None
    ensemble: bool = False
    steps: int | None = None
    eta: float | None = None

    def __post_init__(self) -> None:
        if self.depth is None and self.stopping is None:
            raise ValueError("A diffusion method needs a fixed depth or a stopping rule.")


def diffusion_settings(profile: Profile) -> dict[str, DiffusionSettings]:
    """The systems of the paper's Table 1 that diffuse, by name.

    ``-ancestral``: every depth in turn. ``-published``: the settings of the papers (DDA: depth
    50 of 100, lambda 6 and self-ensemble; DiffPure: t = 0.15). The others were tuned for the
    profile.
    """
    tuned, ancestral = _tuned(profile), _tuned(profile.ancestral)
    published = GuidanceConfig(scale=6.0)
    return {
        "diffpure": DiffusionSettings(profile.diffpure_depth),
        "diffpure-published": DiffusionSettings(16),
        "dda-published": DiffusionSettings(50, None, published, ensemble=True),
        **tuned,
        **{f"{name}-ancestral": ancestral[name] for name in ("dda", "dga", "dga-guided")},
    }


def _tuned(profile: Profile) -> dict[str, DiffusionSettings]:
    guidance, dda = profile.guidance, profile.dda_guidance
    settings = {
        "dda": DiffusionSettings(profile.dda_depth, None, dda),
        "dda-ensemble": DiffusionSettings(profile.dda_depth, None, dda, ensemble=True),
        "dga": DiffusionSettings(None, profile.stopping),
        "dga-guided": DiffusionSettings(None, profile.stopping, guidance),
    }
    few = vars(profile.sampling) if profile.sampling else {}
    return {name: replace(own, **few) for name, own in settings.items()}


@dataclass(frozen=True)
class Diffusion:
    """Noise the picture, denoise it, classify the result."""

    models: Models
    settings: DiffusionSettings

    def __post_init__(self) -> None:
        if self.settings.depth is not None:
            self.models.schedule.check_depth(self.settings.depth)
        if self.settings.stopping is not None:
            check_tau(self.settings.stopping.tau)
        few_steps(self.settings.steps, self.settings.eta)

    def reset(self) -> None:
        """Nothing is learned."""

    def predict(self, batch: Batch) -> Outcome:
        """Rebuild and classify; without a depth each picture halts at its own."""
        settings, n = self.settings, len(batch)
        if settings.depth is not None:
            depths, crossed, judging = [settings.depth] * n, [True] * n, [0.0] * n
        else:
            assert settings.stopping is not None
            stops, judging = batch.stops(settings.stopping)
            depths, crossed = [s.t_star for s in stops], [s.crossed for s in stops]
        sampler = few_steps(settings.steps, settings.eta)
        image, rebuilding = batch.rebuilt(depths, settings.guidance, sampler)
        begun = time.perf_counter()
        network, config = self.models.classifier, self.models.profile.classifier
        p = predict_proba(network, image, config)
        if settings.ensemble:
            p = (p + predict_proba(network, batch.x, config)) / 2
        p = p.cpu()
        reading = (time.perf_counter() - begun) / n
        seconds = [a + b + reading for a, b in zip(judging, rebuilding, strict=True)]
        return Outcome(p, seconds, depths, crossed, image)
