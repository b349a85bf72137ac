"""What a profile is made of, and the two presets that ship."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal
from urllib.parse import urlsplit

from dga.labels import imagenet_labels

EVERYDAY16_CLASSES = (
    "dog",
    "cat",
    "big cat",
    "primate",
    "hoofed animal",
    "bird",
    "insect",
    "frog",
    "car",
    "bus",
    "train",
    "boat",
    "bridge",
    "fruit",
    "dish",
    "landscape",
)


@dataclass(frozen=True)
class PublicFile:
    """A file that others publish: ``size`` in bytes, ``sha256`` in hexadecimal digits."""

    url: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """What it is called there and here."""
        return PurePosixPath(urlsplit(self.url).path).name

    @property
    def host(self) -> str:
        """Who is asked for it."""
        return urlsplit(self.url).netloc


@dataclass(frozen=True)
class ScheduleConfig:
    """Linear betas over ``timesteps``, respaced to ``steps`` (T in the paper)."""

    timesteps: int = 1000
    steps: int = 100
    beta_start: float = 1e-4
    beta_end: float = 2e-2


@dataclass(frozen=True)
class NetworkConfig:
    """Shape of a guided-diffusion U-Net (or its encoder half).

    ``fold`` pixels along each side are moved into channels before the first
    convolution; ``attention`` lists downsampling factors, counted after folding.
    """

    image_size: int
    fold: int
    channels: int
    channel_mult: tuple[int, ...]
    res_blocks: int
    attention: tuple[int, ...]
    head_channels: int


@dataclass(frozen=True)
class ClassifierConfig:
    """A timm model and the pixels it expects (``mean``, ``std`` for inputs in [0, 1]).

    Pictures are scaled to ``resize`` pixels a side (default: ``input_size``), of which the
    middle ``input_size`` are seen.
    """

    architecture: str
    input_size: int
    classes: tuple[str, ...]
    channels: tuple[int, ...] | None = None
    stem_pool: bool = True
    mean: tuple[float, float, float] = (0.485, 0.456, 0.406)
    std: tuple[float, float, float] = (0.229, 0.224, 0.225)
    resize: int | None = None
    hub: str | None = None
    """Repository on the Hugging Face hub that holds its weights."""


@dataclass(frozen=True)
class StoppingConfig:
    """When the forward process halts.

    ``threshold``: first depth whose confidence is below ``tau``.
    ``quantile``: first depth whose logit is below that of ``quantile`` of held-out
    clean images at the same depth.
    No depth beyond ``max_depth`` is chosen. ``horizon``: a picture that does not qualify
    by this depth either is left as it is, because no noise drowns its shift.
    ``run`` depths in a row must qualify; ``paths`` noise paths are averaged.
    """

    rule: Literal["threshold", "quantile"] = "threshold"
    tau: float = 0.5
    max_depth: int = 60
    run: int = 1
    paths: int = 1
    quantile: float = 0.95
    horizon: int | None = None

    def __post_init__(self) -> None:
        if self.rule not in ("threshold", "quantile"):
            raise ValueError(f"A stopping rule is threshold or quantile, not {self.rule!r}.")
        if min(self.max_depth, self.run, self.paths) < 1:
            raise ValueError("max_depth, run and paths are whole numbers from 1 up.")
        if self.horizon is not None and self.horizon < self.max_depth:
            raise ValueError(f"The horizon is max_depth ({self.max_depth}) or deeper.")

    @property
    def deepest(self) -> int:
        """The deepest depth whose confidence the rule may need."""
        return max(self.max_depth, self.horizon or 0) + self.run - 1


@dataclass(frozen=True)
class GuidanceConfig:
    """Structural guidance: strength (lambda), low-pass factor D and norm.

    ``through_network``: whether the gradient runs through the network (DDA, Eq. 9);
    without it a step costs no backward pass.
    """

    scale: float = 6.0
    factor: int = 4
    squared: bool = False
    through_network: bool = True


@dataclass(frozen=True)
class TentConfig:
    """Tent's one step a batch; ``lr`` is for a batch of 64 and scales with ``batch``."""

    lr: float = 2.5e-4
    momentum: float = 0.9
    batch: int = 64


