"""Who reads which run right: what to look through for cases to record."""

from __future__ import annotations

from app.parts.examples import Example
from app.presets.cases import Case
from app.presets.store import adapted
from app.runs.session import Session
from dga.networks.classifier import Prediction

METHODS = {"dga-guided": "guided", "dda": "dda", "dga-plus": "plus"}


def told(session: Session, case: Case, example: Example) -> str:
    """A case's run in a line: its depth, and who reads it right, and how surely.

    Of each reading the lead of the true class over the likeliest other, -1 to 1. Raises what
    :meth:`~app.runs.session.Session.lent` does.
    """
    run = adapted(session, case, example)
    read = {"damaged": run.input_prediction}
    read |= {title: run.reconstructions[name].prediction for name, title in METHODS.items()}
    leads = (f"{who} {lead(said, example.truth):+.2f}" for who, said in read.items())
    depth = f"t* {run.t_star}{'' if run.stop.crossed else ' (not crossed)'}"
    damage = f"{case.corruption} {case.severity} seed {case.seed}"
    return f"{case.picture} {damage}: {depth}  {'  '.join(leads)}"


def lead(said: Prediction, truth: str | None) -> float:
    """Of the true class over the likeliest other, -1 to 1."""
    shares = dict(zip(said.labels, said.probabilities, strict=True))
    return shares.pop(truth or "", 0.0) - max(shares.values())
