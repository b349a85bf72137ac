"""DGA+: the discriminator explains the damage, diffusion removes what is left. Ours."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from dga.methods.batch import Batch
from dga.methods.protocol import Outcome
from dga.networks.classifier import predict_proba, to_prediction
from dga.networks.models import Models
from dga.pipeline import rebuild_entered
from dga.profiles import PlusConfig
from dga.restoration import Entered, reenter


@dataclass(frozen=True)
class PlusSettings:
    """``config``: the profile's. The rest is for controls.

    ``permute``: pictures of a batch exchange their ``noise`` (entry k0 and t*), their ``depth``
    (t* beyond the entry) or their whole ``explanation``, in a fixed random order; ``batch``:
    how many pictures of the stream do so together; ``alternatives``: also classify what every
    candidate alone would make of the picture, for an oracle.
    """

    config: PlusConfig
    permute: Literal["none", "noise", "depth", "explanation"] = "none"
    batch: int | None = None
    alternatives: bool = False

    def __post_init__(self) -> None:
        if self.permute != "none" and self.batch is None:
            raise ValueError(
                f"permute={self.permute} needs batch=N: how many pictures exchange theirs."
            )


@dataclass(frozen=True)
class Plus:
    """Explain, enter the forward process, rebuild, classify."""

    models: Models
    settings: PlusSettings

    def reset(self) -> None:
        """Nothing is learned."""

    def predict(self, batch: Batch) -> Outcome:
        config, models, n = self.settings.config, self.models, len(batch)
        found, seconds = map(list, zip(*batch.entered(config), strict=True))
        if self.settings.permute != "none":
            found = self._permuted(batch, found)
        image, rebuilding = rebuild_entered(models, found, batch.seeds, config)  # [B, 3, S, S]
        begun = time.perf_counter()
        p = predict_proba(models.classifier, image, models.profile.classifier).cpu()
        reading = (time.perf_counter() - begun) / n
        details = [describe(entered) for entered in found]
        if self.settings.alternatives:
            for row, entered, x in zip(details, found, batch.x, strict=True):
                row["alternatives"] = self._alternatives(x, entered)
        return Outcome(
            p,
            [a + b + reading for a, b in zip(seconds, rebuilding, strict=True)],
            [entered.stop.t_star for entered in found],
            [entered.stop.crossed for entered in found],
            image,
            details,
        )

    def _permuted(self, batch: Batch, found: Sequence[Entered]) -> list[Entered]:
        """Each picture with what was found in one drawn from all of them, hardly ever itself."""
        order = torch.randperm(len(found), generator=torch.Generator().manual_seed(0)).tolist()
        return [
            reenter(self.models.schedule, x, seed, own, found[j], self.settings.permute)
            for x, seed, own, j in zip(batch.x, batch.seeds, found, order, strict=True)
        ]

    def _alternatives(self, x: Tensor, entered: Entered) -> list[str]:
        """Every label that some candidate's result gets, without sampling."""
        models = self.models
        candidates = {s.degradation for s in entered.explanation.scored}
        images = torch.stack([candidate.inverse(x) for candidate in candidates])
        config = models.profile.classifier
        probabilities = predict_proba(models.classifier, images, config)
        return sorted({to_prediction(row, config).label for row in probabilities.cpu()})


def describe(entered: Entered) -> dict[str, Any]:
    """What a result line tells of one picture."""
    found = entered.explanation
    return {
        "entry": found.entry,
        "degradation": str(found.degradation),
        "unchanged": entered.unchanged,
        "measured_noise": round(found.measured_noise, 4),
        "calls": found.calls,
    }
