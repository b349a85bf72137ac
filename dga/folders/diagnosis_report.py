"""What lines of diagnoses say together, and the page on it: one file, without scripts."""

from __future__ import annotations

import base64
import heapq
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from dga.diagnosis import DAMAGE_KINDS, SURE, DamageKind
from dga.folders.records import Line
from dga.io.numbers import count_pictures, format_share
from dga.io.parsing import check_choice, split_list

MOST_WORST = 12
"""How many pictures of each kind of damage, and how many classes, are shown."""
BINS = 8
"""Bars of a histogram of strengths."""
Thumbnails = Mapping[str, tuple[bytes, bytes]]
"""By a picture's path: as it came, and repaired, as WebP; empty bytes where there is none."""


@dataclass(frozen=True)
class Criteria:
    """Which findings count: of ``kinds``, and at least as strong as ``least`` says for a kind."""

    kinds: Sequence[str] = tuple(DAMAGE_KINDS)
    least: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def parse(cls, only: str | None, least: str | None) -> Criteria:
        """Parse ``noise,blur`` and ``noise=0.1,blur=3``, or one number where there is one kind.

        Raises ``ValueError`` for other kinds, and for what is no number from 0 on.
        """
        kinds = split_list(only or "") or tuple(DAMAGE_KINDS)
        for kind in kinds:
            check_choice("kind", kind, DAMAGE_KINDS)
        least = f"{kinds[0]}={least}" if least and "=" not in least and len(kinds) == 1 else least
        try:
            pairs = [part.split("=") for part in split_list(least or "")]
            strengths = {kind: float(number) for kind, number in pairs}
            if not all(number >= 0 for number in strengths.values()):
                raise ValueError
        except ValueError:
            example = "--min-strength looks like noise=0.1,blur=3"
            raise ValueError(f"{example}, not {least!r}.") from None
        for kind in strengths:
            check_choice("kind", kind, kinds)
        return cls(kinds, strengths)

    def list_findings(self, line: Line) -> list[dict[str, Any]]:
        """The findings of a line that count."""

        def does_count(finding: Line) -> bool:
            kind = finding["kind"]
            baseline = DAMAGE_KINDS[kind].baseline
            is_strong = finding["severity"] >= abs(self.least.get(kind, baseline) - baseline)
            return kind in self.kinds and is_strong and finding["sureness"] >= SURE

        return list(filter(does_count, line.get("findings", ())))

    def has_repair(self, line: Line) -> bool:
        """Whether something that counts may be undone."""
        return any(finding["undoable"] is not False for finding in self.list_findings(line))


@dataclass
class KindSummary:
    """One kind: its pictures' strengths, how many may be undone, and its worst pictures.

    ``worst``: a heap of (severity, path, sureness, description).
    """

    kind: DamageKind
    strengths: array[float] = field(default_factory=lambda: array("d"))
    undoable: int = 0
    worst: list[tuple[float, str, float, str]] = field(default_factory=list)

    def add(self, path: str, finding: Line) -> None:
        """Count a finding."""
        self.strengths.append(finding["strength"])
        self.undoable += finding["undoable"] is not False
        entry = (finding["severity"], path, finding["sureness"], finding["description"])
        (heapq.heappush if len(self.worst) < MOST_WORST else heapq.heappushpop)(self.worst, entry)

    @property
    def median(self) -> str:
        """The median strength, in its unit."""
        return self.kind.template.format(float(np.median(self.strengths)))

    @property
    def bars(self) -> list[tuple[str, int, float]]:
        """The histogram: from which to which strength, how many, and their share of the most."""
        counts, edges = np.histogram(self.strengths, min(BINS, len(set(self.strengths))))
        bounds = [f"{edge:.3g}" for edge in edges]
        return [
            (f"{low} to {high}" if low != high else low, int(count), count / counts.max())
            for low, high, count in zip(bounds, bounds[1:], counts, strict=False)
        ]


