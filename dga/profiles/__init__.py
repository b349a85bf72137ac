"""Profiles, each a set of networks with their settings: photo, everyday16 and imagenet."""

from dga.profiles.builtin import EVERYDAY16, IMAGENET, PROFILES, get_profile
from dga.profiles.configs import (
    ClassifierConfig,
    Diffusion,
    ExplanationConfig,
    GuidanceConfig,
    MendingConfig,
    NetworkConfig,
    OperatorGuidanceConfig,
    Profile,
    PublicFile,
    ReleaseConfig,
    Repair,
    ScheduleConfig,
    StoppingConfig,
)

__all__ = [
    "EVERYDAY16", "IMAGENET", "PROFILES", "ClassifierConfig", "Diffusion", "ExplanationConfig",
    "GuidanceConfig", "MendingConfig", "NetworkConfig", "OperatorGuidanceConfig", "Profile",
    "PublicFile", "ReleaseConfig", "Repair", "ScheduleConfig", "StoppingConfig", "get_profile",
]  # fmt: skip
