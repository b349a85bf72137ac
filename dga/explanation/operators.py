"""Damage as a linear operator, and the picture that agrees best with the damaged one."""

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy
import torch
import torch.nn.functional as F
from torch import Tensor

from dga.diffusion import Schedule
from dga.explanation.deconvolution import EDGE, make_disk, place_at_origin
from dga.explanation.spectrum import Array

CG_STEPS = 6
"""How many steps conjugate gradients take; more of them change hardly anything."""


class Operator(ABC):
    """Damage as a linear map H, on pictures ``[3, H, W]`` in [-1, 1].

    ``kind``: one word for it, such as blur, motion or blocks; ``regularisation``: weight of the
    damaged picture itself in the first estimate; ``most_objection``: by how much the
    discriminator's mean logit may rise by the inverse, as a multiple of ``OBJECTION`` of
    :mod:`dga.explanation.search`; below 0 it has to fall; ``least_relief``: by how much it has to
    fall where this damage is only likely. Of 375 undamaged pictures in none it does.
    """

    kind: str
    regularisation = 0.001
    most_objection = 1.0
    least_relief = 1.0

    @abstractmethod
    def measure_strength(self, height: int, width: int) -> float:
        """How strong it is in a picture of so many pixels, in its kind's unit
        (:data:`dga.diagnosis.DAMAGE_KINDS`)."""

    @abstractmethod
    def solve_proximal(self, z: Tensor, y: Tensor, weight: float) -> Tensor:
        """argmin_x |H x - y|^2 + weight |x - z|^2 (DiffPIR, Zhu et al., 2023, Eq. 13)."""

    def invert(self, y: Tensor) -> Tensor:
        """A first estimate of x from y = H x, clipped to [-1, 1]."""
        return self.solve_proximal(y, y, self.regularisation).clamp(-1, 1)


class Convolution(Operator):
    """An operator with a point spread function ``kernel``, ``[n, n]``, n odd.

    Inverses do not assume what lies beyond the borders: they look for that as well, so that no
    seam is left, which a small ``weight`` would amplify (Almeida and Figueiredo, "Deconvolving
    Images With Unknown Boundaries", 2013).
    """

    kernel: Tensor

    def solve_proximal(self, z: Tensor, y: Tensor, weight: float) -> Tensor:
        """Solve it by conjugate gradients, on a canvas that reaches beyond the borders."""
        reach, (height, width) = len(self.kernel) // 2, y.shape[-2:]
        rows, columns = (
            scipy.fft.next_fast_len(side + 2 * reach, real=True) for side in (height, width)
        )
        margins = (reach, columns - width - reach, reach, rows - height - reach)
        canvas = F.pad(z[None], margins, "replicate")[0]
        transfer = torch.fft.rfft2(place_at_origin(self.kernel, canvas.shape[-2:]).to(canvas))
        diagonal = transfer.abs().square() + weight

        def filter_by(factor: Tensor, x: Tensor) -> Tensor:
            return torch.fft.irfft2(torch.fft.rfft2(x) * factor, s=(rows, columns))

        def cut(x: Tensor) -> Tensor:
            return x[..., reach : reach + height, reach : reach + width]

        def adjoin(v: Tensor) -> Tensor:
            return filter_by(transfer.conj(), F.pad(v, margins))

        solved = conjugate_gradients(
            lambda x: adjoin(cut(filter_by(transfer, x))) + weight * x,
            canvas,
            residual=adjoin(y - cut(filter_by(transfer, canvas))),
            steps=CG_STEPS,
            precondition=lambda r: filter_by(1 / diagonal, r),
        )
        return cut(solved)


def conjugate_gradients(
    normal: Callable[[Tensor], Tensor],
    x: Tensor,
    residual: Tensor,
    steps: int,
    precondition: Callable[[Tensor], Tensor] = lambda residual: residual,
) -> Tensor:
    """Solve normal(x) = b from a start x with ``residual`` b - normal(x), all of x's shape.

    ``normal`` is linear and positive definite; ``precondition`` is nearly its inverse. (Hestenes
    and Stiefel, 1952; Nocedal and Wright, "Numerical Optimization", algorithm 5.3.)
    """
    p, rz = torch.zeros_like(x), torch.ones(())
    for _ in range(steps):
        z, last_rz = precondition(residual), rz
        rz = (residual * z).sum()
        p = z + rz / last_rz.clamp(min=1e-20) * p
        a_p = normal(p)
        alpha = rz / (p * a_p).sum().clamp(min=1e-20)
        x, residual = x + alpha * p, residual - alpha * a_p
    return x


