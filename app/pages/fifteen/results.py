"""One picture under all fifteen corruptions: what is known so far, and what it says."""

from __future__ import annotations

import csv
import io
import threading
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

from app.runs.settings import check_settings
from app.server.decoder import read_square
from app.server.errors import RequestError
from app.words.fifteen import CSV_COLUMNS, METHODS, ORDERS
from dga.corruptions import CORRUPTIONS, corrupt, family_of
from dga.images import Pixels
from dga.networks.classifier import Prediction
from dga.profiles import Profile
from dga.request import Request
from dga.stopping import Stop

SEED = 0
Phase = Literal["empty", "waiting", "read", "forward", "reverse", "done", "cancelled", "error"]


@dataclass(frozen=True)
class Choice:
    """One checked request.

    ``example`` is None for an upload; only an upload can be ``damaged`` already, so that
    its undamaged label is unknown. Severity, tau and seed are in ``settings``.
    """

    example: str | None
    path: str
    damaged: bool
    method: str
    settings: Request


def check_choice(
    profile: Profile,
    examples: dict[str, str],
    upload: str | None,
    example: object,
    damaged: object,
    severity: object,
    method: object,
) -> Choice:
    """Check a request from anywhere; an upload goes before the example.

    ``examples``: path by name. Raises :class:`RequestError` naming what is allowed.
    """
    if not isinstance(method, str) or method not in METHODS:
        raise RequestError(f"Unknown method. Choose one of: {', '.join(METHODS)}.")
    if upload is None and (not isinstance(example, str) or example not in examples):
        raise RequestError(f"Unknown picture. Choose one of: {', '.join(examples)}.")
    settings = check_settings(
        profile, None, severity, profile.stopping.tau, SEED, profile.dda_depth
    )
    if upload is not None:
        return Choice(None, upload, damaged is True, str(method), settings)
    return Choice(str(example), examples[str(example)], False, str(method), settings)


@dataclass
class CorruptionResult:
    """One corruption. Pictures are uint8 ``[S, S, 3]``; ``preview`` is still being rebuilt."""

    corruption: str
    before: Pixels | None = None
    said: Prediction | None = None
    stop: Stop | None = None
    preview: Pixels | None = None
    after: Pixels | None = None
    says: Prediction | None = None

    @property
    def changed(self) -> bool:
        """Whether the rebuilt picture is another than the corrupted one."""
        if self.before is None or self.after is None:
            return False
        return not np.array_equal(self.before, self.after)


