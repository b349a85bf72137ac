"""The dataclasses that a profile is made of: networks, schedule, stopping, guidance, repair.

Their fields are what a user may set (:mod:`dga.io.settings`); values are in
:mod:`dga.profiles.builtin`, and defaults of :class:`ExplanationConfig` those of everyday16.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import Any


def bounded(default: Any, low: float, high: float = math.inf) -> Any:
    """A field of a :class:`Bounded` dataclass, from ``low`` to ``high``; None is allowed, too."""
    return field(default=default, metadata={"bounds": (low, high)})


@dataclass(frozen=True)
class Bounded:
    """Settings whose numbers are finite, and some of them within bounds (:func:`bounded`).

    Raises ``ValueError`` for any other number, naming its field.
    """

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if "bounds" in one.metadata and value is not None:
                low, high = one.metadata["bounds"]
                is_number = isinstance(value, int | float) and not isinstance(value, bool)
                if not is_number or not low <= value <= high:
                    end = "up" if high == math.inf else f"to {high}"
                    raise ValueError(f"{one.name} is a number from {low} {end}, not {value!r}.")
            if not _is_finite(value):
                raise ValueError(f"Numbers are finite; {one.name} is {value!r}.")


def _is_finite(value: Any) -> bool:
    """Whether a value, and every value in a tuple, is neither infinite nor NaN."""
    if isinstance(value, tuple):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


@dataclass(frozen=True)
class PublicFile:
    """A published file; ``size``: in bytes; ``sha256``: in hexadecimal digits."""

    url: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """The last part of its address."""
        return self.url.rpartition("/")[2]


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
"""Mean and deviation of ImageNet's pixels in [0, 1], by channel, as most networks take them."""


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
class StoppingConfig(Bounded):
    """When the forward process halts: at the first depth whose confidence is below ``tau``.

    (:func:`dga.stopping.choose_depth`.)
    """

    tau: float = bounded(0.5, 0, 1)
    """Confidence, 0 to 1: equal to it is not below."""
    max_depth: int = bounded(60, 1)
    """The deepest depth that is chosen."""
    horizon: int | None = None
    """A picture with no such depth up to this one is left as it is: no noise hides its damage."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.horizon is not None and self.horizon < self.max_depth:
            raise ValueError(f"The horizon is max_depth ({self.max_depth}) or deeper.")

    @property
    def deepest(self) -> int:
        """The deepest depth whose confidence the rule may need."""
        return max(self.max_depth, self.horizon or 0)


@dataclass(frozen=True)
class WindowsConfig(Bounded):
    """How a picture larger than the discriminator's own size is explained, and cut into windows.

    Logits are the discriminator's, above 0 for damage. :mod:`dga.explanation.photograph_search`
    uses all but ``overlap``, which is of windows that :mod:`dga.photograph` repairs.
    """

    detail_windows: int = bounded(4, 0)
    """How many windows judge the whole picture beside a thumbnail: those with the finest detail."""
    overlap: float = bounded(0.1875, 0, 0.9)
    """Share of a window's side, 0 to 0.9, that the next window has too, at least."""
    quiet_share: float = bounded(0.1, 0, 1)
    """Share of the picture, 0 to 1, that may be without noise where noise counts as everywhere."""
    measurement: bool = True
    """Whether blocks, blur and veils are measured in the picture."""
    objection: float = 0.5
    """Mean logit by which a measured blur's inverse may look worse and still be used."""


@dataclass(frozen=True)
class ExplanationConfig(Bounded):
    """How the discriminator looks for simple explanations of a picture's damage.

    Scores are mean logits of the discriminator, lower for pictures that look undamaged; pixels lie
    in [-1, 1]. :mod:`dga.explanation.search` uses all but ``windows``.
    """

    noise: bool = True
    """Whether noise and impulses are looked for."""
    exposure: bool = True
    """Whether exposure is looked for, where there is no noise."""
    sharpness: bool = True
    """Whether blur is looked for, where there is no noise."""
    judged_at: tuple[int, ...] = (2, 8, 16)
    """Depths, counted from the entry, over which the score of the best candidates is averaged."""
    coarse_at: int = bounded(8, 0)
    """The one depth, counted likewise, at which all candidates are compared first."""
    head_start: float = 2.0
    """By how much a candidate's score must be below that of "nothing"."""
    noise_head_start: float = 0.5
    """``head_start`` for noise that was measured."""
    undamaged_score: float = 0.5
    """Score below which a picture counts as undamaged, and nothing more is tried."""
    noise_floor: float = bounded(0.16, 0)
    """Noise level (standard deviation) below which a picture counts as free of noise."""
    impulses: tuple[float, ...] = (0.35,)
    """Candidates for the distance from its neighbours' median, 0 to 2, that makes black or white
    wrong."""
    gains: tuple[float, ...] = (1.0, 2.2, 4.0, 7.5, 14.0)
    """Candidates for the factor that contrast is multiplied by, of exposure."""
    fine_factor: float = bounded(1.3, 1)
    """Factor between the best of ``gains`` and the two beside it that are tried next."""
    blurs: tuple[tuple[float, float], ...] = (
        (1.0, 0.03),
        (2.0, 0.03),
        (2.0, 0.01),
        (4.0, 0.03),
        (4.0, 0.01),
    )
    """Candidates for blur: a disk's radius in pixels, and the regularisation of its inverse."""
    windows: WindowsConfig | None = None
    """Settings for pictures larger than the discriminator's own size; None: those are explained as
    small ones are."""


