"""What small charts show; ``macros.html`` draws them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from app.words.findings import METHODS
from dga.analysis.tables.table import MINUS, signed


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % interval, in percent or points."""

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """``yes`` above 0, ``no`` below it, ``open`` where the interval holds 0."""
        return "yes" if self.low > 0 else "no" if self.high < 0 else "open"


@dataclass(frozen=True)
class Chart:
    """Methods, titles and estimates between ``low`` and ``high``, which is the rows' width.
    Without an estimate it is the title of the rows below it.

    ``bars`` from 0, else differences about 0, with a green ``band`` around it.
    Or, under ``heads``, names and their whole shares, which make 100.
    """

    rows: Sequence[tuple[str, str, Interval | None] | tuple[str, Sequence[int]]]
    low: float = 0
    high: float = 0
    bars: bool = False
    band: float = 0
    show: Callable[[float], str] = signed
    heads: Sequence[str] = ()

    def place(self, value: float) -> str:
        """In percent of the width, as a style."""
        return f"left:{self._share(value - self.low)}"

    def box(self, low: float, high: float) -> str:
        """From one value to another, as a style."""
        return f"{self.place(low)};width:{self._share(high - low)}"

    def ticks(self) -> list[tuple[str, str]]:
        """Three to seven round numbers of the width: places as styles, and words."""
        step = _step(self.high - self.low)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        values = [round(n * step, 6) for n in range(first, last + 1)]
        return [(self.place(v), f"{v:g}".replace("-", MINUS)) for v in values]

    def _share(self, length: float) -> str:
        return f"{100 * length / (self.high - self.low):.1f}%"


def _step(width: float) -> float:
    """Between two ticks: a round number."""
    rough = width / 6
    power = 10 ** math.floor(math.log10(rough))
    return power * next(digit for digit in (1, 2, 5, 10) if digit * power >= rough)


def bars(found: Mapping[str, Interval], show: Callable[[float], str] = "{:.1f}".format) -> Chart:
    """A bar a method, from 0 to the tick above all, with a whisker where there is an interval."""
    rows = [(method, METHODS[method], interval) for method, interval in found.items()]
    most = max(interval.high for interval in found.values()) or 1
    step = _step(most)
    return Chart(rows, high=math.ceil(most / step) * step, bars=True, show=show)


def forest(rows: Sequence[tuple[str, str, Interval | None]], band: float = 0) -> Chart:
    """Differences about a line at 0; ``band``: a green margin about it."""
    edge = max(1.5 * band, 1.0)
    found = [one for *_, one in rows if isinstance(one, Interval)]
    low, high = min(-edge, *(one.low for one in found)), max(edge, *(one.high for one in found))
    return Chart(rows, low, high, band=band)


def whole_shares(shares: Sequence[float]) -> list[int]:
    """Whole numbers that make 100, by largest remainder; shares in percent, of all there is.

    Raises ``ValueError`` for shares that do not make 100.
    """
    if abs(sum(shares) - 100) > 0.1:
        raise ValueError("shares of something else than 100")
    whole = [math.floor(share) for share in shares]
    by_rest = sorted(range(len(shares)), key=lambda i: whole[i] - shares[i])
    for i in by_rest[: 100 - sum(whole)]:
        whole[i] += 1
    return whole
