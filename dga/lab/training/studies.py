"""Variants of the discriminator: what its second class holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dga.corruptions import CORRUPTIONS
from dga.lab.data.imagenet_c import SUBSETS, check_corruptions


@dataclass(frozen=True)
class Study:
    """One way to train the discriminator; the defaults are the shipped one's. Class 0 is clean."""

    corruptions: tuple[str, ...] = CORRUPTIONS
    """The corruptions of class 1."""
    explanations: bool = False
    """Whether class 1 also holds right and wrong explanations, see
    :mod:`~dga.lab.training.random_explanations`."""

    def __post_init__(self) -> None:
        check_corruptions(set(self.corruptions))

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Study:
        """The study that the ``config.json`` of a discriminator describes."""
        return cls(
            corruptions=tuple(config.get("corruptions", CORRUPTIONS)),
            explanations=config.get("explanations", False),
        )

    @property
    def name(self) -> str:
        """A short name: images, images-blur, leave-out, images-explanations ..."""
        groups = {names: group for group, names in SUBSETS.items()}
        group = groups.get(self.corruptions, "+".join(self.corruptions))
        damage = {"all": "images", "extra": "leave-out"}.get(group, f"images-{group}")
        return f"{damage}-explanations" if self.explanations else damage

    @property
    def facts(self) -> dict[str, Any]:
        """What ``config.json`` says of the study."""
        return {"corruptions": list(self.corruptions), "explanations": self.explanations}
