"""Which runs teach what: examples with every damage, looked through for cases to record."""

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

DAMAGED, OWN, FIXED, PLUS = "damaged", "dga-guided", "dda", "dga-plus"
SHOWN = 5  # runs printed of each lesson
FALLS = 4  # depths at least over which an opening's curve falls


@dataclass(frozen=True)
class Found:
    """One run. ``lead``: of the true class over the likeliest other, -1 to 1, by who is read."""

    case: Case
    stop: Stop
    lead: dict[str, float]

    def reads(self, right: str, wrong: str) -> bool:
        """Whether those named, separated by blanks, are read right and wrong."""
        return all(self.lead[name] > 0 for name in right.split()) and all(
            self.lead[name] < 0 for name in wrong.split()
        )

    @property
    def strength(self) -> float:
        """The least clear of its four readings."""
        return min(map(abs, self.lead.values()))

    @property
    def lessons(self) -> Iterator[str]:
        """What it would teach."""
        depth, crossed = self.stop.t_star, self.stop.crossed
        if crossed and depth >= FALLS and self.reads(OWN, f"{DAMAGED} {FIXED}"):
            yield "its own depth saves it"
        if crossed and not depth and self.reads(f"{DAMAGED} {OWN} {PLUS}", FIXED):
            yield "nothing to do, and the fixed depth harms"
        if self.reads(PLUS, f"{DAMAGED} {OWN} {FIXED}"):
            yield "DGA+ alone saves it"
        if self.reads(DAMAGED, f"{OWN} {FIXED} {PLUS}"):
            yield "repair breaks it"

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
    read = {DAMAGED: run.input_prediction}
    read |= {name: run.reconstructions[name].prediction for name in (OWN, FIXED, PLUS)}
    return Found(case, run.stop, {name: _lead(said, example.truth) for name, said in read.items()})


def report(found: Sequence[Found]) -> Iterator[str]:
    """How many runs of which pictures would teach each lesson, and the clearest of them."""
    taught = [(lesson, one) for one in found for lesson in one.lessons]
    yield f"{len(found)} runs"
    for lesson in dict.fromkeys(lesson for lesson, _ in taught):
        ones = sorted((o for name, o in taught if name == lesson), key=lambda o: -o.strength)
        by_picture = Counter(one.case.picture for one in ones)
        yield f"\n{lesson}: {len(ones)} ({', '.join(f'{p} {n}' for p, n in by_picture.items())})"
        for picture in by_picture:
            yield from map(str, [one for one in ones if one.case.picture == picture][:SHOWN])


def _lead(said: Prediction, truth: str | None) -> float:
    shares = dict(zip(said.labels, said.probabilities, strict=True))
    return shares.pop(truth or "", 0.0) - max(shares.values())