@dataclass(frozen=True)
class MemoConfig:
    """MEMO's one step a picture: ``views`` copies cropped to at least ``min_area``."""

    lr: float = 2.5e-4
    views: int = 64
    min_area: float = 0.08


@dataclass(frozen=True)
class ReleaseConfig:
    """How a corrupted data set was made from clean pictures (ImageNet-C's way).

    Shorter side to ``resize`` pixels, the middle ``crop`` pixels, the corruption, JPEG
    at ``quality``.
    """

    resize: int = 256
    crop: int = 224
    quality: int = 85


@dataclass(frozen=True)
class Profile:
    """Everything that distinguishes one set of models from another."""

    name: str
    image_size: int
    schedule: ScheduleConfig
    denoiser: NetworkConfig
    discriminator: NetworkConfig
    classifier: ClassifierConfig
    stopping: StoppingConfig
    guidance: GuidanceConfig
    dda_depth: int
    dda_guidance: GuidanceConfig
    diffpure_depth: int
    public: PublicFile | None = None
    """The denoiser's checkpoint, where others publish it."""
    tent: TentConfig = TentConfig()
    memo: MemoConfig = MemoConfig()
    release: ReleaseConfig | None = None


EVERYDAY16 = Profile(
    name="everyday16",
    image_size=64,
    schedule=ScheduleConfig(),
    denoiser=NetworkConfig(
        image_size=64,
        fold=2,
        channels=64,
        channel_mult=(1, 2, 3),
        res_blocks=1,
        attention=(4,),
        head_channels=32,
    ),
    discriminator=NetworkConfig(
        image_size=64,
        fold=2,
        channels=32,
        channel_mult=(1, 2, 4),
        res_blocks=1,
        attention=(4,),
        head_channels=32,
    ),
    classifier=ClassifierConfig(
        architecture="resnet18",
        input_size=64,
        classes=EVERYDAY16_CLASSES,
        channels=(48, 96, 192, 288),
        stem_pool=False,
    ),
    # Chosen on tune at severity 5 (README, "Settings").
    stopping=StoppingConfig(tau=0.75, max_depth=24, horizon=60),
    guidance=GuidanceConfig(scale=1.5),
    dda_depth=24,
    dda_guidance=GuidanceConfig(scale=1.5),
    diffpure_depth=16,
    memo=MemoConfig(views=32, min_area=0.4),
)

# The paper's setting: ADM 256 and Swin-T. Guidance strengths are the published
# ones for a norm taken per image (6 over a batch of 8 and of 4).
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
    denoiser=NetworkConfig(
        image_size=256,
        fold=1,
        channels=256,
        channel_mult=(1, 1, 2, 2, 4, 4),
        res_blocks=2,
        attention=(8, 16, 32),
        head_channels=64,
    ),
    discriminator=NetworkConfig(
        image_size=256,
        fold=1,
        channels=128,
        channel_mult=(1, 1, 2, 2, 4, 4),
        res_blocks=2,
        attention=(8, 16, 32),
        head_channels=64,
    ),
    classifier=ClassifierConfig(
        architecture="swin_tiny_patch4_window7_224",
        input_size=224,
        classes=tuple(imagenet_labels().values()),
        resize=256,
        hub="timm/swin_tiny_patch4_window7_224.ms_in1k",
    ),
    stopping=StoppingConfig(max_depth=60),
    guidance=GuidanceConfig(scale=2.1),
    dda_depth=50,
    dda_guidance=GuidanceConfig(scale=3.0),
    diffpure_depth=16,
    memo=MemoConfig(lr=1e-5),
    release=ReleaseConfig(),
)

PROFILES = {profile.name: profile for profile in (EVERYDAY16, IMAGENET)}


def get_profile(name: str) -> Profile:
    """The preset of that name. Raises ``ValueError`` naming the presets there are."""
    try:
        return PROFILES[name]
    except KeyError:
        known = ", ".join(PROFILES)
        raise ValueError(f"Unknown profile {name!r}. Known profiles: {known}.") from None
