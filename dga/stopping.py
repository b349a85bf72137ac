"""The stopping rule: from a confidence curve to the depth t* at which the forward process stops.

The threshold tau is the paper's (section 3.2). The deepest depth and the horizon, beyond which a
picture is given up, are our additions.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dga.profiles import StoppingConfig


@dataclass(frozen=True)
class Stop:
    """The depth at which a picture's forward process stops, and why."""

    t_star: int
    """The depth, 0...T; 0 for a picture that is given up."""
    is_crossed: bool
    """Whether the confidence at t* is below tau; True where the depth is fixed."""
    has_given_up: bool = False
    """Whether no depth up to the horizon is below tau, so that the picture is left as it is."""


def compute_confidence(logits: ArrayLike) -> NDArray[np.float64]:
    """Compute the sigmoid of each logit, in [0, 1]; the shape stays."""
    z = np.asarray(logits, dtype=np.float64)
    return 0.5 * (1.0 + np.tanh(0.5 * z))


def choose_depth(logits: ArrayLike, config: StoppingConfig) -> Stop:
    """Choose the first depth at which a picture passes for source data. (Section 3.2 of the paper.)

    ``logits``: the discriminator's, ``[T + 1]`` or fewer, from depth 0 on; depths count from where
    the picture enters the forward process, above 0 where it is noisy already. A depth passes if its
    confidence is below tau; equal to tau is not below.

    - Depth 0 passes: t* = 0, crossed.
    - No depth in 0...max_depth passes: t* = max_depth, not crossed.
    - There is a horizon, and no depth up to it passes: t* = 0, not crossed, given up.

    Raises ``ValueError`` for a curve that is empty or not finite.
    """
    curve = np.asarray(logits, dtype=np.float64)  # [T + 1]
    if curve.size == 0 or not np.isfinite(curve).all():
        raise ValueError("The confidence curve is empty or holds values that are not finite.")
    is_below = compute_confidence(curve) < config.tau
    stop = _find_first(is_below, config.max_depth)
    if config.horizon is None or _find_first(is_below, config.horizon).is_crossed:
        return stop
    return Stop(0, is_crossed=False, has_given_up=True)


def is_decided(logits: NDArray[np.float64], config: StoppingConfig) -> bool:
    """Whether the first depths of a curve suffice: the rest of it would not change the stop.

    ``logits``: those of the first K depths, ``[K]``. Raises what :func:`choose_depth` does.
    """
    stop = choose_depth(logits, config)
    # A depth beyond max_depth is below tau, within the horizon: the stop is then max_depth.
    is_within_horizon = config.horizon is not None and not stop.has_given_up
    return stop.is_crossed or is_within_horizon or len(logits) > config.deepest


def _find_first(is_below: NDArray[np.bool_], max_depth: int) -> Stop:
    """Stop at the first depth in 0...max_depth that is below tau, else at the last one."""
    allowed = is_below[: max_depth + 1]
    if allowed.any():
        return Stop(int(allowed.argmax()), is_crossed=True)
    return Stop(len(allowed) - 1, is_crossed=False)
