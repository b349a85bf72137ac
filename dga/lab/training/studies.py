"""Variants of the discriminator: what its two classes hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dga.corruptions import CORRUPTIONS
from dga.io.parsing import check_choice
from dga.lab.data.imagenet_c import SUBSETS, check_corruptions

SOURCES = ("images", "generated")


@dataclass(frozen=True)
class Study:
    """One way to train the discriminator; the defaults are the shipped one's.

    ``source``: class 0 is clean ``images``, or pictures ``generated`` by the diffusion model (the
    paper's text), ``samples`` of them by the weights in ``diffusion`` (default: those that ship).
    ``corruptions``: what class 1 suffers. ``explanations``: class 1 also holds right and wrong
    explanations, see :mod:`~dga.lab.training.random_explanations`.
    """

    source: str = "images"
    corruptions: tuple[str, ...] = CORRUPTIONS
    diffusion: Path | None = None
    samples: int = 1024
    explanations: bool = False

    def __post_init__(self) -> None:
        check_choice("source", self.source, SOURCES)
        check_corruptions(set(self.corruptions))
        if self.samples < 1:
            raise ValueError("At least one picture must be generated.")

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Study:
        """The study that a discriminator's ``config.json`` tells of."""
        return cls(
            source=config.get("source", "images"),
            corruptions=tuple(config.get("corruptions", CORRUPTIONS)),
            explanations=config.get("explanations", False),
        )

    @property
    def name(self) -> str:
        """Short name: images, generated, images-blur, leave-out, images-explanations ..."""
        groups = {names: group for group, names in SUBSETS.items()}
        group = groups.get(self.corruptions, "+".join(self.corruptions))
        source = "" if (self.source, group) == ("images", "extra") else self.source
        damage = {"all": "", "extra": "leave-out"}.get(group, group)
        more = "explanations" if self.explanations else ""
        return "-".join(part for part in (source, damage, more) if part)

    def facts(self, diffusion_id: str) -> dict[str, Any]:
        """What ``config.json`` keeps. ``diffusion_id``: the diffusion weights' identity."""
        facts: dict[str, Any] = {
            "source": self.source,
            "corruptions": list(self.corruptions),
            "explanations": self.explanations,
        }
        if self.source == "generated":
            facts |= {"diffusion": diffusion_id, "samples": self.samples}
        return facts
