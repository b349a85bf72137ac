"""Whole photographs: a depth for each place. Ours, not the paper's.

A photograph is a batch of overlapping windows of the networks' size. Exposure is explained once,
for the whole; then each window has its own noise and its own t*, and
:func:`dga.pipeline.run` repairs them like any batch. Where noise is uneven within a window, each
pixel is given only what it lacks, so that the window stands at one depth and an ordinary denoiser
can take all of it out. (SVNR, Pearl et al., 2023, trains a denoiser that is told a time for every
pixel instead.)
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from dga.discriminator import Judged, JudgedPath, judge_states, max_batch
from dga.explanation.degradation import NO_DEGRADATION, Degradation
from dga.explanation.exposure import UNCHANGED
from dga.explanation.noise_level import (
    matched_depth,
    noise_deviation,
    noise_map,
    remove_impulses,
    whiten_channels,
)
from dga.explanation.search import Explanation, Known, Look, Scored, explain, judge, mean_logits
from dga.images import Pixels, from_tensor, to_pixels, to_square, to_tensor
from dga.networks.models import Models
from dga.pipeline import (
    Permutation,
    PictureCache,
    Rebuilt,
    Stopped,
    at_depth,
    judged_path,
    run,
)
from dga.profiles import End, ExplanationConfig, Repair, StoppingConfig
from dga.stopping import Stop, choose_depth, is_decided

AT_ONCE = 16
"""Windows repaired together; bounds memory, and how long nothing is heard."""
COUNTED = 1024
"""Of a photograph with longer sides every n-th pixel is counted, where only means are asked for."""

Control = Callable[[Tensor, Sequence[int]], Permutation]
"""Made from windows, ``[n, 3, S, S]``, and their seeds."""


@dataclass(frozen=True)
class PhotographConfig:
    """How a photograph is repaired.

    ``explain``: exposure and impulses of the whole, judged by ``seen`` windows with the finest
    detail and by a thumbnail, whose logit must be ``faded`` or more where an exposure is undone;
    the mean of all must be below ``believed`` afterwards. Haze and lost contrast lift what is
    dark: no gain is believed where the darkest hundredth of the pixels goes down to ``darkest``.
    Noise above its ``noise_floor`` counts, and a window is repaired where the discriminator
    prefers noise by ``noisy`` (mean logit, of its surroundings; of the window itself up to
    ``clear``, for fine texture measures so much). ``overlap``: share of a
    window's side that its neighbour has too; ``quantile``: of its pixels' noise, at which a window
    enters the forward process; ``levelled``: noise that a pixel holds already is not added to it.
    ``quiet``: share of the pixels; where the others are all noisy, noise may lack colours.
    """

    explain: ExplanationConfig
    end: End
    seen: int = 4
    noisy: float = 1.2
    clear: float = 0.1
    faded: float = 1.0
    believed: float = 1.5
    darkest: float = -0.6
    overlap: float = 0.1875
    quantile: float = 0.9
    quiet: float = 0.1
    levelled: bool = True


def usual(models: Models) -> PhotographConfig:
    """As it was chosen on scikit-image's photographs (assets/results/everyday16/README.md)."""
    explanation = models.profile.plus.explain
    assert explanation is not None
    end = End(StoppingConfig(tau=0.995, max_depth=16), steps=1)
    told = replace(explanation, noise_floor=0.06, settled=1.0, sharpness=False)
    return PhotographConfig(told, end)


