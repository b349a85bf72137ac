"""The stopping rule: from a confidence curve to the depth t* where the forward process halts.

It is the paper's threshold tau (section 3.2), with a deepest depth and a horizon, beyond which a
picture is given up, as our additions.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dga.profiles import StoppingConfig


@dataclass(frozen=True)
class Stop:
    """A chosen depth."""

    t_star: int
    """0...T; 0 for a picture that is given up."""
    is_crossed: bool
    """Whether the confidence at t* is below tau; True where no rule was asked."""
    has_given_up: bool = False
    """Whether no depth up to the horizon qualified, so that the picture is left as it is."""


def confidence_from_logits(logits: ArrayLike) -> NDArray[np.float64]:
    """The sigmoid of each logit, in [0, 1]."""
    z = np.asarray(logits, dtype=np.float64)
    return 0.5 * (1.0 + np.tanh(0.5 * z))


def choose_depth(logits: ArrayLike, config: StoppingConfig) -> Stop:
    """The first depth at which a picture with ``logits`` ``[T + 1]`` passes for source data.

    - Already below at depth 0: t* = 0, crossed.
    - Never below in 0...max_depth: t* = max_depth, not crossed.
    - With a horizon, not even below by then: t* = 0, not crossed, given up.
    - Equal to tau is not below.

    Raises ``ValueError`` for a curve that is empty or not finite. (Section 3.2 of the paper.)
    """
    curve = np.asarray(logits, dtype=np.float64)  # [T + 1]
    if curve.size == 0 or not np.isfinite(curve).all():
        raise ValueError("The confidence curve is empty or holds values that are not finite.")
    below = confidence_from_logits(curve) < config.tau
    stop = _find_first(below, config.max_depth)
    if config.horizon is None or _find_first(below, config.horizon).is_crossed:
        return stop
    return Stop(0, is_crossed=False, has_given_up=True)


def is_decided(logits: NDArray[np.float64], config: StoppingConfig) -> bool:
    """Whether the first depths of a curve suffice: more of it would not change the stop.

    ``logits``: ``[K]``, of the first K depths. Raises what :func:`choose_depth` does.
    """
    stop = choose_depth(logits, config)
    # Below tau within the horizon, but deeper than max_depth, which is then the stop.
    within = config.horizon is not None and not stop.has_given_up
    return stop.is_crossed or within or len(logits) > config.deepest


def _find_first(below: NDArray[np.bool_], max_depth: int) -> Stop:
    """The first depth in 0...max_depth that is below tau."""
    within = below[: max_depth + 1]
    return Stop(int(within.argmax()) if within.any() else len(within) - 1, bool(within.any()))
