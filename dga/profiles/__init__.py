"""What a profile is made of, and the two that ship."""

from dga.profiles.builtin import (
    CLASSIFIERS,
    EVERYDAY16,
    EVERYDAY16_CLASSES,
    IMAGENET,
    PROFILES,
    get_profile,
    with_classifier,
)
from dga.profiles.configs import (
    ClassifierConfig,
    End,
    ExplanationConfig,
    GuidanceConfig,
    MemoConfig,
    NetworkConfig,
    Profile,
    PublicFile,
    ReleaseConfig,
    Repair,
    SamplingConfig,
    ScheduleConfig,
    StoppingConfig,
    TentConfig,
)
from dga.profiles.tuning import tune_pictures

__all__ = [
    "CLASSIFIERS",
    "EVERYDAY16",
    "EVERYDAY16_CLASSES",
    "IMAGENET",
    "PROFILES",
    "ClassifierConfig",
    "End",
    "ExplanationConfig",
    "GuidanceConfig",
    "MemoConfig",
    "NetworkConfig",
    "Profile",
    "PublicFile",
    "ReleaseConfig",
    "Repair",
    "SamplingConfig",
    "ScheduleConfig",
    "StoppingConfig",
    "TentConfig",
    "get_profile",
    "tune_pictures",
    "with_classifier",
]