@dataclass(frozen=True)
class Photograph:
    """A repaired photograph.

    ``image``: uint8 ``[H, W, 3]``; ``found``: in the whole; ``noise``: standard deviation of what
    each pixel holds, float32 ``[H, W]`` in [-1, 1], 0 where it counts as none; ``depths``: t* of
    each window, ``[rows, columns]``, which begin at those pixels; ``unchanged``: it came back bit
    for bit.
    """

    image: Pixels
    found: Explanation
    noise: NDArray[np.float32]
    rows: Sequence[int]
    columns: Sequence[int]
    depths: NDArray[np.int64]
    unchanged: bool
    seconds: float

    def facts(self) -> dict[str, Any]:
        """What a program is told, in JSON types.

        ``found``: in the whole, beside noise; ``noise``: the pixels' standard deviations;
        ``share``: of windows with a depth above 0.
        """
        height, width = self.image.shape[:2]
        return {
            "width": width,
            "height": height,
            "unchanged": self.unchanged,
            "found": str(replace(self.found.degradation, noise=0.0)),
            "noise": {
                "median": round(float(np.median(self.noise)), 4),
                "largest": round(float(self.noise.max()), 4),
            },
            "depths": {
                "least": int(self.depths.min()),
                "median": float(np.median(self.depths)),
                "largest": int(self.depths.max()),
                "share": round(float((self.depths > 0).mean()), 4),
            },
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True)
class Progress:
    """Event: so many windows with noise are finished, of ``total``.

    ``rows``: makes some rows of the picture so far when it is asked, from one to before another,
    uint8 ``[n, W, 3]``: exposure and impulses undone, and the noise of what is finished by then.
    It is there as soon as anything is finished. Rows above ``settled`` come out like that, of
    those from ``reached`` on no noise is gone yet; between them it fades.
    """

    done: int
    total: int
    settled: int = 0
    reached: int = 0
    rows: Callable[[int, int], Pixels] | None = field(default=None, compare=False, repr=False)


def repair_photograph(
    models: Models,
    pixels: Pixels,
    seed: int | None = None,
    config: PhotographConfig | None = None,
    depth: int | None = None,
    permutation: Control | None = None,
) -> Photograph:
    """Repair a photograph, uint8 ``[H, W, 3]`` of any size, at its own size.

    The same arguments give the same result; ``seed``: by default the content's own. Two controls:
    ``depth``, one everywhere instead of t*, and ``permutation``, made from windows ``[n, 3, S, S]``
    and their seeds. Raises ``ValueError`` for what is no picture, and ``FloatingPointError`` if a
    network returns no numbers.
    """
    *_, last = photograph_steps(models, pixels, seed, config, depth, permutation)
    assert isinstance(last, Photograph)
    return last


def photograph_steps(
    models: Models,
    pixels: Pixels,
    seed: int | None = None,
    config: PhotographConfig | None = None,
    depth: int | None = None,
    permutation: Control | None = None,
) -> Iterator[Scored | Progress | Photograph]:
    """:func:`repair_photograph`, an event at a time. The last one is the :class:`Photograph`."""
    begun = time.perf_counter()
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3 or not pixels.size:
        raise ValueError("A picture is a PIL image, or an array of shape [H, W, 3] in 8 bits.")
    config, side = config or usual(models), models.profile.image_size
    seed = content_seed(pixels) if seed is None else seed
    height, width = pixels.shape[:2]
    if max(height, width) <= side:
        result = yield from _stamp(models, filled(pixels, side), seed, depth)
    else:
        result = yield from _windows(models, pixels, seed, config, depth, permutation)
    image = result.image[:height, :width]
    yield replace(
        result,
        image=image,
        noise=result.noise[:height, :width],
        unchanged=np.array_equal(image, pixels),
        seconds=time.perf_counter() - begun,
    )


def content_seed(pixels: Pixels) -> int:
    """A picture's own seed, from its pixels alone."""
    return int.from_bytes(hashlib.blake2b(pixels.tobytes(), digest_size=4).digest(), "little")


def filled(pixels: Pixels, side: int) -> Pixels:
    """Sides below ``side`` are filled up to it, mirrored: uint8 ``[H, W, 3]``."""
    missing = [(0, max(0, side - length)) for length in pixels.shape[:2]]
    return np.pad(pixels, (*missing, (0, 0)), "symmetric") if np.any(missing) else pixels


def _stamp(
    models: Models, pixels: Pixels, seed: int, depth: int | None
) -> Generator[Scored, None, Photograph]:
    """A picture of one window: DGA+."""
    x, plus = to_tensor(pixels).to(models.device), models.profile.plus
    if depth is not None:
        plus = at_depth(plus, depth)
    for event in run(models, x[None], [seed], [plus]):
        if isinstance(event, Scored):
            yield event
        elif isinstance(event, Stopped):
            stopped = event
        elif isinstance(event, Rebuilt):
            image = from_tensor(event.image)
    noise = np.full(pixels.shape[:2], stopped.found.degradation.noise, np.float32)
    depths = np.array([[stopped.stop.t_star]])
    return Photograph(image, stopped.found, noise, (0,), (0,), depths, stopped.unchanged, 0.0)


