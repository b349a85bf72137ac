"""What a profile is made of, and the two that ship."""

from dga.profiles.builtin import (
    EVERYDAY16,
    EVERYDAY16_CLASSES,
    IMAGENET,
    PROFILES,
    get_profile,
    tune_pictures,
)
from dga.profiles.configs import (
    ClassifierConfig,
    End,
    ExplanationConfig,
    GuidanceConfig,
    MemoConfig,
    NetworkConfig,
    OperatorGuidanceConfig,
    PlacesConfig,
    Profile,
    PublicFile,
    ReleaseConfig,
    Repair,
    SamplingConfig,
    ScheduleConfig,
    StoppingConfig,
    TentConfig,
)
