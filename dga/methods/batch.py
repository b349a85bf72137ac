"""Pictures that arrive together, and the work on them that methods can share."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dga.diffusion import ANCESTRAL, Sampler, forward_path
from dga.discriminator import curve
from dga.explanation import Known
from dga.images import from_tensor, to_tensor
from dga.networks.models import Models
from dga.pipeline import path_seed, rebuild
from dga.profiles import GuidanceConfig, PlusConfig, StoppingConfig
from dga.restoration import Entered, enter, last
from dga.stopping import Stop, choose_depth

ReverseSettings = tuple[GuidanceConfig | None, Sampler]
"""How a picture is rebuilt."""


class Batch:
    """``x``: ``[B, 3, S, S]`` in [-1, 1]; one seed a picture.

    Forward paths, confidence curves and reconstructions are computed once and handed
    to every method that asks, together with what they cost: a method's seconds do not
    depend on which methods ran before it.
    """

    def __init__(self, models: Models, x: Tensor, seeds: Sequence[int]) -> None:
        self.models, self.x, self.seeds = models, x, tuple(seeds)
        # Each with its seconds.
        self._paths: dict[tuple[int, int], tuple[Tensor, float]] = {}
        self._curves: dict[tuple[int, int], tuple[NDArray[np.float64], float]] = {}
        self._rebuilt: dict[tuple[int, int, ReverseSettings], tuple[Tensor, float]] = {}
        self._entered: dict[tuple[int, PlusConfig], tuple[Entered, float]] = {}
        self._scores: list[Known] = [{} for _ in seeds]

    def __len__(self) -> int:
        return len(self.x)

    def stops(self, config: StoppingConfig) -> tuple[list[Stop], list[float]]:
        """Where each picture halts, and the seconds it took to find out."""
        deepest = min(config.deepest, self.models.schedule.steps) + 1
        stops, seconds = [], []
        for i in range(len(self)):
            paths = range(max(1, config.paths))
            judged = [self._curve(i, number, deepest) for number in paths]
            logits = np.stack([values for values, _ in judged])  # [paths, deepest]
            stops.append(choose_depth(logits, config))
            seconds.append(sum(own + self._path(i, n)[1] for n, (_, own) in enumerate(judged)))
        return stops, seconds

    def rebuilt(
        self,
        depths: Sequence[int],
        guidance: GuidanceConfig | None,
        sampler: Sampler = ANCESTRAL,
    ) -> tuple[Tensor, list[float]]:
        """Pictures noised to ``depths`` and denoised again, in 8-bit levels, ``[B, 3, S, S]``.

        With the seconds of each; depth 0 is the picture itself. Where memory runs out
        they are rebuilt in halves; raises ``MemoryError`` if not even one fits.
        """
        way = guidance, sampler
        missing = [i for i, d in enumerate(depths) if d and (i, d, way) not in self._rebuilt]
        self.models.compute.batch_size.fill(
            missing, lambda rows: self._rebuild(rows, [depths[i] for i in rows], way)
        )
        parts = [self._rebuilt[i, d, way] if d else (self.x[i], 0.0) for i, d in enumerate(depths)]
        return torch.stack([image for image, _ in parts]), [seconds for _, seconds in parts]

    def entered(self, config: PlusConfig) -> list[tuple[Entered, float]]:
        """Each picture explained and noised to t* (DGA+), with the seconds that took."""
        for i in range(len(self)):
            if (i, config) not in self._entered:
                known, begun = self._scores[i], time.perf_counter()
                before = sum(seconds for _, seconds in known.values())
                found = last(enter(self.models, self.x[i], self.seeds[i], config, known))
                new = sum(seconds for _, seconds in known.values()) - before
                own = time.perf_counter() - begun - new + found.explanation.seconds
                # A whole stream may be kept: no state that nothing can ask for.
                kept = found.explanation.entry + config.stopping.deepest + 1
                found = replace(found, states=found.states[:kept].clone())
                self._entered[i, config] = found, own
        return [self._entered[i, config] for i in range(len(self))]

    def _rebuild(self, rows: Sequence[int], depths: list[int], way: ReverseSettings) -> None:
        start = torch.stack([self._path(i, 0)[0][d] for i, d in zip(rows, depths, strict=True)])
        begun = time.perf_counter()
        seeds = [self.seeds[i] for i in rows]
        image = rebuild(self.models, start, self.x[list(rows)], depths, seeds, *way)
        image = to_tensor(from_tensor(image)).to(self.x.device)
        steps = [len(way[1].visited(depth)) - 1 for depth in depths]
        a_step = (time.perf_counter() - begun) / sum(steps)
        for row, (i, depth) in enumerate(zip(rows, depths, strict=True)):
            noising = self._path(i, 0)[1]
            self._rebuilt[i, depth, way] = image[row], noising + a_step * steps[row]

    def _path(self, i: int, number: int) -> tuple[Tensor, float]:
        """Forward path of picture ``i``, ``[T + 1, 3, S, S]``."""
        if (i, number) not in self._paths:
            begun = time.perf_counter()
            seed = path_seed(self.seeds[i], number)
            states = forward_path(self.models.schedule, self.x[i], seed)
            self._paths[i, number] = states, time.perf_counter() - begun
        return self._paths[i, number]

    def _curve(self, i: int, number: int, deepest: int) -> tuple[NDArray[np.float64], float]:
        """Logits at depths 0 ... ``deepest`` - 1 of one path."""
        known = self._curves.get((i, number))
        if known is None or len(known[0]) < deepest:
            states = self._path(i, number)[0][:deepest]
            begun = time.perf_counter()
            logits = curve(self.models.schedule, self.models.discriminator, states)
            known = logits.double().numpy(), time.perf_counter() - begun
            self._curves[i, number] = known
        values, seconds = known
        return values[:deepest], seconds * deepest / len(values)