@dataclass
class FifteenResults:
    """Fifteen rows in the order of their families, filled by :func:`app.pages.fifteen.run.work`.

    Without :meth:`open` there are no pictures: the page shows that until they are there.
    ``clean``: the undamaged picture, with its ``reference`` once it was read.
    ``progress``: (done, total) of the phase. ``seconds``: of the whole run.
    """

    profile: Profile
    choice: Choice
    clean: Pixels | None = None
    rows: list[CorruptionResult] = field(
        default_factory=lambda: [CorruptionResult(name) for name in CORRUPTIONS]
    )
    reference: Prediction | None = None
    phase: Phase = "empty"
    progress: tuple[int, int] = (0, 0)
    seconds: float = 0.0
    error: str = ""
    cancel: threading.Event = field(default_factory=threading.Event)

    @classmethod
    def open(cls, profile: Profile, choice: Choice) -> FifteenResults:
        """Read and corrupt the picture; no network is called. Raises ``UploadError``."""
        make = damage if choice.example is None else _damage_example
        clean, *damaged = make(
            choice.path, profile.image_size, choice.settings.severity, choice.settings.seed
        )
        rows = [
            CorruptionResult(name, picture)
            for name, picture in zip(CORRUPTIONS, damaged, strict=True)
        ]
        return cls(profile, choice, clean, rows)

    @property
    def running(self) -> bool:
        """Whether more is expected."""
        return self.phase in ("waiting", "read", "forward", "reverse")

    @property
    def finished(self) -> list[CorruptionResult]:
        """Rows that are rebuilt and read."""
        return [row for row in self.rows if row.says is not None]

    def counts(self) -> dict[str, int]:
        """``done``, and of those: labelled correctly ``before`` and ``after``, ``changed``.

        While nothing is done ``before`` counts the corrupted pictures that were read.
        """
        done = self.finished
        known = done or [row for row in self.rows if row.said is not None]
        return {
            "done": len(done),
            "before": sum(self._right(row.said) for row in known),
            "after": sum(self._right(row.says) for row in done),
            "changed": sum(label(row.said) != label(row.says) for row in done),
        }

    def verdict(self, row: CorruptionResult) -> str | None:
        """A key of :data:`app.words.fifteen.VERDICTS`; None while the row is not finished."""
        if row.says is None:
            return None
        if self.reference is None:
            return "unchanged" if label(row.said) == label(row.says) else "changed"
        before, after = self._right(row.said), self._right(row.says)
        if after:
            return "still-right" if before else "corrected"
        return "made-wrong" if before else "still-wrong"

    def _right(self, said: Prediction | None) -> bool:
        return self.reference is not None and label(said) == self.reference.label

    def gain(self, row: CorruptionResult) -> float | None:
        """How much likelier rebuilding made the undamaged picture's label, in [-1, 1].

        Without such a label: 1 plus the new label's probability if the label changed,
        else what its probability gained, so that changes come first.
        """
        if row.said is None or row.says is None:
            return None
        if self.reference is not None:
            wanted = self.reference.label
            return share(row.says, wanted) - share(row.said, wanted)
        kept = row.said.label == row.says.label
        return row.says.probability - row.said.probability if kept else 1 + row.says.probability

    def orders(self) -> dict[str, list[str]]:
        """Corruptions by family; deepest first; largest gain first. Unknown ones come last."""
        depths = {row.corruption: row.stop.t_star for row in self.rows if row.stop is not None}
        gains = {row.corruption: gain for row in self.rows if (gain := self.gain(row)) is not None}
        names = [row.corruption for row in self.rows]
        by_depth = sorted(names, key=lambda name: -depths.get(name, -1))
        by_gain = sorted(names, key=lambda name: -gains.get(name, -2.0))
        return dict(zip(ORDERS, (names, by_depth, by_gain), strict=True))

    def csv(self) -> str:
        """The table, one line a corruption; what is not known is left empty."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(CSV_COLUMNS)
        writer.writerows(self._record(row) for row in self.rows)
        return stream.getvalue()

    def _record(self, row: CorruptionResult) -> list[object]:
        asked = self.choice.settings
        asks = self.choice.method != "dda"  # a fixed depth crosses nothing
        return [
            row.corruption,
            family_of(row.corruption),
            asked.severity,
            asked.seed,
            self.choice.method,
            row.stop.t_star if row.stop else "",
            row.stop.crossed if row.stop and asks else "",
            *_answer(row.said),
            *_answer(row.says),
            *_answer(self.reference),
            self.verdict(row) or "",
        ]


def label(said: Prediction | None) -> str | None:
    """The likeliest class, if there is a prediction."""
    return said.label if said else None


def share(said: Prediction, wanted: str) -> float:
    """Probability of one class, in [0, 1]."""
    return dict(zip(said.labels, said.probabilities, strict=True))[wanted]


def _answer(said: Prediction | None) -> tuple[object, object]:
    return (said.label, round(said.probability, 4)) if said else ("", "")


def damage(path: str, size: int, severity: int, seed: int) -> tuple[Pixels, ...]:
    """The picture and then all fifteen corruptions of it, uint8 ``[size, size, 3]`` each."""
    clean = read_square(path, size)
    # Copies: some come back read-only.
    return clean, *(corrupt(clean, name, severity, seed).copy() for name in CORRUPTIONS)


# Only examples: an upload must be forgotten with its file.
_damage_example = lru_cache(maxsize=32)(damage)