@dataclass(frozen=True)
class Disk(Convolution):
    """A lens out of focus; ``radius`` in pixels."""

    radius: float
    kind = "blur"
    least_relief = 0.4

    @property
    def kernel(self) -> Tensor:  # type: ignore[override]
        return make_disk(self.radius)

    def measure_strength(self, height: int, width: int) -> float:
        return self.radius

    def __str__(self) -> str:
        return f"out of focus by {self.radius:g} px"


@dataclass(frozen=True)
class GaussianBlur(Convolution):
    """A soft blur without a sharp edge; ``sigma``: its deviation in pixels.

    No undamaged photograph was taken for one, so that the discriminator may object more.
    """

    sigma: float
    kind = "blur"
    most_objection = 2.0

    @property
    def kernel(self) -> Tensor:  # type: ignore[override]
        reach = math.ceil(4 * self.sigma)
        at = torch.arange(-reach, reach + 1, dtype=torch.float64)
        profile = torch.exp(-at.square() / (2 * self.sigma**2))
        return torch.outer(profile, profile) / profile.sum() ** 2

    def measure_strength(self, height: int, width: int) -> float:
        return self.sigma

    def __str__(self) -> str:
        return f"blurred by a Gaussian of {self.sigma:g} px"


class Motion(Convolution):
    """Motion during the exposure; ``length`` in pixels."""

    length: float
    kind = "motion"
    regularisation = 0.003
    most_objection = -0.5

    def measure_strength(self, height: int, width: int) -> float:
        return self.length


@dataclass(frozen=True)
class MotionBlur(Motion):
    """Straight motion; ``angle``: in degrees from the rows, downwards.

    Motion at an even speed is ``length`` pixels long, and opposite angles are the same. With
    ``one_sided`` the motion fades as half a Gaussian, of which ``length`` is the deviation in
    pixels, and opposite angles differ.
    """

    length: float
    angle: float
    one_sided: bool = False

    @property
    def kernel(self) -> Tensor:  # type: ignore[override]
        return make_motion_kernel(self.length, self.angle, self.one_sided)

    def __str__(self) -> str:
        return f"moved by {self.length:g} px at {self.angle % 360:g} degrees"


@functools.lru_cache(maxsize=512)
def make_motion_kernel(length: float, angle: float, one_sided: bool = False) -> Tensor:
    """Point spread function of a :class:`MotionBlur`, ``[n, n]`` with odd n, sums to 1."""
    reach = math.ceil(3 * length) + 1 if one_sided else math.ceil(length / 2 + 2 * EDGE)
    at, turn = torch.arange(-reach, reach + 1, dtype=torch.float64), math.radians(angle)
    along = at * math.cos(turn) + at[:, None] * math.sin(turn)
    across = at[:, None] * math.cos(turn) - at * math.sin(turn)
    if one_sided:
        profile = torch.exp(-along.square() / (2 * length**2)) * (along + EDGE).clamp(0, 1)
    else:
        profile = ((length / 2 + EDGE - along.abs()) / (2 * EDGE)).clamp(0, 1)
    kernel = profile * (1 - across.abs()).clamp(min=0)
    return kernel / kernel.sum()


@dataclass(frozen=True)
class ArcMotion(Motion):
    """Motion along an arc, of a hand that shook.

    ``length``: of the path, in pixels; ``turn``: from its beginning to its end, in degrees;
    ``angle``: of its middle, in degrees from the rows, downwards; ``skew``: -1 to 1, the share by
    which more light fell at its end than in its middle, and less at its beginning.
    """

    length: float
    turn: float
    angle: float
    skew: float

    @property
    def kernel(self) -> Tensor:  # type: ignore[override]
        return make_arc_kernel(self.length, self.turn, self.angle, self.skew)

    def mirror(self) -> Self:
        """The path reflected at its middle, whose power spectrum is the same."""
        return replace(self, angle=(self.angle + 180) % 360)

    def __str__(self) -> str:
        return f"moved by {self.length:g} px along an arc that turns by {abs(self.turn):g} degrees"


