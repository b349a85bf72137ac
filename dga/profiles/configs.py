"""What a profile is made of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from urllib.parse import urlsplit


@dataclass(frozen=True)
class PublicFile:
    """A file that others publish: ``size`` in bytes, ``sha256`` in hexadecimal digits."""

    url: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        return PurePosixPath(urlsplit(self.url).path).name


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


IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
"""Of ImageNet's pixels by channel, as most networks for them are trained with."""


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
    mean: tuple[float, float, float] = IMAGENET_MEAN
    std: tuple[float, float, float] = IMAGENET_STD
    resize: int | None = None
    hub: str | None = None
    """Repository on the Hugging Face hub that holds its weights."""
    package: str | None = None
    """Python package from the index that holds its weights, in the order of timm's names."""


@dataclass(frozen=True)
class StoppingConfig:
    """When the forward process halts: at the first depth whose confidence is below ``tau``.

    ``tau``: 0 to 1. No depth beyond ``max_depth`` is chosen. ``horizon``: a picture that does not
    qualify by this depth either is left as it is, because no noise drowns its shift. ``run``
    depths in a row must qualify; ``paths`` noise paths are averaged. Raises ``ValueError`` for
    numbers out of range.
    """

    tau: float = 0.5
    max_depth: int = 60
    run: int = 1
    paths: int = 1
    horizon: int | None = None

    def __post_init__(self) -> None:
        tau = self.tau
        if isinstance(tau, bool) or not isinstance(tau, int | float) or not 0 <= tau <= 1:
            raise ValueError(f"tau is a number from 0 to 1, not {tau!r}.")
        if min(self.max_depth, self.run, self.paths) < 1:
            raise ValueError("max_depth, run and paths are whole numbers from 1 up.")
        if self.horizon is not None and self.horizon < self.max_depth:
            raise ValueError(f"The horizon is max_depth ({self.max_depth}) or deeper.")

    @property
    def deepest(self) -> int:
        """The deepest depth whose confidence the rule may need."""
        return max(self.max_depth, self.horizon or 0) + self.run - 1


@dataclass(frozen=True)
class WindowsConfig:
    """How a picture larger than the discriminator's own size is explained, by its places.

    ``seen``: windows with the finest detail by which, and by a thumbnail, what is one for the whole
    picture is judged. An exposure is undone where the thumbnail's logit is ``faded`` or more; the
    mean of all must be below ``believed`` afterwards. Haze and lost contrast lift what is dark: no
    gain is believed where the darkest hundredth of the pixels goes down to ``darkest``. A place has
    noise where the discriminator prefers it by ``noisy`` (mean logit, of its surroundings; of the
    place itself up to ``clear``, for fine texture measures so much); its level is the ``quantile``
    of its pixels'. ``overlap``: share of a place's side that its neighbour has too; ``quiet``:
    share of the pixels; where the others are all noisy, noise may lack colours, and where they hold
    more than ``sure``, as no photograph does, a ``noise_head_start`` will do. ``levels``: uniform
    noise levels that pixels are read from. ``measured``: whether blocks and blur are;
    ``objection``: by how much the discriminator must like the picture less after an inverse to
    refuse it.
    """

    seen: int = 4
    noisy: float = 1.2
    clear: float = 0.1
    faded: float = 1.0
    believed: float = 1.5
    darkest: float = -0.6
    overlap: float = 0.1875
    quantile: float = 0.9
    quiet: float = 0.1
    sure: float = 0.16
    levels: int = 1
    measured: bool = False
    objection: float = 0.5


@dataclass(frozen=True)
class ExplanationConfig:
    """How the discriminator looks for simple explanations of a picture's damage.

    ``noise``, ``exposure``, ``sharpness``: whether each is looked for; ``coarse_at``: the depth
    at which all candidates are seen, ``judged_at``: those at which the best are compared (of
    noise: beyond the entry); ``head_start`` (``noise_head_start`` for noise that was measured):
    logits by which one must beat "nothing"; ``settled``: mean logit below which a picture is
    source data and nothing is tried. Of noise: what is above ``noise_floor`` (standard deviation
    in [-1, 1]) counts, at ``noise_scales`` times the measured one; ``impulses``: distances from
    the neighbours' median from which a value is wrong. Of exposure: ``gains``, refined by the
    factor ``fine``. Of sharpness: ``blurs``, radius in pixels and regularisation, but where a
    share ``repeated`` of rows and columns repeats its neighbour. ``places``: of pictures larger
    than the discriminator's own size.
    """

    noise: bool = True
    exposure: bool = True
    sharpness: bool = True
    judged_at: tuple[int, ...] = (2, 8, 16)
    coarse_at: int = 8
    head_start: float = 2.0
    noise_head_start: float = 0.5
    settled: float = 0.5
    noise_floor: float = 0.16
    noise_scales: tuple[float, ...] = (1.0,)
    impulses: tuple[float, ...] = (0.35,)
    gains: tuple[float, ...] = (1.0, 2.2, 4.0, 7.5, 14.0)
    fine: float = 1.3
    repeated: float = 0.25
    blurs: tuple[tuple[float, float], ...] = (
        (1.0, 0.03),
        (2.0, 0.03),
        (2.0, 0.01),
        (4.0, 0.03),
        (4.0, 0.01),
    )
    windows: WindowsConfig | None = field(default=None, metadata={"key": "places"})


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
class OperatorGuidanceConfig:
    """Agreement with the damaged picture through the operator that was measured.

    ``weight``: of the denoised picture against that agreement, times abar / (1 - abar).
    """

    weight: float = 0.002


