"""Variants of the discriminator: what its two classes hold, and whether x_t or x0_hat is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dga.corruptions import CORRUPTIONS, SUBSETS, check_corruptions
from dga.discriminator import INPUTS
from dga.io.parsing import check_choice

SOURCES = ("images", "generated", "crossed")
FROZEN_PRECISIONS = ("float32", "bfloat16")


@dataclass(frozen=True)
class Study:
    """One way to train the discriminator; the defaults are the shipped one's.

    ``source``: class 0 is clean ``images``, or pictures ``generated`` by the diffusion
    model (the paper's text), or both classes are half real and half generated
    (``crossed``). ``corruptions``: what class 1 suffers. ``input``: it judges the state
    ``x_t`` or the frozen denoiser's estimate ``x0_hat``. ``diffusion`` holds that model's
    weights (default: those that ship), ``samples`` counts generated pictures, ``shards``
    is where they are kept, ``precision`` is the frozen model's. ``explanations``: class 1 also
    holds right and wrong explanations, see :mod:`~dga.training.discriminator.explanations`.
    """

    source: str = "images"
    corruptions: tuple[str, ...] = CORRUPTIONS
    input: str = "x_t"
    diffusion: Path | None = None
    samples: int = 1024
    shards: Path | None = None
    precision: str = "float32"
    explanations: bool = False

    def __post_init__(self) -> None:
        for what, value, allowed in (
            ("source", self.source, SOURCES),
            ("input", self.input, INPUTS),
            ("precision", self.precision, FROZEN_PRECISIONS),
        ):
            check_choice(what, value, allowed)
        check_corruptions(set(self.corruptions))
        if self.samples < 1:
            raise ValueError("At least one picture must be generated.")

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Study:
        """The study that a discriminator's ``config.json`` tells of."""
        return cls(
            source=config.get("source", "images"),
            corruptions=tuple(config.get("corruptions", CORRUPTIONS)),
            input=config.get("input", "x_t"),
            explanations=config.get("explanations", False),
        )

    @property
    def needs_samples(self) -> bool:
        return self.source != "images"

    @property
    def needs_diffusion(self) -> bool:
        return self.needs_samples or self.input == "x0_hat"

    @property
    def name(self) -> str:
        """Short name: images, generated, crossed, images-blur, leave-out, images-x0_hat,
        images-explanations ...
        """
        groups = {names: group for group, names in SUBSETS.items()}
        group = groups.get(self.corruptions, "+".join(self.corruptions))
        source = "" if (self.source, group) == ("images", "extra") else self.source
        damage = {"all": "", "extra": "leave-out"}.get(group, group)
        state = "" if self.input == "x_t" else self.input
        more = "explanations" if self.explanations else ""
        return "-".join(part for part in (source, damage, state, more) if part)

    def facts(self, diffusion_id: str) -> dict[str, Any]:
        """What ``config.json`` keeps. ``diffusion_id``: the diffusion weights' identity."""
        facts: dict[str, Any] = {
            "source": self.source,
            "corruptions": list(self.corruptions),
            "input": self.input,
        }
        if self.needs_diffusion:
            facts |= {"diffusion": diffusion_id, "precision": self.precision}
        if self.needs_samples:
            facts["samples"] = self.samples
        if self.explanations:
            facts["explanations"] = True
        return facts
