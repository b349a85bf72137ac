"""The dataclasses that a profile is made of: networks, schedule, stopping, guidance, repair.

Their fields are the settings that a user may change (:mod:`dga.io.settings`). The values of each
profile are in :mod:`dga.profiles.builtin`.
"""

import math
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self


def bounded(default: Any, low: float, high: float = math.inf) -> Any:
    """Make a field of a :class:`Bounded` dataclass: a number from ``low`` to ``high``, or None."""
    return field(default=default, metadata={"bounds": (low, high)})


@dataclass(frozen=True)
class Bounded:
    """Settings that check their numbers: all are finite, and fields of :func:`bounded` in bounds.

    Raises ``ValueError`` for any other number, naming its field.
    """

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if "bounds" in one.metadata and value is not None:
                low, high = one.metadata["bounds"]
                is_whole = one.type in (int, int | None)
                is_number = isinstance(value, int if is_whole else int | float)
                if not is_number or isinstance(value, bool) or not low <= value <= high:
                    what = "whole number" if is_whole else "number"
                    end = "up" if high == math.inf else f"to {high}"
                    raise ValueError(f"{one.name} is a {what} from {low} {end}, not {value!r}.")
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"Numbers are finite; {one.name} is {value!r}.")


@dataclass(frozen=True)
class PublicFile:
    """A file that others have published."""

    url: str
    size: int
    """In bytes."""
    sha256: str
    """In hexadecimal digits."""

    @property
    def name(self) -> str:
        """The last part of the URL."""
        return self.url.rpartition("/")[2]


@dataclass(frozen=True)
class ScheduleConfig:
    """The schedule of the noise: linear betas, of which evenly spaced ones are used."""

    timesteps: int = 1000
    """Timesteps on which the networks were trained."""
    steps: int = 100
    """Timesteps that are used (T in the paper)."""
    beta_start: float = 1e-4
    beta_end: float = 2e-2


@dataclass(frozen=True)
class NetworkConfig:
    """The shape of a guided-diffusion U-Net, or of its encoder half."""

    image_size: int
    """Pixels a side of the pictures on which it was trained."""
    fold: int
    """So many pixels along each side are moved into channels before the first convolution."""
    channels: int
    """Channels after the first convolution."""
    channel_mult: tuple[int, ...]
    """By what they are multiplied at each level."""
    res_blocks: int
    """Residual blocks a level."""
    attention: tuple[int, ...]
    """Downsampling factors, counted after folding, at which there is attention."""
    head_channels: int
    """Channels of each attention head."""


IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
"""Mean and deviation of ImageNet's pixels in [0, 1], by channel; most classifiers expect them."""
SOFTMAX, SIGMOID, NONE = ACTIVATIONS = "softmax", "sigmoid", "none"
"""How answers become probabilities: softmax where one class is right, sigmoid where several labels
may be, none where the answers are probabilities already."""


@dataclass(frozen=True)
class ClassifierConfig:
    """A timm model, its classes, and the pixels that it expects."""

    architecture: str
    """timm's name."""
    input_size: int
    """Pixels a side of its input."""
    classes: tuple[str, ...]
    """Names of the classes, in the order of its outputs."""
    channels: tuple[int, ...] | None = None
    """Channels of each stage; None: timm's."""
    stem_pool: bool = True
    """Whether there is a max pool after the first convolution."""
    mean: tuple[float, float, float] = IMAGENET_MEAN
    std: tuple[float, float, float] = IMAGENET_STD
    """Mean and deviation, for pixels in [0, 1], by which it normalises."""
    resize: int | None = None
    """Pixels a side to which pictures are scaled before the middle ``input_size`` is cut out; None:
    ``input_size``."""
    activation: str = SOFTMAX
    """One of :data:`ACTIVATIONS`."""
    hub: str | None = None
    """Repository on the Hugging Face hub that holds its weights."""
    package: str | None = None
    """Python package from the index that holds its weights, in the order of timm's names."""


