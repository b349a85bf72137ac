"""Names of methods taken apart, and groups of corruptions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from dga.corruptions import CLEAN, CORRUPTIONS, FAMILIES, SEVERITIES

SYSTEMS = {
    "source": "Nothing done",
    "tent": "Tent",
    "memo": "MEMO",
    "denoise": "Non-local means",
    "diffpure": "DiffPure",
    "dda": "DDA",
    "dga": "DGA",
    "dga-guided": "DGA + G",
    "dga-plus": "DGA+",
    "dga-plus+tent": "DGA+ and Tent",
}
"""Titles of the systems of the paper's Table 1, in its order, and of ours."""
STREAMS = {
    "wild": "Mixed stream",
    "sorted": "Mixed stream sorted by label",
    "single": "Mixed stream one picture at a time",
}
"""Titles of streams of clean pictures and all severities mixed."""
MEAN, SOURCE, PLUS = "mean", "source", "dga-plus"
GROUPS: dict[str, tuple[str, ...]] = {
    MEAN: CORRUPTIONS,
    **FAMILIES,
    **{name: (name,) for name in CORRUPTIONS},
    CLEAN: (CLEAN,),
}
"""What an accuracy is averaged over: all fifteen, a family, one corruption."""
ALL = "all"
STREAM_GROUPS = (ALL, CLEAN, *map(str, SEVERITIES), *FAMILIES)
VARIANTS = ("published", "", "ancestral", "ensemble")
"""The variants of a system, named by the end of a method's name, in the order of tables."""
TUNED = ("diffpure", "dda")
"""Rivals whose settings were tuned on our pictures, unless they are the published ones."""


@dataclass(frozen=True)
class MethodName:
    """A method's name taken apart, such as ``dda-published:depth=8``."""

    name: str
    base: str
    """The name without settings: ``dda-published``."""
    system: str
    """The row of the paper's Table 1, or of our extension of it, to which the method belongs:
    ``dda``. A method from outside the package is a system of its own."""
    variant: str
    """One of :data:`VARIANTS`: ``published``."""
    settings: Mapping[str, str]
    """The settings that were changed: ``{"depth": "8"}``."""

    @classmethod
    def parse(cls, name: str) -> Self:
        """Take a name apart; no name is refused."""
        base, *parts = name.split(":")
        settings = dict(part.partition("=")[::2] for part in parts)
        system, _, variant = base.rpartition("-")
        if variant not in VARIANTS or system not in SYSTEMS:
            system, variant = base, ""
        return cls(name, base, system, variant, settings)

    @property
    def is_plus_changed(self) -> bool:
        """Whether this is DGA+ with a setting changed."""
        return self.base == PLUS and bool(self.settings)

    @property
    def is_permuted(self) -> bool:
        """Whether this is a control that permutes something among the pictures of its batch."""
        return self.settings.get("permute", "none") != "none"

    @property
    def without_permutation(self) -> str:
        """The name of the method whose choices a control permutes."""
        rest = {k: value for k, value in self.settings.items() if k not in ("permute", "batch")}
        return ":".join([self.base, *(f"{key}={value}" for key, value in rest.items())])

    @property
    def title(self) -> str:
        """A title for tables and figures: ``DGA + G, tau 0.3``; ``DGA+, depth permuted``."""
        is_tuned = self.system in TUNED and self.variant != "published"
        notes = ", ".join(filter(None, ["tuned" if is_tuned else "", self.variant]))
        words = [SYSTEMS.get(self.system, self.base) + (f" ({notes})" if notes else "")]
        for key, value in self.settings.items():
            if key == "permute":
                words.append(f"{value} permuted")
            elif value in ("true", "false"):
                words.append(f"{'with' if value == 'true' else 'without'} {key}")
            elif not (self.is_permuted and key == "batch"):
                words.append(f"{key} {value}")
        return ", ".join(words)

    @property
    def place(self) -> tuple[int, int, str]:
        """The sort key: the order of the paper's Table 1, variants together, outsiders last."""
        systems = list(SYSTEMS)
        system = systems.index(self.system) if self.system in systems else len(systems)
        return system, VARIANTS.index(self.variant), self.name


def format_method(name: str) -> str:
    """The title of a method by its name: ``DGA + G`` for ``dga-guided``."""
    return MethodName.parse(name).title


def sort_methods(names: Iterable[str]) -> list[str]:
    """Method names, each once, in the order of the paper's Table 1."""
    return sorted(set(names), key=lambda name: MethodName.parse(name).place)


def format_title(corruption: str) -> str:
    """The title of a corruption or a family: ``Motion blur``, ``Weather``."""
    words = corruption.replace("_", " ").replace("jpeg", "JPEG")
    return words[0].upper() + words[1:]


def shorten_title(corruption: str) -> str:
    """A short title: one word, such as ``Gaussian``, for the fifteen corruptions."""
    words = format_title(corruption)
    return words.split()[0] if corruption in CORRUPTIONS else words


def format_group(group: str) -> str:
    """A group's title, one or a few words."""
    if group.isdigit():
        return f"Severity {group}"
    return "Mean of 15" if group == MEAN else shorten_title(group)
