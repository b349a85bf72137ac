"""How long Try it takes while one chooses (DGA+ and the curve) and for the full comparison."""

from __future__ import annotations

import time
from collections.abc import Iterator

from app.parts.examples import load_examples
from app.runs.run_state import RunState
from app.runs.run_value import run_value
from app.runs.session import Session
from app.runs.settings import check_settings

DAMAGES = (("gaussian_noise", 3), ("impulse_noise", 2), ("defocus_blur", 4), ("contrast", 4))
"""Noise, sparse noise, and two that never cross: the full comparison then takes longest."""
REPEATS = 3


def repair() -> Iterator[tuple[str, float, float]]:
    """(Damage, seconds of a quick run, of a full one), the best of three; a cat of 64 pixels."""
    session = Session.load()
    session.warm_up()
    profile = session.profile
    (cat,) = (example for example in load_examples() if example.name == "cat")
    for corruption, severity in DAMAGES:
        tau, depth = profile.stopping.tau, profile.dda_depth
        settings = check_settings(profile, corruption, severity, tau, 0, depth)
        best = {}
        for quick in (True, False):
            taken = []
            for _ in range(REPEATS):
                begun = time.perf_counter()
                subject = session.subject(cat.path, settings)
                state = RunState(profile, settings, subject, cat, "quick" if quick else "full")
                for event in session.events(
                    subject.input, settings, extent=state.extent, quick=quick
                ):
                    state.take(event)
                run_value(state)
                taken.append(time.perf_counter() - begun)
            best[quick] = min(taken)
        yield f"{corruption} {severity}", best[True], best[False]