def _windows(
    models: Models,
    pixels: Pixels,
    seed: int,
    config: PhotographConfig,
    depth: int | None,
    control: Control | None,
) -> Generator[Scored | Progress, None, Photograph]:
    (height, width), side = pixels.shape[:2], models.profile.image_size
    pixels = filled(pixels, side)
    x = to_tensor(pixels)
    found = yield from _explain(models, x, pixels, seed, config)
    x = found.degradation.inverse(x)
    grid = Grid.over(pixels.shape[:2], side, round(config.overlap * side))
    noise = noise_map(x)
    quiet = float(noise[::8, ::8].quantile(config.quiet))  # interpolated, so that a few will do
    noise[noise <= config.explain.noise_floor] = 0
    if found.flat:
        noise.zero_()
    # Fine texture has no colours either, but is seldom everywhere.
    everywhere = quiet > config.explain.noise_floor
    white, noise = whiten_channels(x, noise, seed) if everywhere else (x, noise)
    if depth is None:
        known = yield from _noise_by_window(models, white, noise, grid, seed, config, everywhere)
    else:
        known = [Explanation(NO_DEGRADATION, 0, 0.0)] * len(grid)
    end = config.end if depth is None else End(depth=depth, steps=1)
    repair = Repair(end, config.explain)
    change, weight = torch.zeros_like(x), grid.weight()
    is_grey = bool((pixels == pixels[..., :1]).all())

    def rows(top: int, bottom: int) -> Pixels:
        part = slice(top, bottom)
        taken = change[:, part] / weight[part]
        if depth is None:
            taken *= noise[part] > 0
        if is_grey:  # a grey photograph stays grey
            taken = taken.mean(0)
        return from_tensor(x[:, part] + taken)[:, :width]

    depths, size = np.zeros(len(grid), np.int64), len(grid) if control else AT_ONCE
    touched = [n for n in range(len(grid)) if control or not known[n].settled]
    for begin in range(0, len(touched), size):
        part = touched[begin : begin + size]
        seeds = [seed * 1_000_003 + n for n in part]
        came, cut = grid.cut(x, part), grid.cut(white, part).to(models.device)
        held = grid.cut(noise[None], part)[:, 0] * config.levelled
        own = (known[n] for n in part)
        caches = [Window(models, *window) for window in zip(cut, seeds, own, held, strict=True)]
        if depth is None:
            judge_entries(models, caches)
        for event in run(models, cut, seeds, [repair], caches, control and control(cut, seeds)):
            if isinstance(event, Stopped):
                depths[part[event.row]] = event.stop.t_star
            elif isinstance(event, Rebuilt) and event.steps:
                grid.add(change, part[event.row], event.image.cpu() - came[event.row])
        rest = touched[begin + len(part) :]
        settled = min(height, grid.place(rest[0])[0]) if rest else height
        reached = max(settled, min(height, grid.place(part[-1])[0] + side))
        yield Progress(begin + len(part), len(touched), settled, reached, rows)
    shape = len(grid.rows), len(grid.columns)
    image, by_window = rows(0, height), depths.reshape(shape)
    return Photograph(image, found, noise.numpy(), grid.rows, grid.columns, by_window, False, 0.0)


class Window(PictureCache):
    """One window whose explanation is known; ``held``: noise of its pixels, ``[S, S]``."""

    found: Explanation

    def __init__(
        self, models: Models, x: Tensor, seed: int, found: Explanation, held: Tensor
    ) -> None:
        super().__init__(models, x, seed, found)
        self.held = held

    def path(self, found: Explanation, number: int = 0) -> JudgedPath:
        """With noise added where some is missing."""
        key = found.degradation, True, number
        if key not in self._paths:
            way = judged_path(self.models, self.x, self.seed, found, number, self.held)
            self._paths[key] = way
        return self._paths[key]

    def stop(
        self, found: Explanation, stopping: StoppingConfig, extent: int = 0
    ) -> Generator[Judged, None, tuple[Stop, NDArray[np.float64], float]]:
        """By the entry alone, where that decides."""
        entry = self.path(found).logits[None, :1]  # [1, 1]
        if entry.size and is_decided(entry, stopping):
            return choose_depth(entry, stopping), entry, 0.0
        return (yield from super().stop(found, stopping, extent))


