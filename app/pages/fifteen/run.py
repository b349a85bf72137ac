"""All fifteen corruptions of one picture go through the networks together."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Generator, Iterator

import numpy as np
import torch
from torch import Tensor

from app.pages.fifteen.sheet import Row, Sheet
from app.runs.session import CancelledError, Session
from app.server.errors import RunError, told
from app.words.fifteen import TOO_LONG
from dga.diffusion import forward_path
from dga.discriminator import chunk_size, curve_chunks
from dga.images import Pixels, from_tensor, to_tensor
from dga.networks.classifier import Prediction, predict
from dga.networks.models import Models
from dga.pipeline import Route, default_routes, rebuild_steps
from dga.profiles import StoppingConfig
from dga.stopping import Stop, choose_depth


def run(session: Session, sheet: Sheet) -> Iterator[None]:
    """Fill the sheet, a step at a time, within the time budget and until it is cancelled.

    Both are looked at after every step. Raises :class:`~app.server.errors.RunError`,
    :class:`~app.runs.session.CancelledError` and ``FloatingPointError``.
    """
    begun, budget = time.monotonic(), session.budget(pictures=len(sheet.rows))
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
    route = default_routes(models.profile)[sheet.choice.method]
    sheet.phase, sheet.progress = "read", (0, 1)
    yield
    _read(models, sheet)
    yield
    states = yield from _forward(models, sheet, route)
    depths = [row.stop.t_star if row.stop else 0 for row in sheet.rows]
    # As many at once as the discriminator is shown: bounds memory whatever the picture's size.
    size = chunk_size(*states.shape[-2:])
    groups = [range(i, min(i + size, len(depths))) for i in range(0, len(depths), size)]
    sheet.phase = "reverse"
    sheet.progress = (0, sum(max(depths[i] for i in group) for group in groups))
    for row in sheet.rows:
        if row.stop and row.stop.t_star == 0:
            _finish(models, [row], [_damaged(row)])
    yield
    for group in groups:
        rows = [sheet.rows[i] for i in group]
        yield from _reverse(models, sheet, rows, states[group.start : group.stop], route)


def _read(models: Models, sheet: Sheet) -> None:
    assert sheet.clean is not None
    reference, *said = _classify(models, [sheet.clean, *(_damaged(row) for row in sheet.rows)])
    sheet.reference = None if sheet.choice.damaged else reference
    for row, prediction in zip(sheet.rows, said, strict=True):
        row.said = prediction


def _forward(models: Models, sheet: Sheet, route: Route) -> Generator[None, None, Tensor]:
    """Each picture's depth, and its state there: returns ``[15, 3, S, S]``."""
    asked = sheet.choice.settings
    stopping = dataclasses.replace(
        models.profile.stopping, rule="threshold", tau=asked.tau, paths=1
    )
    states = []
    for number, row in enumerate(sheet.rows):
        sheet.phase, sheet.progress = "forward", (number, len(sheet.rows))
        x = to_tensor(_damaged(row)).to(models.device)  # [3, S, S]
        path = forward_path(models.schedule, x, asked.seed)  # [T + 1, 3, S, S]
        if route.depth is None:
            row.stop = yield from _halt(models, path[: stopping.deepest + 1], stopping)
        else:
            row.stop = Stop(route.depth, crossed=True)
        states.append(path[row.stop.t_star])
        yield
    return torch.stack(states)


def _halt(models: Models, path: Tensor, stopping: StoppingConfig) -> Generator[None, None, Stop]:
    """Judge a path piece by piece until the rule is met; returns the :class:`Stop`."""
    logits: list[float] = []
    for _, piece in curve_chunks(models.schedule, models.discriminator, path):
        logits += piece.double().tolist()
        # Deeper states cannot move a crossing that was found.
        stop = choose_depth(logits, stopping)
        if stop.crossed:
            return stop
        yield
    return stop


def _reverse(
    models: Models, sheet: Sheet, rows: list[Row], states: Tensor, route: Route
) -> Iterator[None]:
    x_input = to_tensor(np.stack([_damaged(row) for row in rows])).to(models.device)  # [B, 3, S, S]
    depths = [row.stop.t_star if row.stop else 0 for row in rows]
    seeds = [sheet.choice.settings.seed] * len(rows)
    done, total = sheet.progress
    for step in rebuild_steps(models, states, x_input, depths, seeds, route.guidance):
        if not torch.isfinite(step.x).all():
            raise FloatingPointError("The diffusion model returned values that are not numbers.")
        pictures = from_tensor(step.x)  # [b, S, S, 3]
        pairs = list(zip([rows[i] for i in step.rows.tolist()], pictures, strict=True))
        for row, picture in pairs:
            row.preview = picture
        arrived = [pair for pair, left in zip(pairs, step.depth.tolist(), strict=True) if not left]
        if arrived:
            _finish(models, [row for row, _ in arrived], [picture for _, picture in arrived])
        sheet.progress = (done + step.step, total)
        yield


def _damaged(row: Row) -> Pixels:
    assert row.before is not None  # of a sheet that was opened
    return row.before


def _finish(models: Models, rows: list[Row], pictures: list[Pixels]) -> None:
    for row, picture, says in zip(rows, pictures, _classify(models, pictures), strict=True):
        row.preview, row.after, row.says = None, picture, says


def _classify(models: Models, pictures: list[Pixels]) -> list[Prediction]:
    x = to_tensor(np.stack(pictures)).to(models.device)  # [B, 3, S, S]
    return predict(models.classifier, x, models.profile.classifier)
