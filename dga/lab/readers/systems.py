"""What is measured: the library's systems, readers that adapt, pairs of both, and controls.

A reader is the frozen classifier, or one that adapts, such as Tent and MEMO. Any pair of a repair
and a reader is a system, too.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Literal

import torch
from torch import Tensor

from dga import systems as library
from dga.profiles import Profile
from dga.profiles.configs import Bounded, bounded
from dga.systems import ONLY_WITH_REPAIR, System, configure

PAIR_TRUST = 2.0
"""``trust`` of a pair whose reader waits for batches, chosen on tune
(assets/results/everyday16/README.md)."""
Permutation = Literal["none", "noise", "depth", "explanation"]


@dataclass(frozen=True)
class TentConfig(Bounded):
    """Settings of Tent, which takes one step of its optimiser for each batch."""

    lr: float = bounded(2.5e-4, 0)
    """The learning rate for a batch of 64, which scales with ``batch``."""
    momentum: float = bounded(0.9, 0, 1)
    batch: int = bounded(64, 1)


@dataclass(frozen=True)
class MemoConfig(Bounded):
    """Settings of MEMO, which takes one step for each picture, on ``views`` augmented copies.

    Each copy is cropped to at least the share ``min_area`` of the picture.
    """

    lr: float = bounded(2.5e-4, 0)
    views: int = bounded(64, 1)
    min_area: float = bounded(0.08, 0, 1)


@dataclass(frozen=True)
class DenoiseConfig(Bounded):
    """Settings of non-local means."""

    strength: float = bounded(0.8, 0)
    """Its h, as a multiple of the standard deviation of the noise."""


MEMO = {"everyday16": MemoConfig(views=32, min_area=0.4), "imagenet": MemoConfig(lr=1e-5)}
"""MEMO's settings by profile, where they are not the usual ones."""


@dataclass(frozen=True)
class MeasuredSystem(System):
    """A row of a table. Raises ``ValueError`` for numbers out of range."""

    reader: TentConfig | MemoConfig | DenoiseConfig | None = None
    """None: the frozen classifier."""
    trust: float = field(default=0.0, metadata=ONLY_WITH_REPAIR | {"bounds": (0, math.inf)})
    """How much more an ensemble's surer reading counts, 0: not at all. Both weights are multiplied
    by exp(-trust x mean entropy of that reading, in nats), then scaled to a sum of 1."""
    permute: Permutation = field(default="none", metadata=ONLY_WITH_REPAIR)
    """A control: pictures of a batch exchange their noise (with entry k0 and t*), their depth (t*
    beyond the entry) or their whole explanation (:mod:`dga.lab.readers.permutation`)."""
    batch: int | None = field(default=None, metadata=ONLY_WITH_REPAIR | {"bounds": (1, math.inf)})
    """How many pictures exchange theirs, unless the reader has a batch of its own."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.permute != "none" and not (self.batch or getattr(self.reader, "batch", None)):
            raise ValueError(
                f"permute={self.permute} needs batch=N: how many pictures exchange theirs."
            )
        if self.permute in ("noise", "depth") and self.repair and self.repair.mending:
            raise ValueError(
                f"permute={self.permute} is no control here: noise in a photograph is mended, at "
                "no depth of its own. permute=explanation is one."
            )

    def average(self, repaired: Tensor, damaged: Tensor) -> Tensor:
        """As :meth:`dga.systems.System.average`, weighted also by how sure both readings are."""
        both = torch.stack([repaired, damaged])  # [2, B, classes]
        entropy = torch.special.entr(both).sum(2).mean(1)  # [2]
        shares = torch.tensor([1 - self.share, self.share])
        weights = (shares.log() - self.trust * entropy).softmax(0)
        return (weights.view(2, 1, 1) * both).sum(0)


def systems(profile: Profile) -> dict[str, MeasuredSystem]:
    """Every system that has a name of its own, in the order of the paper's Table 1."""
    named = {name: MeasuredSystem(**vars(one)) for name, one in library.systems(profile).items()}
    readers: dict[str, TentConfig | MemoConfig | DenoiseConfig] = {
        "tent": TentConfig(),
        "memo": MEMO.get(profile.name, MemoConfig()),
        "denoise": DenoiseConfig(),
    }
    adapting = {name: MeasuredSystem(name, reader=reader) for name, reader in readers.items()}
    return {"source": named.pop("source"), **adapting, **named}


def parse(profile: Profile, text: str) -> MeasuredSystem:
    """The system that a text such as ``dga-guided``, ``dga-plus+tent`` or ``dga:tau=0.3`` names.

    Raises ``ValueError`` naming the repairs, readers or settings that there are.
    """
    return configure(profile, _find_system(profile, text.partition(":")[0]), text)


def _find_system(profile: Profile, name: str) -> MeasuredSystem:
    """The system of that name, or a pair of a repair and a reader, ``dga-plus+tent``."""
    by_name = systems(profile)
    if name in by_name:
        return by_name[name]
    repair, plus, reader = name.partition("+")
    if not plus:
        raise ValueError(library.refuse_name(name, by_name))
    repairs = [name for name, system in by_name.items() if system.repair]
    readers = [name for name, system in by_name.items() if system.reader]
    if repair not in repairs:
        raise ValueError(f"Unknown repair {repair!r}. Known: {', '.join(repairs)}.")
    if reader not in readers:
        raise ValueError(f"Unknown reader {reader!r}. Known: {', '.join(readers)}.")
    settings = by_name[reader].reader
    is_batched = getattr(settings, "batch", None) is not None  # MEMO reads each picture alone
    trust = PAIR_TRUST if is_batched else 0.0
    return replace(by_name[repair], reader=settings, ensemble=True, trust=trust)