def judge_entries(models: Models, windows: Sequence[Window]) -> None:
    """Judge the first state of all windows with noise in one batch; most stop there."""
    paths = [window.path(window.found) for window in windows if not window.found.settled]
    for i in range(0, len(paths), size := max_batch(windows[0].x)):
        part = paths[i : i + size]
        states = torch.stack([path.states.at(path.entry) for path in part])
        entries = torch.tensor([path.entry for path in part])
        logits = judge_states(models.schedule, models.explainer, states, entries).double().numpy()
        for path, logit in zip(part, logits, strict=True):
            path.logits, path.seconds = logit[None], [0.0, 0.0]


def _explain(
    models: Models, x: Tensor, pixels: Pixels, seed: int, config: PhotographConfig
) -> Generator[Scored, None, Explanation]:
    """Exposure and impulses of the whole, ``[3, H, W]``; other noise is left to the windows.

    An exposure is believed only where the thumbnail, too, looks damaged before and not afterwards,
    a gain only where nothing is dark any more. Noise that a median takes out whole is impulses.
    Sharpness is not looked for: on photographs a discriminator takes a lens's or a camera's blur
    for damage, and what it then likes best is too sharp.
    """
    schedule, network, told = models.schedule, models.explainer, config.explain
    every = -(-max(x.shape[1:]) // COUNTED)
    counted, measured = x[:, ::every, ::every], float(noise_deviation(x[None])[0])
    if measured > told.noise_floor and told.impulses:
        top, left = (max(0, length - COUNTED) // 2 for length in x.shape[1:])
        middle = x[None, :, top : top + COUNTED, left : left + COUNTED]  # bounds memory
        rest = float(noise_deviation(remove_impulses(middle, told.impulses[0]))[0])
        measured = rest if rest <= told.noise_floor else measured
    look = views(x, pixels, models.profile.image_size, config, models.device)

    known: Known = {}
    found = yield from explain(
        schedule, network, counted, seed, told, known, look=look, measured=measured
    )
    best = replace(found.degradation, noise=0.0)
    if best.exposure != UNCHANGED:
        pair, (whole, _) = (replace(best, exposure=UNCHANGED), best), known[best, told.judged_at]
        thumbnail = judge(schedule, network, lambda c: look(c)[:1], pair, told.judged_at, seed)
        before, after, whole = (math.inf if s is None else s for s in (*thumbnail, whole))
        dark = best.exposure.gain > 1 and float(counted.mean(0).quantile(0.01)) <= config.darkest
        faded = before >= config.faded and after < told.settled and whole < config.believed
        if dark or not faded:
            best = pair[0]
    return replace(found, degradation=best, entry=0)


def views(
    x: Tensor, pixels: Pixels, side: int, config: PhotographConfig, device: torch.device
) -> Look:
    """A thumbnail, and windows with the finest detail that is not noise, in their own pixels.

    A background that is out of focus says nothing of damage. Impulses are gone in a thumbnail.
    """
    grid = Grid.over(x.shape[1:], side, 0)
    detail = []
    for i, j in map(grid.place, range(len(grid))):
        window = x[None, :, i : i + side, j : j + side]
        noisy = float(noise_deviation(window)[0]) > config.explain.noise_floor
        differences = sum(float(window.diff(dim=d).abs().mean()) for d in (2, 3))
        detail.append((noisy, -differences))
    best = sorted(range(len(grid)), key=detail.__getitem__)[: config.seen]
    crops = []
    for i, j in map(grid.place, best):
        top, left = max(0, i - side // 2), max(0, j - side // 2)
        crop = x[:, top : i + side + side // 2, left : j + side + side // 2]
        crops.append((crop, i - top, j - left))
    thumbnail = to_tensor(to_pixels(to_square(Image.fromarray(pixels), side)))

    def look(candidate: Degradation) -> Tensor:
        small = replace(candidate, impulses=None)
        shown = [candidate.inverse(c)[:, i : i + side, j : j + side] for c, i, j in crops]
        return torch.stack([small.inverse(thumbnail), *shown]).to(device)

    return look


def _noise_by_window(
    models: Models,
    x: Tensor,
    noise: Tensor,
    grid: Grid,
    seed: int,
    config: PhotographConfig,
    everywhere: bool,
) -> Generator[Progress, None, list[Explanation]]:
    """Noise of each window, where the discriminator prefers it to none.

    Asked is the noisiest of every 3 x 3 windows, for all of them: fine texture passes for a little
    noise, seldom for much. The eight beside it vote, too, and one is against; where noise is
    ``everywhere``, all vote for all as well. Where it is faint a window is asked itself, for beside
    noise there may be texture.
    """
    schedule, explainer, after = models.schedule, models.explainer, config.explain.judged_at
    parts = torch.arange(len(grid)).split(AT_ONCE)
    held = (grid.cut(noise[None], part.tolist()).flatten(1) for part in parts)
    level = torch.cat([one.quantile(config.quantile, 1) for one in held])

    def preferred(chosen: Tensor) -> Generator[Progress, None, Tensor]:
        margins = [torch.empty(0)]
        for begin in range(0, len(chosen), AT_ONCE):
            numbers = chosen[begin : begin + AT_ONCE]
            own = grid.cut(noise[None], numbers.tolist())  # [n, 1, S, S]
            cut = grid.cut(x, numbers.tolist()).to(models.device)
            entry = torch.tensor([matched_depth(schedule, s) for s in level[numbers].tolist()])
            plain, noised = (
                mean_logits(schedule, explainer, cut, depth.clamp(max=schedule.steps), known, seed)
                for depth, known in (
                    (torch.tensor(after).expand(len(cut), -1), 0 * own),
                    (entry[:, None] + torch.tensor(after), own),
                )
            )
            margins.append(plain - noised)
            yield Progress(0, len(grid))
        return torch.cat(margins)

    shape = 1, 1, len(grid.rows), len(grid.columns)
    highest, places = F.max_pool2d(level.view(shape), 3, ceil_mode=True, return_indices=True)
    asked, margin = highest > 0, torch.zeros_like(highest)
    margin[asked] = yield from preferred(places[asked])
    votes, voters = (9 * F.avg_pool2d(v, 3, 1, 1) for v in (margin, asked.float()))
    agreed = votes > config.noisy * (voters + 1)
    agreed |= everywhere and margin.sum() > config.noisy * (asked.sum() + 1)
    likely = F.interpolate(agreed.float(), scale_factor=3)
    noisy = likely[..., : shape[2], : shape[3]].flatten() * level > 0
    faint = (noisy & (level <= config.clear)).nonzero()[:, 0]
    noisy[faint] = (yield from preferred(faint)) > config.noisy
    found = []
    for s, is_noisy in zip(level.tolist(), noisy.tolist(), strict=True):
        if is_noisy:
            found.append(Explanation(Degradation(noise=s), matched_depth(schedule, s), s))
        else:
            found.append(Explanation(NO_DEGRADATION, 0, s, settled=True))
    return found


@dataclass(frozen=True)
class Grid:
    """Windows of ``side`` pixels that cover a picture; ``rows``, ``columns``: where they begin."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    side: int

    @classmethod
    def over(cls, shape: Sequence[int], side: int, overlap: int) -> Grid:
        """Spread evenly over ``[H, W]``, each sharing ``overlap`` pixels or more with the next."""
        gaps = [math.ceil((length - side) / (side - overlap)) for length in shape]
        rows, columns = (
            tuple(round(i * (length - side) / max(1, n)) for i in range(n + 1))
            for length, n in zip(shape, gaps, strict=True)
        )
        return cls(rows, columns, side)

    def place(self, number: int) -> tuple[int, int]:
        """Top and left of a window; they are counted row by row."""
        row, column = divmod(number, len(self.columns))
        return self.rows[row], self.columns[column]

    def __len__(self) -> int:
        return len(self.rows) * len(self.columns)

    def cut(self, x: Tensor, numbers: Sequence[int]) -> Tensor:
        """Some windows of ``[C, H, W]``: ``[n, C, S, S]``."""
        side = self.side
        return torch.stack([x[:, i : i + side, j : j + side] for i, j in map(self.place, numbers)])

    def add(self, total: Tensor, number: int, window: Tensor) -> None:
        """Add a window to ``[3, H, W]``, faded towards its edges."""
        i, j = self.place(number)
        fade = self._fade()
        total[:, i : i + self.side, j : j + self.side] += fade[:, None] * fade * window

    def weight(self) -> Tensor:
        """What windows of ones would add up to, ``[H, W]``."""
        fade, sums = self._fade(), []
        for begins in (self.rows, self.columns):
            sums.append(torch.zeros(begins[-1] + self.side))
            for begin in begins:
                sums[-1][begin : begin + self.side] += fade
        return sums[0][:, None] * sums[1]

    def _fade(self) -> Tensor:
        return torch.hann_window(self.side + 2, periodic=False)[1:-1].clamp(min=0.02)