@dataclass(frozen=True)
class StoppingConfig(Bounded):
    """The rule by which the forward process stops (:func:`dga.stopping.choose_depth`)."""

    tau: float = bounded(0.5, 0, 1)
    """It stops at the first depth whose confidence, 0 to 1, is below this; equal is not below."""
    max_depth: int = bounded(60, 1)
    """The deepest depth that is chosen, from where the picture enters the forward process."""
    horizon: int | None = None
    """Where no depth up to this one is below tau, no noise hides the damage, and the picture is
    left as it is. None: it is never left for that reason."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.horizon is not None and self.horizon < self.max_depth:
            raise ValueError(f"The horizon is max_depth ({self.max_depth}) or deeper.")

    @property
    def deepest(self) -> int:
        """The deepest depth whose confidence the rule can need."""
        return max(self.max_depth, self.horizon or 0)


@dataclass(frozen=True)
class ExplanationConfig:
    """Which damage is looked for (:mod:`dga.explanation.search`), where profiles differ."""

    blocks: bool = True
    """Whether blocks that are measured are undone."""
    smeared_impulses: bool = True
    """Whether impulses that JPEG has smeared are looked for."""


@dataclass(frozen=True)
class GuidanceConfig(Bounded):
    """Structural guidance (:mod:`dga.guidance`)."""

    scale: float = 6.0
    """Its strength, lambda."""
    factor: int = bounded(4, 1)
    """The factor D by which the low-pass filter reduces pictures."""
    through_network: bool = True
    """Whether the gradient runs through the network (DDA, Eq. 9); if not, a step needs no backward
    pass."""


@dataclass(frozen=True)
class OperatorGuidanceConfig(Bounded):
    """Guidance by a measured operator: the result, damaged again, agrees with the input."""

    weight: float = bounded(0.002, 1e-6)
    """Weight of the denoised picture against that agreement, times abar / (1 - abar)."""


@dataclass(frozen=True)
class Diffusion(Bounded):
    """How deep a picture is noised, and how it is denoised from there.

    Raises ``ValueError`` where it has neither a depth nor a stopping rule, and for ``eta`` without
    ``steps``.
    """

    stopping: StoppingConfig | None = None
    """The rule that chooses a depth for each picture, counted from its entry."""
    depth: int | None = bounded(None, 0)
    """A fixed depth, 0 to T, instead of the rule."""
    guidance: GuidanceConfig | OperatorGuidanceConfig | None = None
    """What holds the result to the picture as it came; None: nothing."""
    steps: int | None = bounded(None, 1)
    """Most denoising steps; None: one for every depth, in turn."""
    eta: float | None = bounded(None, 0, 1)
    """Randomness of these steps, 0 to 1; None: 0."""
    sharpen: float = bounded(0.0, 0)
    """The result is sharpened as if a disk of this radius, in pixels, had blurred it; 0: it is
    not."""
    sharpen_regularisation: float = bounded(0.1, 0.001)
    """Noise-to-signal ratio of the Wiener filter that sharpens."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.depth is None and self.stopping is None:
            raise ValueError("A diffusion method needs a fixed depth or a stopping rule.")
        if self.eta is not None and self.steps is None:
            raise ValueError("eta is of few steps: say how many steps as well, or leave it out.")

    def with_depth(self, depth: int) -> Self:
        """This diffusion with a fixed depth instead of its stopping rule."""
        return replace(self, stopping=None, depth=depth)


@dataclass(frozen=True)
class MendingConfig(Bounded):
    """How the denoiser that sees the damaged picture mends it (:mod:`dga.mending`)."""

    diffusion: Diffusion = Diffusion(depth=0, steps=4)
    """How deep, at one fixed depth, its first estimate is noised and denoised again; at depth 0 the
    estimate is the result."""
    least_change: float = bounded(0.016, 0, 2)
    """Mean change of the pixels, in [-1, 1], below which a picture counts as undamaged and is left
    alone."""
    least_share: float = bounded(0.265, 0)
    """The same as a share of the mean differences between neighbouring pixels, down and across:
    fine texture is changed more than plain areas. For earlier weights it was 0.2, and two of 120
    undamaged photographs were changed by as much."""
    objection: float = 2.5
    """Mean logit by which the result may look more damaged to the discriminator, and be used. From
    1 on two results of 1,000 were refused, both of them right."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.diffusion.depth is None:
            raise ValueError("Mending needs a fixed depth.")


@dataclass(frozen=True)
class Repair:
    """All that is done to a picture.

    Its damage is explained and undone. The rest is noised up to a stop, and denoised. What is left
    is mended.
    """

    diffusion: Diffusion
    """For pictures to which none of the next two diffusions applies."""
    explain: ExplanationConfig | None = None
    """How damage is explained, which is undone first; None: no damage is looked for."""
    noise_diffusion: Diffusion | None = field(default=None, metadata={"prefix": "noise_"})
    """For pictures that hold noise and are not mended; None: ``diffusion``."""
    blur_diffusion: Diffusion | None = field(default=None, metadata={"prefix": "blur_"})
    """For pictures whose operator was measured, zoom and blocks included; None: they are undone and
    not denoised."""
    mending: MendingConfig | None = field(default=None, metadata={"prefix": "mend_"})
    """How a denoiser that sees the picture mends it at the end; None: it does not."""

    @property
    def diffusions(self) -> dict[str, Diffusion]:
        """The diffusions that are set, by the names of their fields."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, Diffusion)}

    def with_depth(self, depth: int) -> Self:
        """This repair with one fixed depth for every picture."""
        changes: dict[str, Any] = {
            name: diffusion.with_depth(depth) for name, diffusion in self.diffusions.items()
        }
        return replace(self, **changes)


@dataclass(frozen=True)
class ReleaseConfig:
    """How a corrupted data set was made from clean pictures, as ImageNet-C was.

    The shorter side was resized, the middle was cut out, corrupted, and saved as JPEG.
    """

    resize: int = 256
    """Pixels of the resized shorter side."""
    crop: int = 224
    """Pixels a side of the middle."""
    quality: int | None = 85
    """Of the JPEG, 1 to 100; None: pictures are not saved."""
    bicubic: bool = False
    """Whether resizing is bicubic instead of bilinear."""


@dataclass(frozen=True)
class Profile:
    """A set of networks with their shapes, the size of its pictures, and settings of methods."""

    name: str
    image_size: int
    """Pixels a side of the square pictures."""
    schedule: ScheduleConfig
    denoiser: NetworkConfig
    discriminator: NetworkConfig
    classifier: ClassifierConfig
    stopping: StoppingConfig
    """The rule of DGA and DGA + G."""
    guidance: GuidanceConfig
    """The guidance of DGA + G."""
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
    """Guidance of DGA + G and DDA where every depth is visited in turn; None: ``guidance`` and
    ``dda_guidance``."""
    networks: str | None = None
    """Another profile, whose diffusion model and discriminators serve where this one has none."""
    public: PublicFile | None = None
    """The checkpoint of the denoiser, where others publish it."""
    release: ReleaseConfig | None = None
    """How its pictures are prepared before they are corrupted; None: they are only resized."""
