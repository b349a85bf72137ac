"""One picture under all fifteen corruptions: classified, judged in turn, rebuilt as a batch."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator

import numpy as np

from app.pages.fifteen.results import FifteenResults
from app.runs.session import CancelledError, Session
from app.server.errors import RunError, told
from app.words.fifteen import TOO_LONG
from dga.images import Pixels, to_tensor
from dga.networks.classifier import predict
from dga.networks.models import Models
from dga.pipeline import Rebuilt, Searched, adapt_many, default_routes


def run(session: Session, results: FifteenResults) -> Iterator[None]:
    """Fill the results, a step at a time, within the time budget and until cancelled.

    Both are looked at after every step. Raises :class:`~app.server.errors.RunError`,
    :class:`~app.runs.session.CancelledError` and ``FloatingPointError``.
    """
    budget, begun = session.budget(pictures=len(results.rows)), time.monotonic()
    with told():
        for _ in work(session.models, results):
            results.seconds = time.monotonic() - begun
            if results.cancel.is_set():
                raise CancelledError
            yield
            if results.seconds > budget:
                raise RunError(TOO_LONG.format(seconds=budget))
    results.phase, results.seconds = "done", time.monotonic() - begun


def work(models: Models, results: FifteenResults) -> Iterator[None]:
    """Labels, then every picture's depth, then all reconstructions: what ``adapt`` computes.

    Yields after each piece of work, so that a page can show it and stop it.
    """
    results.phase, results.progress = "read", (0, 1)
    yield
    damaged = _read(models, results)
    yield
    asked = results.choice.settings
    stopping = dataclasses.replace(
        models.profile.stopping, rule="threshold", tau=asked.tau, paths=1
    )
    route = default_routes(models.profile)[results.choice.method]
    results.phase, results.progress = "forward", (0, len(damaged))
    for event in adapt_many(models, damaged, [asked.seed] * len(damaged), stopping, route):
        if isinstance(event, Rebuilt):
            row = results.rows[event.picture]
            row.preview, row.after, row.says = None, event.image, event.prediction
            continue  # the step that ended with it follows
        if isinstance(event, Searched):
            results.progress = (event.picture, len(damaged))
            results.rows[event.picture].stop = event.stops.get(route.name)
        elif not route.plus:  # which rebuilds each picture as soon as its depth is known
            results.phase, results.progress = "reverse", (event.step, event.steps)
            for (picture, _), image in zip(event.under_way, event.images, strict=True):
                results.rows[picture].preview = image
        yield


def _read(models: Models, results: FifteenResults) -> Pixels:
    """The damaged pictures, ``[15, S, S, 3]``; all are classified, the undamaged one too."""
    assert results.clean is not None  # they were opened
    damaged = np.stack([row.before for row in results.rows if row.before is not None])
    x = to_tensor(np.concatenate([results.clean[None], damaged])).to(models.device)
    reference, *said = predict(models.classifier, x, models.profile.classifier)
    results.reference = None if results.choice.damaged else reference
    for row, prediction in zip(results.rows, said, strict=True):
        row.said = prediction
    return damaged
