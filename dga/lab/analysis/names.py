"""Names of methods taken apart, groups of corruptions, and the traits of Table 1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

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
SPLITS = {"report": "never used for tuning", "tune": "used for tuning"}
"""The two parts of the validation photographs."""
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
YES, NO = "✓", "✗"
TRAITS: dict[str, tuple[str, ...]] = {
    "source": ("None", NO, NO, YES),
    "tent": ("Model", NO, NO, NO),
    "memo": ("Model", NO, YES, NO),
    "denoise": ("Input", NO, YES, YES),
    "diffpure": ("Input", YES, NO, YES),
    "dda": ("Input", YES, NO, YES),
    "dga": ("Input", YES, YES, YES),
    "dga-guided": ("Input", YES, YES, YES),
    "dga-plus": ("Input", YES, YES, YES),
    "dga-plus+tent": ("Input, model", YES, NO, NO),
}
"""The columns of the paper's Table 1 that describe a system: what it adapts, whether it diffuses,
whether it works on each sample alone, and whether the classifier stays frozen."""


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
    def parse(cls, name: str) -> MethodName:
        """Take a name apart; no name is refused."""
        base, *parts = name.split(":")
        settings = dict(part.partition("=")[::2] for part in parts)
        system, _, variant = base.rpartition("-")
        if variant not in VARIANTS or system not in SYSTEMS:
            system, variant = base, ""
        return cls(name, base, system, variant, settings)

    @property
    def is_sweep(self) -> bool:
        """Whether this is a point of a sweep: our method at one depth or one tau."""
        is_swept = list(self.settings) in (["depth"], ["tau"])
        return is_swept and self.system in ("dga", "dga-guided")

    @property
    def is_plus_changed(self) -> bool:
        """Whether this is DGA+ with a setting changed, such as a stage that is left out."""
        return self.base == PLUS and bool(self.settings)

    @property
    def is_variation(self) -> bool:
        """Whether this varies one of our own methods, and so is in no table of all methods."""
        return self.is_sweep or self.is_plus_changed

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the repair and of the reader of a pair, to which its settings belong."""
        repair, _, reader = self.base.partition("+")
        return (repair, _join_settings(reader, self.settings)) if reader else ()

    @property
    def is_permuted(self) -> bool:
        """Whether this is a control that permutes something among the pictures of its batch."""
        return self.settings.get("permute", "none") != "none"

    @property
    def without_permutation(self) -> str:
        """The name of the method whose choices a control permutes."""
        rest = {k: value for k, value in self.settings.items() if k not in ("permute", "batch")}
        return _join_settings(self.base, rest)

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


def _join_settings(base: str, settings: Mapping[str, str]) -> str:
    return ":".join([base, *(f"{key}={value}" for key, value in settings.items())])


def format_method(name: str) -> str:
    """The title of a method by its name: ``DGA + G`` for ``dga-guided``."""
    return MethodName.parse(name).title


def find_sweep(names: Iterable[str], base: str, setting: str) -> dict[float, str]:
    """Methods by the number of one setting, in order: ``{4: "dga:depth=4", 8: "dga:depth=8"}``."""
    methods = map(MethodName.parse, sorted(names))
    swept = [m for m in methods if m.base == base and list(m.settings) == [setting]]
    sweep = {float(m.settings[setting]): m.name for m in swept if m.settings[setting] != "none"}
    return dict(sorted(sweep.items()))


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
