"""Source-only: the frozen classifier on the picture as it came."""

from __future__ import annotations

import time
from dataclasses import dataclass

from dga.methods.batch import Batch
from dga.methods.protocol import Outcome
from dga.networks.classifier import predict_proba
from dga.networks.models import Models


@dataclass(frozen=True)
class SourceSettings:
    """There are none."""


@dataclass(frozen=True)
class Source:
    """No adaptation."""

    models: Models
    settings: SourceSettings = SourceSettings()

    def reset(self) -> None:
        """Nothing is learned."""

    def predict(self, batch: Batch) -> Outcome:
        begun = time.perf_counter()
        p = predict_proba(self.models.classifier, batch.x, self.models.profile.classifier).cpu()
        return Outcome.undiffused(p, time.perf_counter() - begun)
