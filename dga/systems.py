"""The systems of the paper's Table 1, their variants and ours: each is a repair and a reader.

A repair is all that is done to a picture (:class:`~dga.profiles.Repair`): explain, noise, stop,
denoise. A reader is the frozen classifier, or one that adapts, such as Tent and MEMO. A system is
any pair of them; a new one is a line in :func:`systems`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from dga.diffusion import Schedule
from dga.io.settings import override
from dga.profiles import (
    DenoiseConfig,
    Diffusion,
    GuidanceConfig,
    MemoConfig,
    Profile,
    Repair,
    TentConfig,
)
from dga.profiles.configs import Bounded, bounded

PAIR_TRUST = 2.0
"""``trust`` of a pair whose reader waits for batches, chosen on tune
(assets/results/everyday16/README.md)."""
DAMAGED_SHARE = 0.3
"""Weight of the damaged picture in DGA+'s ensemble (assets/results/photo/README.md)."""
DEFAULT_SYSTEMS = ("dga", "dga-guided", "dda", "dga-plus")
"""The systems that repair one picture, unless others are named."""
Permutation = Literal["none", "noise", "depth", "explanation"]
NOT_A_SETTING, ONLY_WITH_REPAIR = {"is_setting": False}, {"needs": "repair"}


@dataclass(frozen=True)
class Control(Bounded):
    """What an experiment changes about a repair.

    ``permute``: pictures of a batch exchange their ``noise`` (with entry k0 and t*), their
    ``depth`` (t* beyond the entry) or their whole ``explanation``, in a fixed random order
    (:mod:`dga.lab.readers.permutation`); ``batch``: how many pictures exchange theirs, unless the
    reader has a batch of its own.
    """

    permute: Permutation = "none"
    batch: int | None = bounded(None, 1)


@dataclass(frozen=True)
class System(Bounded):
    """A row of a table. Raises ``ValueError`` for numbers out of range."""

    name: str = field(metadata=NOT_A_SETTING)
    """As a user types it, settings included."""
    reader: TentConfig | MemoConfig | DenoiseConfig | None = None
    """None: the frozen classifier."""
    repair: Repair | None = None
    """None: the picture stays as it is."""
    ensemble: bool = field(default=False, metadata=ONLY_WITH_REPAIR)
    """Whether the damaged and the repaired picture are both read, and their probabilities averaged
    (DDA, section 3.3)."""
    share: float = field(default=0.5, metadata=ONLY_WITH_REPAIR | {"bounds": (0, 1)})
    """Weight of the damaged picture in that average, 0 to 1."""
    trust: float = field(default=0.0, metadata=ONLY_WITH_REPAIR | {"bounds": (0, math.inf)})
    """How much more the surer reading counts, 0: not at all. Both weights are multiplied by
    exp(-trust x mean entropy of that reading, in nats), then scaled to a sum of 1."""
    control: Control = field(default=Control(), metadata=ONLY_WITH_REPAIR)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.control.permute != "none" and self.batch is None:
            raise ValueError(
                f"permute={self.control.permute} needs batch=N: how many pictures exchange theirs."
            )

    @property
    def diffusions(self) -> tuple[Diffusion, ...]:
        """The diffusions of the repair; none where there is no repair."""
        return tuple(self.repair.diffusions.values()) if self.repair else ()

    @property
    def batch(self) -> int | None:
        """How many pictures are answered together, where answers depend on each other."""
        return getattr(self.reader, "batch", None) or self.control.batch


