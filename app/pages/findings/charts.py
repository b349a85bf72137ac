"""Small charts as HTML: text stays text at any width, and colours follow the theme."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from app.parts.marks import mark
from app.words.findings import METHODS

MARKS = {"source": "damaged", "tent": "noised"}  # of methods without a mark of their own


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
class Span:
    """The values that a row of a chart spans, as places in percent of its width."""

    low: float
    high: float

    def place(self, value: float) -> str:
        return f"left:{self._share(value - self.low)}"

    def box(self, low: float, high: float) -> str:
        return f"{self.place(low)};width:{self._share(high - low)}"

    def whisker(self, found: Interval) -> str:
        return f'<i class="fi-whisker" style="{self.box(found.low, found.high)}"></i>'

    def _share(self, length: float) -> str:
        return f"{100 * length / (self.high - self.low):.1f}%"


def bars(
    rows: Mapping[str, Interval], unit: str, show: Callable[[float], str] = "{:.1f}".format
) -> str:
    """A bar a method, from 0, with a whisker where there is an interval."""
    span = Span(0, max(found.high for found in rows.values()) or 1)
    items = "".join(
        _row(
            method,
            METHODS[method],
            f'<i class="fi-bar" style="{span.box(0, found.value)}"></i>'
            + (span.whisker(found) if found.low < found.high else ""),
            f"<b>{show(found.value)}</b>",
        )
        for method, found in rows.items()
    )
    return f'<ul class="fi-rows">{items}</ul><p class="fi-axis">{escape(unit)}</p>'


def forest(rows: Sequence[tuple[str, str, Interval]], band: float = 0) -> str:
    """Methods, titles and differences about a line at 0; ``band``: a green margin about it."""
    edge = max(1.5 * band, 1.0)
    low = min(-edge, *(found.low for _, _, found in rows))
    span = Span(low, max(edge, *(found.high for _, _, found in rows)))
    ground = f'<i class="fi-band" style="{span.box(-band, band)}"></i>' if band else ""
    ground += f'<i class="fi-zero" style="{span.place(0)}"></i>'
    items = "".join(
        _row(
            method,
            title,
            f'{ground}{span.whisker(found)}<span class="fi-dot" '
            f'style="{span.place(found.value)}">{_mark(method)}</span>',
            f"<b>{signed(found.value)}</b> <small>{signed(found.low)} to "
            f"{signed(found.high)}</small>",
        )
        for method, title, found in rows
    )
    return f'<ul class="fi-rows fi-forest">{items}</ul>'


def heat(rows: Sequence[tuple[str, Sequence[float]]], heads: Sequence[str]) -> str:
    """Shares of 100, darker where there are more."""
    top = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(f'<td style="--share:{share:.0f}%"><b>{share:.0f}</b></td>' for share in shares)
        + "</tr>"
        for name, shares in rows
    )
    return (
        f'<table class="fi-heat"><thead><tr><td></td>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _row(method: str, title: str, track: str, value: str) -> str:
    return (
        f'<li class="of-{method}"><div class="fi-name">{_mark(method)}'
        f"<span>{escape(title)}</span></div>"
        f'<span class="fi-track" aria-hidden="true">{track}</span>'
        f'<span class="fi-value">{value}</span></li>'
    )


def _mark(method: str) -> str:
    return mark(MARKS.get(method, method))


def signed(value: float) -> str:
    """``+4.8``, with a true minus; what rounds to 0 has no sign."""
    text = f"{value:+.1f}".replace("-", "\N{MINUS SIGN}")
    return text[1:] if text[1:] == "0.0" else text