@dataclass
class Summary:
    """What the lines say of all pictures; each list has a sentence on each picture."""

    read: int = 0
    """Pictures that could be read; the next three are some of these."""
    photographs: int = 0
    damaged: int = 0
    repairable: int = 0
    """With something that may be undone."""
    compared: int = 0
    """Damaged ones that the classifier read as they came and repaired."""
    changed: int = 0
    """Those of them that it reads otherwise once they are repaired."""
    errors: list[str] = field(default_factory=list)
    """Why pictures could not be read."""
    failed: list[str] = field(default_factory=list)
    """Why pictures could not be repaired."""
    losses: list[str] = field(default_factory=list)
    """What repaired files lack."""
    kinds: dict[str, KindSummary] = field(default_factory=dict)
    classes: dict[str, list[int]] = field(default_factory=dict)
    """By folder: how many pictures, and how many damaged ones."""

    @classmethod
    def of(cls, lines: Iterable[Line], criteria: Criteria, denied: Iterable[str]) -> Summary:
        """Count lines as they come; none is kept. ``denied``: further sentences for ``errors``."""
        kinds = {kind: KindSummary(DAMAGE_KINDS[kind]) for kind in criteria.kinds}
        summary = cls(errors=[*denied], kinds=kinds)
        for line in lines:
            summary._add(line, criteria)
        return summary

    def _add(self, line: Line, criteria: Criteria) -> None:
        if "error" in line:
            self.errors.append(line["error"])
            return
        findings = criteria.list_findings(line)
        self.read += 1
        self.photographs += line["photograph"]
        self.damaged += bool(findings)
        self.repairable += criteria.has_repair(line)
        of_class = self.classes.setdefault(line["class"], [0, 0])
        of_class[0] += 1
        of_class[1] += bool(findings)
        if findings and "reading_repaired" in line:
            self.compared += 1
            self.changed += line["reading_came"] != line["reading_repaired"]
        for finding in findings:
            self.kinds[finding["kind"]].add(line["path"], finding)

    @property
    def share(self) -> float:
        """Share of the pictures that are damaged, 0 to 1."""
        return self.damaged / max(1, self.read)

    @property
    def present(self) -> list[KindSummary]:
        """Kinds that some picture has, the most frequent first."""
        kinds = (kind for kind in self.kinds.values() if kind.strengths)
        return sorted(kinds, key=lambda kind: -len(kind.strengths))

    @property
    def worst_paths(self) -> list[str]:
        """Pictures that are shown."""
        return list(dict.fromkeys(path for kind in self.present for _, path, *_ in kind.worst))

    @property
    def worst_classes(self) -> list[str]:
        """Classes with more damaged pictures than an average one, those most beyond first."""
        beyond = {name: damaged - self.share * n for name, (n, damaged) in self.classes.items()}
        names = [name for name, excess in beyond.items() if excess > 0]
        return sorted(names, key=lambda name: -beyond[name])[:MOST_WORST]

    def __str__(self) -> str:
        """All of it, for a terminal."""
        kinds = ", ".join(f"{kind.kind.title} {len(kind.strengths):,}" for kind in self.present)
        text = f"{count_pictures(self.read)}: {self.damaged:,} damaged ({format_share(self.share)})"
        return f"{text}{': ' * bool(kinds)}{kinds}."


def render_report(
    summary: Summary, thumbnails: Thumbnails, command: str, is_repaired: bool, is_fast: bool
) -> str:
    """The page. ``command``: that made it; ``is_fast``: whether no network was asked."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined
    )
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.filters |= {
        "share": format_share,
        "n": "{:,}".format,
        "embed": lambda data: f"data:image/webp;base64,{base64.b64encode(data).decode()}",
    }
    return environment.get_template("diagnosis_report.html").render(
        summary=summary,
        thumbnails=thumbnails,
        command=command if is_repaired else f"{command} --repair",
        is_repaired=is_repaired,
        is_fast=is_fast,
    )
