"""What ``dga`` exports: for type checkers, and for lazy_loader, which imports it on first use."""

from .adaptation import Adaptation, adapt
from .adapted_classifier import AdaptedClassifier
from .corruptions import CORRUPTIONS, corrupt
from .diagnosis import Diagnosis, diagnose
from .images import to_pixels, to_square
from .networks.models import Models, load_models
from .photograph import RepairedPhotograph, repair, repair_photograph
from .profiles import PROFILES, Profile, get_profile
from .stopping import Stop, choose_depth
from .weights.sources import Sources

__version__: str
__all__ = [
    "CORRUPTIONS", "PROFILES", "Adaptation", "AdaptedClassifier", "Diagnosis", "Models", "Profile",
    "RepairedPhotograph", "Sources", "Stop", "adapt", "choose_depth", "corrupt",
    "diagnose", "get_profile", "load_models", "repair", "repair_photograph", "to_pixels",
    "to_square",
]  # fmt: skip
