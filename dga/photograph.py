"""DGA+ on photographs of any size. Ours, not the paper's.

A photograph is explained as a whole (:mod:`dga.explanation.search`). Up to
:data:`~dga.mending.WHOLE_SIDE` pixels a side :func:`dga.pipeline.run` repairs it in one piece. A
larger one is undone as a whole, denoised in overlapping windows where blur asks for that, and
mended (:mod:`dga.mending`). Noise is denoised by windows, with a depth for each, only where it is
not mended: on pages, and without a denoiser that sees the picture.
"""

import hashlib
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from dga.batch_size import WINDOW_BATCH
from dga.data.encoding import Frame
from dga.data.picture_files import StoredPicture
from dga.data.stored_values import StoredValues
from dga.data.uploads import refuse_unreadable
from dga.explanation.degradation import Explanation
from dga.explanation.grid import Grid
from dga.explanation.operators import Convolution
from dga.images import Pixels, check_pixels, from_tensor, to_levels, to_tensor, to_upright
from dga.mending import WHOLE_SIDE, mend
from dga.networks.compute import isolate_numerics
from dga.networks.models import Models, load_default_models
from dga.pipeline import ForwardProcess, Start, collect_results, denoise, run
from dga.plain_frame import find_inside
from dga.profiles import Repair
from dga.sentences import name_damage
from dga.steps import take_result
from dga.stopping import Stop

Picture = TypeVar("Picture", Image.Image, Pixels)
OVERLAP = 0.1875
"""Least share of a window's side by which it overlaps the next one."""
FIRST_OF_WINDOW = 1
"""States of a window that are judged before any other: most windows with noise stop at once."""


