"""Profiles, each a set of networks with their settings: photo, everyday16 and imagenet."""

from dga.profiles.builtin import EVERYDAY16, EVERYDAY16_CLASSES, IMAGENET, PROFILES, get_profile
from dga.profiles.configs import (
    ClassifierConfig,
    DenoiseConfig,
    Diffusion,
    ExplanationConfig,
    GuidanceConfig,
    MemoConfig,
    MendingConfig,
    NetworkConfig,
    OperatorGuidanceConfig,
    Profile,
    PublicFile,
    ReleaseConfig,
    Repair,
    ScheduleConfig,
    StoppingConfig,
    TentConfig,
    WindowsConfig,
)

__all__ = [
    "EVERYDAY16", "EVERYDAY16_CLASSES", "IMAGENET", "PROFILES", "ClassifierConfig",
    "DenoiseConfig", "Diffusion", "ExplanationConfig", "GuidanceConfig", "MemoConfig",
    "MendingConfig",
    "NetworkConfig", "OperatorGuidanceConfig", "Profile", "PublicFile", "ReleaseConfig", "Repair",
    "ScheduleConfig", "StoppingConfig", "TentConfig", "WindowsConfig",
    "get_profile",
]  # fmt: skip
