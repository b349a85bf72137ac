"""Where each answer can be seen; a test holds it against what was recorded."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter

from app.presets.cases import CASES
from app.presets.recording import RECORD, recorded
from app.runs.session import Session
from app.words.common import NO_CORRUPTION
from dga.io.shipped import shipped

SHOWN = {
    "help": "./?run=lake-contrast",
    "depth": "./?run=cat-gaussian-noise",
    "found": "./?run=cat-gaussian-noise",
    "clean": f"./?image=cat&corruption={NO_CORRUPTION}",
    "cost": "./?run=cat-motion-blur",
}


def shown(session: Session) -> Mapping[str, str]:
    """Addresses by question; none where other models made the recorded runs."""
    folder = shipped("assets/presets") / session.profile.name
    made = (recorded(folder / case.name / RECORD, itemgetter("weights")) for case in CASES)
    return SHOWN if all(weights == session.weights for weights in made) else {}