@dataclass(frozen=True)
class GuidanceConfig(Bounded):
    """Structural guidance: strength (lambda) and low-pass factor D.

    ``through_network``: whether the gradient runs through the network (DDA, Eq. 9);
    without it a step costs no backward pass.
    """

    scale: float = 6.0
    factor: int = bounded(4, 1)
    through_network: bool = True


@dataclass(frozen=True)
class OperatorGuidanceConfig(Bounded):
    """Agreement with the damaged picture through the operator that was measured.

    ``weight``: of the denoised picture against that agreement, times abar / (1 - abar).
    """

    weight: float = bounded(0.002, 1e-6)


@dataclass(frozen=True)
class Diffusion(Bounded):
    """How deep a picture is noised, and how it is denoised from there.

    Raises ``ValueError`` without depth and stopping rule, and for ``eta`` without ``steps``.
    """

    stopping: StoppingConfig | None = None
    """Chooses a depth for each picture, counted from its entry."""
    depth: int | None = bounded(None, 0)
    """A fixed depth, 0 to T, in place of ``stopping``."""
    guidance: GuidanceConfig | OperatorGuidanceConfig | None = None
    """What holds the result to the picture that came; None: nothing does."""
    steps: int | None = bounded(None, 1)
    """Denoising steps, at most; None: one for every depth, in turn."""
    eta: float | None = bounded(None, 0, 1)
    """Randomness of these steps, 0 to 1; None: they draw no noise, as with 0."""
    sharpen: float = bounded(0.0, 0)
    """Radius in pixels of the disk against which the result is sharpened; 0: it is not."""
    sharpen_regularisation: float = bounded(0.1, 0.001)
    """Noise-to-signal ratio of the Wiener filter that sharpens."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.depth is None and self.stopping is None:
            raise ValueError("A diffusion method needs a fixed depth or a stopping rule.")
        if self.eta is not None and self.steps is None:
            raise ValueError("eta is of few steps: say how many steps as well, or leave it out.")

    def with_depth(self, depth: int) -> Diffusion:
        """This diffusion with a fixed depth in place of its stopping rule."""
        return replace(self, stopping=None, depth=depth)


@dataclass(frozen=True)
class MendingConfig(Bounded):
    """What is done with the denoiser that sees the damaged picture, and when its result is used.

    (:mod:`dga.mending`.)
    """

    diffusion: Diffusion = Diffusion(depth=0, steps=4)
    """How deep its first estimate is noised and denoised again; depth 0: it is the result."""
    least_change: float = bounded(0.016, 0, 2)
    """Mean change, pixels in [-1, 1], below which a picture counts as undamaged, and stays."""
    least_share: float = bounded(0.265, 0)
    """The same as a share of the mean differences between neighbouring pixels, down and across:
    fine texture is changed more than plain areas. For earlier weights it was 0.2, and two of 120
    undamaged photographs were changed by as much."""
    objection: float = 2.5
    """Mean logit by which the result may look more damaged to the discriminator, and be used. From
    1 on two results of 1,000 were refused, both of them right."""


@dataclass(frozen=True)
class Repair:
    """All that is done to a picture: its damage is explained and undone, the rest is noised up to a
    stop, and denoised; what is left is mended."""

    diffusion: Diffusion
    """For pictures to which none of the three below applies."""
    explain: ExplanationConfig | None = None
    """How simple damage is looked for, which is undone first; None: none is looked for."""
    noise_diffusion: Diffusion | None = field(default=None, metadata={"prefix": "noise_"})
    """For pictures that hold noise; None: ``diffusion``."""
    blur_diffusion: Diffusion | None = field(default=None, metadata={"prefix": "blur_"})
    """For pictures whose operator was measured, zoom and blocks too; None: the inverse is all that
    is done. Results and ``dga-plus:blur_depth=8`` know it by this name."""
    glass_diffusion: Diffusion | None = field(default=None, metadata={"prefix": "glass_"})
    """For pictures behind glass or a strong Gaussian, undone without detail; None: likewise."""

    mending: MendingConfig | None = field(default=None, metadata={"prefix": "mend_"})
    """What a denoiser that sees the picture does at the end; None: nothing."""

    @property
    def diffusions(self) -> dict[str, Diffusion]:
        """Diffusions that are set, by field name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, Diffusion)}

    def with_depth(self, depth: int) -> Repair:
        """This repair with one fixed depth for every picture."""
        changes: dict[str, Any] = {n: one.with_depth(depth) for n, one in self.diffusions.items()}
        return replace(self, **changes)


@dataclass(frozen=True)
class ReleaseConfig:
    """How a corrupted data set was made from clean pictures (ImageNet-C's way).

    The shorter side was resized to ``resize`` pixels (bilinear, or ``bicubic``); the middle
    ``crop`` pixels were corrupted, and saved as JPEG at ``quality`` (None: not saved again).
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
    plus: Repair
    """The repair of DGA+."""
    steps: int | None = None
    """Denoising steps of DGA, DGA + G and DDA; None: every depth in turn (DDPM's way)."""
    eta: float | None = None
    """Randomness of these steps, 0 to 1."""
    ancestral_guidance: GuidanceConfig | None = None
    """Guidance of DGA + G and DDA where every depth is visited in turn; None: the usual."""
    networks: str | None = None
    """Another profile, whose diffusion model and discriminators serve where it has none."""
    public: PublicFile | None = None
    """The denoiser's checkpoint, where others publish it."""
    release: ReleaseConfig | None = None

    @property
    def explains_by_windows(self) -> bool:
        """Whether DGA+ explains a picture that is larger than one window."""
        return self.plus.explain is not None and self.plus.explain.windows is not None
