"""Random draws of training, from the seed of the run and the step: a resumed run repeats them."""

import math

import numpy as np
import torch


def make_rng(seed: int, step: int) -> np.random.Generator:
    """The random generator of one step."""
    return np.random.default_rng([seed, step])


def make_torch_rng(rng: np.random.Generator) -> torch.Generator:
    """A CPU torch generator seeded from a NumPy one."""
    return torch.Generator().manual_seed(int(rng.integers(2**62)))


def draw_log(rng: np.random.Generator, low: float, high: float) -> float:
    """A number between ``low`` and ``high``, whose logarithm is uniform."""
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def choose_indices(count: int, batch: int, seed: int, step: int) -> np.ndarray:
    """Positions of the pictures of one batch, int64 ``[batch]``.

    Every picture comes once in each pass through all ``count``, and each pass is shuffled anew.
    """
    first = step * batch
    parts = []
    for epoch in range(first // count, (first + batch - 1) // count + 1):
        order = np.random.default_rng([seed, 2**32, epoch]).permutation(count)
        parts.append(order[max(first - epoch * count, 0) : first + batch - epoch * count])
    return np.concatenate(parts)
