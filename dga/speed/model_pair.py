"""The bench's models: as this machine likes them best, and in float32."""

from __future__ import annotations

from pathlib import Path

from dga.networks.compute import Compute
from dga.networks.models import Models, load_models
from dga.profiles import get_profile
from dga.speed.workload import random_models
from dga.weights.sources import Sources


def load_pair(
    profile: str,
    weights: Path | None = None,
    device: str | None = None,
    precision: str = "auto",
    compiled: bool = False,
    random: bool = False,
) -> tuple[Models, Models]:
    """(at the chosen precision, in float32 by the reference's kernels).

    ``random``: with random weights instead of a profile's own. Raises ``ValueError``
    for unknown names and :class:`~dga.weights.checkpoints.WeightsError` for missing weights.
    """
    shape = get_profile(profile)
    chosen = Compute.choose(device, precision, compiled)
    exact = Compute.choose(device, "float32")
    first, second = (
        random_models(shape, compute) if random else load_models(shape, Sources(weights), compute)
        for compute in (chosen, exact)
    )
    return first, second