@dataclass(frozen=True)
class Diffusion:
    """How deep a picture is noised, and how it is denoised from there.

    ``stopping``: chooses a depth for each picture, counted from the one at which the picture
    stands by its own noise; ``depth``: a fixed one instead. At most ``steps`` steps, of
    randomness ``eta``; without a number every depth in turn. ``sharpen``: radius in pixels of the
    disk against which the result is sharpened (0: not), because a mean is blurred.
    Raises ``ValueError`` where neither a depth nor a rule is given.
    """

    stopping: StoppingConfig | None = None
    depth: int | None = None
    guidance: GuidanceConfig | OperatorGuidanceConfig | None = None
    steps: int | None = None
    eta: float | None = None
    sharpen: float = 0.0
    sharpen_regularisation: float = 0.1

    def __post_init__(self) -> None:
        if self.depth is None and self.stopping is None:
            raise ValueError("A diffusion method needs a fixed depth or a stopping rule.")

    def with_depth(self, depth: int) -> Diffusion:
        """The same with a fixed depth in place of the stopping rule."""
        return replace(self, stopping=None, depth=depth)


@dataclass(frozen=True)
class Repair:
    """What is done to a picture: explain its damage, noise what is left, stop, denoise.

    ``explain``: how simple damage is looked for and undone; None: nothing is undone.
    ``diffusion``: of any picture but those for which there is another: ``noisy``, where noise was
    found, and ``blurred``, whose blur was measured (without one its inverse is all).
    """

    diffusion: Diffusion = field(metadata={"key": "end"})
    explain: ExplanationConfig | None = None
    noisy: Diffusion | None = field(default=None, metadata={"prefix": "noise_"})
    blurred: Diffusion | None = field(default=None, metadata={"prefix": "blur_"})

    def with_depth(self, depth: int) -> Repair:
        """The same with one fixed depth for every picture."""
        noisy, blurred = (one and one.with_depth(depth) for one in (self.noisy, self.blurred))
        usual = self.diffusion.with_depth(depth)
        return replace(self, diffusion=usual, noisy=noisy, blurred=blurred)


POSTERIOR_MEAN = Diffusion(StoppingConfig(tau=0.97, max_depth=16), steps=1, sharpen=1.0)
# DGA+. A noisy picture is at home on its path from the start, so that its tau is high and none
# is given up; it is rebuilt by one posterior-mean step. Others are sampled from a shallow depth.
DGA_PLUS = Repair(
    explain=ExplanationConfig(),
    diffusion=Diffusion(
        StoppingConfig(tau=0.5, max_depth=16, horizon=60),
        guidance=GuidanceConfig(scale=0.75, through_network=False),
        steps=12,
        eta=1.0,
    ),
    noisy=POSTERIOR_MEAN,
)


@dataclass(frozen=True)
class SamplingConfig:
    """Few-step sampling: at most ``steps`` steps, evenly spread; ``eta``: their noise, 0 to 1."""

    steps: int
    eta: float = 0.0


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

    Shorter side to ``resize`` pixels (bilinear, or ``bicubic``), the middle ``crop`` pixels, the
    corruption, JPEG at ``quality`` (None: not saved again).
    """

    resize: int = 256
    crop: int = 224
    quality: int | None = 85
    bicubic: bool = False


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
    plus: Repair = DGA_PLUS
    """DGA+."""
    sampling: SamplingConfig | None = None
    """Of DGA, DGA + G and DDA; None: every depth in turn (DDPM's ancestral sampling)."""
    ancestral_guidance: GuidanceConfig | None = None
    """Of DGA + G and DDA where every depth is visited in turn; None: the same as above."""
    networks: str | None = None
    """Another profile, whose diffusion model and discriminators serve where it has none."""
    public: PublicFile | None = None
    """The denoiser's checkpoint, where others publish it."""
    tent: TentConfig = TentConfig()
    memo: MemoConfig = MemoConfig()
    release: ReleaseConfig | None = None

    @property
    def ancestral(self) -> Profile:
        """The same with ancestral sampling, as the papers have it."""
        return replace(
            self,
            sampling=None,
            guidance=self.ancestral_guidance or self.guidance,
            dda_guidance=self.ancestral_guidance or self.dda_guidance,
        )