@dataclass(frozen=True)
class RepairedPhotograph:
    """A repaired photograph."""

    image: Pixels
    """uint8 ``[H, W, 3]``."""
    explanation: Explanation
    """Of the whole photograph."""
    depths: NDArray[np.int64]
    """t* of each window, ``[rows, columns]``."""
    is_crossed: bool
    """Whether every window met its stopping rule, or had none."""
    is_unchanged: bool = False
    """Whether the photograph came back bit for bit."""
    is_mended: bool = False
    """Whether a denoiser that sees the picture made the result."""
    seconds: float = 0.0
    """Wall clock."""

    def facts(self) -> dict[str, Any]:
        """The record without the pictures, as JSON types.

        ``found``: the degradation that was undone, or none; ``undone``: whether an inverse was
        measured; ``mended``: whether a denoiser that sees the picture made the rest; ``noise``:
        its standard deviation, for pixels in [-1, 1]; ``depths``: over all windows, of which
        ``share`` have a depth above 0.
        """
        height, width = self.image.shape[:2]
        degradation = self.explanation.degradation
        return {
            "width": width,
            "height": height,
            "unchanged": self.is_unchanged,
            "mended": self.is_mended and not self.is_unchanged,
            "undone": degradation.has_measured_inverse and not self.is_unchanged,
            "found": name_damage(str(degradation), self.is_unchanged),
            "noise": 0.0 if self.is_unchanged else round(degradation.noise, 4),
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
    """Event: of ``total`` windows that need a repair ``done`` are finished."""

    done: int
    total: int


def repair_photograph(
    models: Models, pixels: Pixels, seed: int | None = None
) -> RepairedPhotograph:
    """Repair a photograph, uint8 ``[H, W, 3]`` of any size, at its own size.

    The same arguments give the same result; ``seed``: by default the content's own. Raises
    ``ValueError`` for what is no picture, and ``FloatingPointError`` if a network returns no
    numbers.
    """
    return take_result(photograph_steps(models, pixels, seed))


def repair(picture: Picture, models: Models | None = None) -> Picture:
    """Repair a picture of any size: a PIL image, or an array, uint8 ``[H, W, 3]``.

    Returns one of the same size and kind, bit for bit the same where nothing needs repair. A PIL
    image is turned upright, converted to sRGB and laid on white before it is repaired; the result
    stays upright, and has its opacity, 16 bits of grey, colour profile, EXIF and resolution; of
    several frames it is the current one. ``models``: by default those of ``photo``. Raises
    ``ValueError`` for what is no picture, or cannot be read, and ``FloatingPointError`` if a
    network returns no numbers. (:func:`repair_photograph` returns what was found, too;
    :func:`dga.folders.repairs.repair_all` repairs whole folders.)
    """
    if not isinstance(picture, Image.Image):
        check_pixels(picture)  # before models are loaded
        return repair_photograph(models or load_default_models(), picture).image
    with refuse_unreadable(picture.format or "picture"):
        stored = StoredValues.read(picture)
    photograph = repair_photograph(models or load_default_models(), stored.pixels)
    if photograph.is_unchanged:
        return to_upright(picture)
    return Frame(*stored.restore_values(photograph.image)).to_image()


@isolate_numerics
def photograph_steps(
    models: Models, pixels: Pixels, seed: int | None = None
) -> Generator[Progress | None, None, RepairedPhotograph]:
    """:func:`repair_photograph`, an event at a time (:mod:`dga.steps`).

    A plain frame is set aside, and comes back bit for bit.
    """
    start_time = time.perf_counter()
    check_pixels(pixels)
    seed = content_seed(pixels) if seed is None else seed
    inside = find_inside(pixels)
    explained = yield from explain_photograph(models, pixels[inside], seed)
    if explained.is_one_piece:
        result = _repair_whole(models, explained)
    else:
        result = yield from _repair_windows(models, explained)
    image = pixels.copy()
    height, width = pixels[inside].shape[:2]
    image[inside] = result.image[:height, :width]
    is_unchanged = np.array_equal(image, pixels)
    return replace(
        result,
        image=image,
        depths=np.zeros_like(result.depths) if is_unchanged else result.depths,
        is_unchanged=is_unchanged,
        is_mended=result.is_mended and not is_unchanged,
        seconds=time.perf_counter() - start_time,
    )


def repair_stored(
    models: Models,
    picture: StoredPicture,
    suffix: str,
    on_frame: Callable[[], object] = lambda: None,
) -> tuple[bytes, dict[str, Any]]:
    """Repair every frame or page of a picture file that one with this suffix holds.

    ``on_frame``: called after each of them. Returns the file's content, and its facts: those of
    :meth:`RepairedPhotograph.facts`, of several frames in ``frames``, with ``unchanged`` and
    ``seconds`` of all; in ``lost`` what of the file is not kept. Raises what
    :func:`repair_photograph` and :meth:`dga.data.picture_files.StoredPicture.remake` do.
    """
    facts = list[dict[str, Any]]()

    def change(pixels: Pixels) -> Pixels:
        photograph = repair_photograph(models, pixels)
        facts.append(photograph.facts())
        on_frame()
        return photograph.image

    remade = picture.remake(suffix, change)
    of_file = facts[0]
    if len(facts) > 1:
        of_file = {
            "frames": facts,
            "unchanged": all(frame["unchanged"] for frame in facts),
            "seconds": round(sum(frame["seconds"] for frame in facts), 3),
        }
    return remade.content, {**of_file, "lost": remade.losses}


def content_seed(pixels: Pixels) -> int:
    """The seed of a picture, which depends on its pixels alone."""
    return int.from_bytes(hashlib.blake2b(pixels.tobytes(), digest_size=4).digest(), "little")


def mirror_to_side(pixels: Pixels, least: int) -> Pixels:
    """Continue a picture, uint8 ``[H, W, 3]``, by its mirror image to ``least`` pixels a side."""
    missing = [(0, max(0, least - side)) for side in pixels.shape[:2]]
    return np.pad(pixels, (*missing, (0, 0)), "symmetric") if np.any(missing) else pixels


@dataclass(frozen=True)
class ExplainedPhotograph:
    """What lies in a photograph's frame, with what damaged it.

    ``process``: of the picture, continued by its mirror image where it is small; ``repair``: what
    is done to it; ``is_one_piece``: whether in one piece, not in windows.
    """

    process: ForwardProcess
    repair: Repair
    explanation: Explanation
    is_one_piece: bool

    def finish(self, x: Tensor) -> Pixels:
        """The repaired picture, ``[3, H, W]``, in 8 bits, and grey where it came grey."""
        came = self.process.x
        return from_tensor(x.mean(0).expand_as(x) if came.equal(came[:1].expand_as(came)) else x)


def explain_photograph(
    models: Models, pixels: Pixels, seed: int
) -> Generator[None, None, ExplainedPhotograph]:
    """Explain what lies in a photograph's frame, uint8 ``[H, W, 3]``, as every repair begins."""
    repair, is_one_piece = models.profile.plus, max(pixels.shape[:2]) <= WHOLE_SIDE
    least = models.window_size if is_one_piece else models.profile.image_size
    x = to_tensor(mirror_to_side(pixels, least)).to(models.device)
    process = ForwardProcess(models, x, seed)
    explanation = yield from process.explain(repair.explain)
    return ExplainedPhotograph(process, repair, explanation, is_one_piece)


def _repair_whole(models: Models, explained: ExplainedPhotograph) -> RepairedPhotograph:
    """Repair a photograph in one piece."""
    process = explained.process
    ((result,),) = collect_results(run(models, [process], [explained.repair])).values()
    start = result.start
    return RepairedPhotograph(
        explained.finish(result.image),
        start.explanation,
        depths=np.array([[start.stop.t_star]]),
        is_crossed=start.stop.is_crossed,
        is_mended=start.is_mended,
    )


def _repair_windows(
    models: Models, explained: ExplainedPhotograph
) -> Generator[Progress, None, RepairedPhotograph]:
    """Undo a photograph's damage as a whole, denoise by windows what that leaves, mend the rest."""
    process, repair, explanation = explained.process, explained.repair, explained.explanation
    repaired, operator = explanation.invert(process.x.cpu()), explanation.degradation.operator
    depths, is_crossed = np.zeros((1, 1), np.int64), True
    if isinstance(operator, Convolution):  # the same in every window
        repaired, depths, is_crossed = yield from _denoise_windows(models, explained, repaired)
    result = to_levels(repaired).to(models.device)
    is_inverted = explanation.degradation.has_measured_inverse
    judges = None if is_inverted else process.judges
    mended = mend(models, result, process.seed, repair, explanation, judges)
    if mended is not None:
        repaired, explanation = mended.image.cpu(), mended.explanation
    elif explanation.degradation.noise:
        repaired, depths, is_crossed = yield from _denoise_windows(models, explained, repaired)
    return RepairedPhotograph(
        explained.finish(repaired),
        explanation,
        depths,
        is_crossed,
        is_mended=mended is not None and mended.is_used,
    )


def _denoise_windows(
    models: Models, explained: ExplainedPhotograph, x_0: Tensor
) -> Generator[Progress, None, tuple[Tensor, NDArray[np.int64], bool]]:
    """Denoise a photograph window by window from ``x_0``, ``[3, H, W]``, after the inverse.

    Returns the repaired picture, each window's t*, ``[rows, columns]``, and whether all of them met
    their stopping rule.
    """
    repair, seed, x = explained.repair, explained.process.seed, explained.process.x.cpu()
    side = models.profile.image_size
    grid = Grid.over(x.shape[1:], side, round(OVERLAP * side))
    images, stops = list[Tensor](), list[Stop]()
    size = max(1, WINDOW_BATCH * models.window_size**2 // side**2)
    for first in range(0, len(grid), size):
        numbers = range(first, min(first + size, len(grid)))
        starts = list[Start]()
        for number in numbers:
            window, start = (grid.cut(whole, [number])[0] for whole in (x, x_0))
            process = ForwardProcess(models, window.to(models.device), seed * 1_000_003 + number)
            of_window = replace(explained.explanation, x_0=start)
            stop = process.find_stop(repair, of_window, number, first=FIRST_OF_WINDOW)
            starts.append(take_result(stop))
        for result in collect_results(denoise(models, starts))[repair]:
            stops.append(result.start.stop)
            images.append(result.image.cpu())
        yield Progress(first + len(numbers), len(grid))
    depths = np.array([stop.t_star for stop in stops], np.int64)
    by_window = depths.reshape(len(grid.tops), len(grid.lefts))
    return grid.join(images, x), by_window, all(stop.is_crossed for stop in stops)
