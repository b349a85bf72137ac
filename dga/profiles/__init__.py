"""What a profile is made of, and the two that ship."""

from dga.profiles.builtin import (
    EVERYDAY16,
    EVERYDAY16_CLASSES,
    IMAGENET,
    PROFILES,
    get_profile,
)
from dga.profiles.configs import (
    ClassifierConfig,
    GuidanceConfig,
    MemoConfig,
    NetworkConfig,
    Profile,
    PublicFile,
    ReleaseConfig,
    ScheduleConfig,
    StoppingConfig,
    TentConfig,
)
from dga.profiles.tuning import tune_pictures

__all__ = [
    "EVERYDAY16",
    "EVERYDAY16_CLASSES",
    "IMAGENET",
    "PROFILES",
    "ClassifierConfig",
    "GuidanceConfig",
    "MemoConfig",
    "NetworkConfig",
    "Profile",
    "PublicFile",
    "ReleaseConfig",
    "ScheduleConfig",
    "StoppingConfig",
    "TentConfig",
    "get_profile",
    "tune_pictures",
]
