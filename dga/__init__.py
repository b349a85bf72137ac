"""Discriminator-Guided Adaptive Diffusion: survive corrupted pictures with frozen models.

>>> import dga
>>> from PIL import Image
>>> models = dga.load_models("everyday16")
>>> picture = dga.to_pixels(dga.to_square(Image.open("photo.jpg"), 64))
>>> noisy = dga.corrupt(picture, "gaussian_noise", severity=3, seed=0)
>>> run = dga.adapt(models, noisy, seed=0)
>>> run.t_star, run.reconstructions["dga-guided"].prediction.label
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dga.adaptation import Adaptation, adapt, adapt_steps
    from dga.adapted_classifier import AdaptedClassifier
    from dga.corruptions import CORRUPTIONS, corrupt
    from dga.diagnosis import Diagnosis, diagnose
    from dga.images import to_pixels, to_square
    from dga.networks.models import Models, load_models
    from dga.photograph import RepairedPhotograph, repair, repair_photograph
    from dga.profiles import PROFILES, Profile, get_profile
    from dga.stopping import Stop, choose_depth
    from dga.weights.sources import Sources

__version__ = "0.1.0"

_HOMES = {
    "adapted_classifier": ("AdaptedClassifier",),
    "corruptions": ("CORRUPTIONS", "corrupt"),
    "diagnosis": ("Diagnosis", "diagnose"),
    "images": ("to_pixels", "to_square"),
    "networks.models": ("Models", "load_models"),
    "photograph": ("RepairedPhotograph", "repair", "repair_photograph"),
    "adaptation": ("Adaptation", "adapt", "adapt_steps"),
    "profiles": ("PROFILES", "Profile", "get_profile"),
    "stopping": ("Stop", "choose_depth"),
    "weights.sources": ("Sources",),
}
__all__ = [
    "CORRUPTIONS", "PROFILES", "Adaptation", "AdaptedClassifier", "Diagnosis", "Models", "Profile",
    "RepairedPhotograph", "Sources", "Stop", "adapt", "adapt_steps", "choose_depth", "corrupt",
    "diagnose", "get_profile", "load_models", "repair", "repair_photograph", "to_pixels",
    "to_square",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """On first use: reading a picture must not wait for torch (PEP 562)."""
    for home, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(f"dga.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'dga' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
