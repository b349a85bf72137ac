"""All fifteen corruptions of one picture go through the networks together."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator

import numpy as np

from app.pages.fifteen.sheet import Sheet
from app.runs.session import CancelledError, Session
from app.server.errors import RunError, told
from app.words.fifteen import TOO_LONG
from dga.images import Pixels, to_tensor
from dga.networks.classifier import predict
from dga.networks.models import Models
from dga.pipeline import Rebuilt, Searched, adapt_many, default_routes


def run(session: Session, sheet: Sheet) -> Iterator[None]:
    """Fill the sheet, a step at a time, within the time budget and until it is cancelled.

    Both are looked at after every step. Raises :class:`~app.server.errors.RunError`,
    :class:`~app.runs.session.CancelledError` and ``FloatingPointError``.
    """
    budget, begun = session.budget(pictures=len(sheet.rows)), time.monotonic()
    with told():
        for _ in work(session.models, sheet):
            sheet.seconds = time.monotonic() - begun
            if sheet.cancel.is_set():
                raise CancelledError
            yield
            if sheet.seconds > budget:
                raise RunError(TOO_LONG.format(seconds=budget))
    sheet.phase, sheet.seconds = "done", time.monotonic() - begun


def work(models: Models, sheet: Sheet) -> Iterator[None]:
    """Labels, then every picture's depth, then all reconstructions: what ``adapt`` computes.

    Yields after each piece of work, so that a page can show it and stop it.
    """
    sheet.phase, sheet.progress = "read", (0, 1)
    yield
    damaged = _read(models, sheet)
    yield
    asked = sheet.choice.settings
    stopping = dataclasses.replace(
        models.profile.stopping, rule="threshold", tau=asked.tau, paths=1
    )
    route = default_routes(models.profile)[sheet.choice.method]
    sheet.phase, sheet.progress = "forward", (0, len(damaged))
    for event in adapt_many(models, damaged, [asked.seed] * len(damaged), stopping, route):
        if isinstance(event, Rebuilt):
            row = sheet.rows[event.picture]
            row.preview, row.after, row.says = None, event.image, event.prediction
            continue  # the step that ended with it follows
        if isinstance(event, Searched):
            sheet.progress = (event.picture, len(damaged))
            sheet.rows[event.picture].stop = event.stop
        else:
            sheet.phase, sheet.progress = "reverse", (event.step, event.steps)
            for picture, image in zip(event.pictures, event.images, strict=True):
                sheet.rows[picture].preview = image
        yield


def _read(models: Models, sheet: Sheet) -> Pixels:
    """The damaged pictures, ``[15, S, S, 3]``; all are classified, the undamaged one too."""
    assert sheet.clean is not None  # of a sheet that was opened
    damaged = np.stack([row.before for row in sheet.rows if row.before is not None])
    x = to_tensor(np.concatenate([sheet.clean[None], damaged])).to(models.device)
    reference, *said = predict(models.classifier, x, models.profile.classifier)
    sheet.reference = None if sheet.choice.damaged else reference
    for row, prediction in zip(sheet.rows, said, strict=True):
        row.said = prediction
    return damaged
