"""Which runs teach what: examples with every damage, looked through for cases to record."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

from app.parts.examples import Example
from app.presets.cases import Case
from app.presets.recording import settings_of
from app.runs.session import Session
from dga.corruptions import corrupt
from dga.evaluation.photographs import compared
from dga.networks.classifier import Prediction
from dga.pipeline import Adaptation, adapt_steps

DAMAGED, OWN, FIXED, PLUS = "damaged", "dga-guided", "dda", "dga-plus"
SHOWN = 5  # runs printed of each lesson
FALLS = 4  # depths at least over which an opening's curve falls


@dataclass(frozen=True)
class Found:
    """One run. ``lead``: of the true class over the likeliest other, -1 to 1, by who is read.

    ``gain``: PSNR of DGA+'s picture over the damaged one's, in dB.
    """

    case: Case
    t_star: int
    crossed: bool
    confidence: Sequence[float]
    lead: dict[str, float]
    gain: float

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
        if self.crossed and self.t_star >= FALLS and self.reads(OWN, f"{DAMAGED} {FIXED}"):
            yield "its own depth saves it"
        if self.crossed and not self.t_star and self.reads(f"{DAMAGED} {OWN} {PLUS}", FIXED):
            yield "nothing to do, and the fixed depth harms"
        if self.reads(PLUS, f"{DAMAGED} {OWN} {FIXED}"):
            yield "DGA+ alone saves it"
        if self.reads(DAMAGED, f"{OWN} {FIXED} {PLUS}"):
            yield "repair breaks it"

    def __str__(self) -> str:
        told = "  ".join(f"{name} {lead:+.2f}" for name, lead in self.lead.items())
        depth = f"t* {self.t_star}{'' if self.crossed else ' (not crossed)'}"
        case = self.case
        told += f"  DGA+ {self.gain:+.1f} dB"
        return f"{case.picture} {case.corruption} {case.severity} seed {case.seed}: {depth}  {told}"


def search(
    session: Session,
    examples: Sequence[Example],
    damages: Sequence[tuple[str, int]],
    seeds: int,
    file: Path,
) -> list[Found]:
    """Run every example with every damage and seed 0...``seeds`` - 1; ``file``: a line for each.

    What these weights have there already is not run again. Raises ``OSError`` or ``ValueError``.
    """
    found = {one.case: one for one in _read(session, file)}
    file.parent.mkdir(parents=True, exist_ok=True)
    wanted = {
        Case("", example.name, *damage, seed): example
        for seed, example, damage in product(range(seeds), examples, damages)
    }
    with file.open("a", encoding="utf-8") as lines:
        for case, example in wanted.items():
            if case not in found:
                found[case] = one = _run(session, case, example)
                told = {"weights": session.weights} | asdict(one)
                lines.write(json.dumps(told, separators=(",", ":")) + "\n")
                lines.flush()
    return [found[case] for case in wanted]


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


def _read(session: Session, file: Path) -> Iterator[Found]:
    for line in file.read_text("utf-8").splitlines() if file.exists() else ():
        told = json.loads(line)
        if told.pop("weights") == session.weights:
            yield Found(**told | {"case": Case(**told["case"])})


def _run(session: Session, case: Case, example: Example) -> Found:
    profile, settings = session.profile, settings_of(session.profile, case)
    clean = example.pixels(profile.image_size)
    pixels = corrupt(clean, case.corruption, case.severity, case.seed)
    asked, deepest = settings.usual(profile), profile.stopping.max_depth
    *_, run = adapt_steps(session.models, pixels, case.seed, asked, deepest)
    assert isinstance(run, Adaptation)
    read = {DAMAGED: run.input_prediction}
    read |= {name: run.reconstructions[name].prediction for name in (OWN, FIXED, PLUS)}
    confidence = [round(float(c), 3) for c in run.confidence[: deepest + 1]]
    lead = {name: round(_lead(said, example.truth), 3) for name, said in read.items()}
    before, after = (compared(clean, one)[0] for one in (pixels, run.reconstructions[PLUS].image))
    return Found(case, run.t_star, run.stop.crossed, confidence, lead, round(after - before, 2))


def _lead(said: Prediction, truth: str | None) -> float:
    shares = dict(zip(said.labels, said.probabilities, strict=True))
    return shares.pop(truth or "", 0.0) - max(shares.values())
