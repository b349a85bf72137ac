"""The 15 corruptions of ImageNet-C in 4 families, 4 extra ones, and 15 kinds of everyday damage.

:func:`corrupt` damages a picture by one of them, for experiments and for the page. ImageNet-C's 15
and the 4 extra ones are of Hendrycks and Dietterich, "Benchmarking Neural Network Robustness to
Common Corruptions and Perturbations", 2019, and come from the package imagecorruptions. Everyday
damage is ours (:mod:`dga.everyday`).
"""

import threading
import warnings
from collections.abc import Callable

import numpy as np

from dga.everyday import EVERYDAY_DAMAGE, damage_as_everyday
from dga.images import MIN_CORRUPTED_SIDE, Pixels
from dga.io.parsing import check_choice

FAMILIES: dict[str, tuple[str, ...]] = {
    "noise": ("gaussian_noise", "shot_noise", "impulse_noise"),
    "blur": ("defocus_blur", "glass_blur", "motion_blur", "zoom_blur"),
    "weather": ("snow", "frost", "fog"),
    "digital": ("brightness", "contrast", "elastic_transform", "pixelate", "jpeg_compression"),
}
CORRUPTIONS = tuple(name for names in FAMILIES.values() for name in names)
EXTRA_CORRUPTIONS = ("speckle_noise", "gaussian_blur", "spatter", "saturate")
EVERYDAY = tuple(EVERYDAY_DAMAGE)
NAMES = CORRUPTIONS + EXTRA_CORRUPTIONS + EVERYDAY
CLEAN = "clean"
SEVERITIES = (1, 2, 3, 4, 5)
SEEDED_CORRUPTIONS = ("glass_blur", "impulse_noise")
"""Corruptions whose function in the package takes a seed."""
_global_generator_lock = threading.Lock()
"""The other corruptions draw from NumPy's global generator. So one picture at a time is corrupted,
and the state of the generator is restored afterwards."""


def check_corruption(corruption: str, severity: int) -> None:
    """Raise ``ValueError`` for an unknown corruption or severity, naming what is allowed."""
    check_choice("corruption", corruption, NAMES)
    if isinstance(severity, bool) or severity not in SEVERITIES:
        raise ValueError(f"Severity must be a whole number from 1 to 5, not {severity!r}.")


def _import_corrupt() -> Callable[..., Pixels]:
    """The package's function, imported on first use: numba and scikit-image take seconds.

    Raises ``OSError`` where the package or a library that it needs is missing.
    """
    try:
        from imagecorruptions import corrupt as apply
    except ImportError as error:
        raise OSError(
            f"The corruptions cannot be loaded ({error}). OpenCV needs the system's libGL: "
            "apt-get install libgl1 libglib2.0-0"
        ) from error
    return apply


def corrupt(pixels: Pixels, corruption: str, severity: int, seed: int) -> Pixels:
    """Corrupt one picture.

    ``pixels``: uint8 ``[H, W, 3]``, at least 32 pixels a side; the result has the same shape.
    ``severity``: 1 to 5. The same arguments give the same bits, whatever ran before. Raises
    ``ValueError`` for an unknown corruption or severity, and for a smaller picture.
    """
    check_corruption(corruption, severity)
    if pixels.ndim != 3 or pixels.shape[2] != 3 or min(pixels.shape[:2]) < MIN_CORRUPTED_SIDE:
        raise ValueError(
            f"A picture to corrupt needs shape [H, W, 3] and at least {MIN_CORRUPTED_SIDE} pixels "
            f"a side, not {pixels.shape}."
        )
    if corruption in EVERYDAY:
        return damage_as_everyday(pixels, corruption, int(severity), seed % 2**32)
    apply = _import_corrupt()
    options = {"severity": int(severity), "corruption_name": corruption}
    if corruption in SEEDED_CORRUPTIONS:  # without the lock: the first glass blur compiles slowly
        return apply(pixels, seed=seed % 2**32, **options)
    with _global_generator_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        state = np.random.get_state()
        np.random.seed(seed % 2**32)
        try:
            return apply(pixels, **options)
        finally:
            np.random.set_state(state)