def trace_arc(
    length: float, turn: float, angle: float, skew: float, count: int
) -> tuple[Array, Array, Array]:
    """Rows and columns of ``count`` points along an arc, in pixels, and the light that falls there.

    ``turn`` and ``angle``: in radians; else as in :class:`ArcMotion`. The light sums to 1.
    """
    times = (np.arange(count) + 0.5) / count
    direction = angle + turn * (times - 0.5)
    light = 1 + skew * (2 * times - 1)
    steps = [wave(direction) * length / count for wave in (np.sin, np.cos)]
    rows, columns = (np.cumsum(step) - step / 2 for step in steps)  # the middles of the steps
    return rows - rows.mean(), columns - columns.mean(), light / light.sum()


@functools.lru_cache(maxsize=64)
def make_arc_kernel(length: float, turn: float, angle: float, skew: float) -> Tensor:
    """Point spread function of an :class:`ArcMotion`, ``[n, n]`` with odd n, sums to 1.

    Its points are shared between the pixels around them.
    """
    turns = math.radians(turn), math.radians(angle)
    rows, columns, light = trace_arc(length, *turns, skew, count=max(1, math.ceil(8 * length)))
    reach = math.ceil(max(np.abs(rows).max(), np.abs(columns).max())) + 1
    at = np.arange(-reach, reach + 1)[:, None]
    down, across = ((1 - np.abs(at - place)).clip(0) for place in (rows, columns))  # [n, count]
    return torch.from_numpy((down * light) @ across.T)


@dataclass(frozen=True)
class Blocks(Operator):
    """A picture enlarged without interpolation.

    ``rows`` and ``columns``: the pixels at which its blocks begin.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    kind = "blocks"

    def invert(self, y: Tensor) -> Tensor:
        """A picture interpolated from the mean of each block."""
        small = _average_runs(_average_runs(y, self.rows, -2), self.columns, -1)
        size = list(y.shape[-2:])
        return F.interpolate(small[None], size, mode="bicubic", align_corners=False)[0].clamp(-1, 1)

    def solve_proximal(self, z: Tensor, y: Tensor, weight: float) -> Tensor:
        """H is a projection: the mean of each block moves towards that of y."""
        gap = y - z
        for dim, begins in ((-2, self.rows), (-1, self.columns)):
            gap = _block_means(gap, begins, dim)
        return z + gap / (1 + weight)

    def measure_strength(self, height: int, width: int) -> float:
        return (height / len(self.rows) + width / len(self.columns)) / 2

    def __str__(self) -> str:
        return f"{len(self.rows)} x {len(self.columns)} blocks"


def _block_means(x: Tensor, begins: tuple[int, ...], dim: int) -> Tensor:
    """The picture with every run between two of ``begins`` at its mean, along one dimension."""
    return _average_runs(x, begins, dim).index_select(dim, _find_owners(begins, x.shape[dim], x))


def _average_runs(x: Tensor, begins: tuple[int, ...], dim: int) -> Tensor:
    """The mean of every run between two of ``begins``, along one dimension, which shrinks."""
    owner = _find_owners(begins, x.shape[dim], x)
    shape = list(x.shape)
    shape[dim] = len(begins)
    sums = x.new_zeros(shape).index_add_(dim, owner, x)
    counts = owner.bincount(minlength=len(begins)).to(x)
    return sums / counts.view([-1 if i == dim % x.ndim else 1 for i in range(x.ndim)])


def _find_owners(begins: tuple[int, ...], side: int, like: Tensor) -> Tensor:
    """In which run each of ``side`` pixels lies, int64 ``[side]``, on the device of ``like``."""
    at = torch.arange(side, device=like.device)
    return torch.bucketize(at, torch.tensor(begins[1:], device=like.device), right=True)


@dataclass(frozen=True)
class OperatorConsistency:
    """An :data:`~dga.diffusion.DataConsistency` with H x = y: guidance by the measured operator.

    ``operators``: None leaves its picture's estimate as it is; ``inputs``: the damaged pictures y,
    ``[B, 3, H, W]``; ``weight``: of the clean estimate, times abar / (1 - abar).
    """

    schedule: Schedule
    operators: Sequence[Operator | None]
    inputs: Tensor
    weight: float

    def __call__(self, x0_hat: Tensor, depth: Tensor, indices: Tensor) -> Tensor:
        abar = self.schedule.alpha_bar[depth]
        weights = (self.weight * abar / (1 - abar)).tolist()
        solved = []
        for i, z, weight in zip(indices.tolist(), x0_hat, weights, strict=True):
            operator = self.operators[i]
            solved.append(operator.solve_proximal(z, self.inputs[i], weight) if operator else z)
        return torch.stack(solved).clamp(-1, 1)