def systems(profile: Profile) -> dict[str, System]:
    """Every system that has a name of its own, in the order of the paper's Table 1.

    ``-ancestral``: every depth in turn. ``-published``: the settings of the papers (DDA: depth
    50 of 100, lambda 6 and self-ensemble; DiffPure: t = 0.15). The others were tuned for the
    profile.
    """
    rule, depth, ancestral = profile.stopping, profile.dda_depth, profile.ancestral_guidance
    sampling: dict[str, Any] = {"steps": profile.steps, "eta": profile.eta}
    guidance, dda_guidance = profile.guidance, profile.dda_guidance
    dda = Repair(Diffusion(depth=depth, guidance=dda_guidance, **sampling))
    dda_published = Repair(Diffusion(depth=50, guidance=GuidanceConfig(6.0)))
    plus = System("dga-plus", repair=profile.plus)
    named = (
        System("source"),
        System("tent", profile.tent),
        System("memo", profile.memo),
        System("denoise", DenoiseConfig()),
        System("diffpure", repair=Repair(Diffusion(depth=profile.diffpure_depth))),
        System("diffpure-published", repair=Repair(Diffusion(depth=16))),
        System("dda", repair=dda),
        System("dda-ensemble", repair=dda, ensemble=True),
        System("dda-published", repair=dda_published, ensemble=True),
        System(
            "dda-ancestral",
            repair=Repair(Diffusion(depth=depth, guidance=ancestral or dda_guidance)),
        ),
        System("dga", repair=Repair(Diffusion(rule, **sampling))),
        System("dga-ancestral", repair=Repair(Diffusion(rule))),
        System("dga-guided", repair=Repair(Diffusion(rule, guidance=guidance, **sampling))),
        System(
            "dga-guided-ancestral", repair=Repair(Diffusion(rule, guidance=ancestral or guidance))
        ),
        plus,
        replace(plus, name="dga-plus-ensemble", ensemble=True, share=DAMAGED_SHARE),
    )
    return {system.name: system for system in named}


def parse(profile: Profile, text: str) -> System:
    """The system that a text such as ``dga-guided``, ``dga-plus+tent`` or ``dga:tau=0.3`` names.

    Raises ``ValueError`` naming the repairs, readers or settings that there are.
    """
    name, changes = _split_settings(text)
    system: System = override(replace(_find_system(profile, name), name=text), changes)
    schedule = Schedule.from_config(profile.schedule)
    for diffusion in system.diffusions:
        schedule.check_depth(diffusion.depth or 0)
        if diffusion.stopping:
            schedule.check_depth(diffusion.stopping.deepest)
    return system


def _split_settings(text: str) -> tuple[str, dict[str, str]]:
    """``dga:tau=0.3`` to its name and its settings.

    Raises ``ValueError`` for other text, and for a setting that is named twice.
    """
    name, *parts = text.split(":")
    pairs = [part.partition("=") for part in parts]
    if any(not sign for _, sign, _ in pairs):
        raise ValueError(f"Settings look like {name}:tau=0.3:scale=3, not {text!r}.")
    changes = {key: value for key, _, value in pairs}
    if len(changes) < len(pairs):
        raise ValueError(f"{text} names a setting twice: leave one of the two out.")
    return name, changes


def parse_all(profile: Profile, texts: Sequence[str]) -> dict[str, System]:
    """Systems by the text that names them. Raises ``ValueError`` for none or unknown ones."""
    if not texts:
        raise ValueError(f"No method was named. Known: {', '.join(systems(profile))}.")
    return {text: parse(profile, text) for text in texts}


def _find_system(profile: Profile, name: str) -> System:
    """The system of that name, or a pair of a repair and a reader, ``dga-plus+tent``."""
    by_name = systems(profile)
    if name in by_name:
        return by_name[name]
    repair, plus, reader = name.partition("+")
    if not plus:
        raise ValueError(f"Unknown method {name!r}. Known: {', '.join(by_name)}.")
    repairs = [name for name, system in by_name.items() if system.repair]
    readers = [name for name, system in by_name.items() if system.reader]
    if repair not in repairs:
        raise ValueError(f"Unknown repair {repair!r}. Known: {', '.join(repairs)}.")
    if reader not in readers:
        raise ValueError(f"Unknown reader {reader!r}. Known: {', '.join(readers)}.")
    trust = PAIR_TRUST if by_name[reader].batch else 0.0  # MEMO reads each picture alone
    return replace(by_name[repair], reader=by_name[reader].reader, ensemble=True, trust=trust)


def require_repair(system: System) -> Repair:
    """The system's repair, where one picture suffices and the frozen classifier reads.

    Raises ``ValueError`` for systems without a repair, with an adapting reader, an ensemble or a
    control over a batch.
    """
    if system.repair is None or system.reader or system.batch or system.ensemble:
        raise ValueError(
            f"{system.name} is measured on many pictures (python -m dga evaluate); one picture is "
            "repaired, and read by the frozen classifier."
        )
    return system.repair
