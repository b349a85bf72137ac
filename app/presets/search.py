"""Who reads which run right: examples with every damage, looked through for cases to record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.parts.examples import Example
from app.presets.cases import Case
from app.presets.store import settings_of
from app.runs.session import Session
from dga.networks.classifier import Prediction
from dga.pipeline import Adaptation
from dga.stopping import Stop

METHODS = ("dga-guided", "dda", "dga-plus")
SHOWN = 5  # runs printed of each picture


@dataclass(frozen=True)
class Found:
    """One run. ``lead``: of the true class over the likeliest other, -1 to 1, by who is read."""

    case: Case
    stop: Stop
    lead: dict[str, float]

    @property
    def right(self) -> str:
        """Who is read right: ``damaged`` and methods' names."""
        return ", ".join(name for name, lead in self.lead.items() if lead > 0) or "nothing"

    @property
    def strength(self) -> float:
        """The least clear of its four readings."""
        return min(map(abs, self.lead.values()))

    def __str__(self) -> str:
        told = "  ".join(f"{name} {lead:+.2f}" for name, lead in self.lead.items())
        depth = f"t* {self.stop.t_star}{'' if self.stop.crossed else ' (not crossed)'}"
        case = self.case
        return f"{case.picture} {case.corruption} {case.severity} seed {case.seed}: {depth}  {told}"


def look(session: Session, case: Case, example: Example) -> Found:
    """Run a case. Raises what :meth:`~app.runs.session.Session.lent` does."""
    settings = settings_of(session.profile, case)
    subject = session.subject(example.path, settings)
    *_, run = session.events(subject.input, settings)
    assert isinstance(run, Adaptation)
    read = {"damaged": run.input_prediction}
    read |= {name: run.reconstructions[name].prediction for name in METHODS}
    return Found(case, run.stop, {name: _lead(said, example.truth) for name, said in read.items()})


def report(found: Sequence[Found]) -> Iterator[str]:
    """How many runs of which pictures are read right by whom, and the clearest of them."""
    yield f"{len(found)} runs"
    for right in dict.fromkeys(one.right for one in found):
        ones = sorted((o for o in found if o.right == right), key=lambda o: -o.strength)
        by_picture = Counter(one.case.picture for one in ones)
        counted = ", ".join(f"{picture} {n}" for picture, n in by_picture.items())
        yield f"\n{right}: {len(ones)} ({counted})"
        for picture in by_picture:
            yield from map(str, [one for one in ones if one.case.picture == picture][:SHOWN])


def _lead(said: Prediction, truth: str | None) -> float:
    shares = dict(zip(said.labels, said.probabilities, strict=True))
    return shares.pop(truth or "", 0.0) - max(shares.values())
