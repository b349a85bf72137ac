"""What a large evaluation costs, worked out from measured seconds a picture."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from dga.evaluation.ledger import LINES, Line, read_lines
from dga.parsing import split_list, whole_numbers

IMAGENET_C = 750_000
"""Pictures at one severity: 15 corruptions of 50,000."""


def measured(folder: Path) -> dict[str, float]:
    """Mean seconds a picture by method, from a folder of results.

    Raises ``ValueError`` for a folder that holds none.
    """
    lines = read_lines(folder / LINES)
    if not lines:
        raise ValueError(f"{folder} holds no results ({LINES}).")
    return means(lines)


def means(lines: Sequence[Line]) -> dict[str, float]:
    """Mean seconds a picture by method."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for line in lines:
        seconds[line["method"]].append(line["seconds"])
    return {name: sum(values) / len(values) for name, values in seconds.items()}


def parse_rates(text: str) -> dict[str, float]:
    """``dga-guided=0.7,dda=1.1``: seconds a picture by any name."""
    rates = {}
    for part in split_list(text):
        name, _, value = part.rpartition("=")
        try:
            rates[name] = float(value)
        except ValueError:
            raise ValueError(f"Seconds look like dga-guided=0.7, not {part!r}.") from None
        if not name or not rates[name] > 0:
            raise ValueError(f"Seconds look like dga-guided=0.7, not {part!r}.")
    return rates


def parse_counts(text: str) -> tuple[int, ...]:
    """``1,8,64``: numbers of workers."""
    counts = whole_numbers(text, "Workers", "1,8,64")
    if min(counts) < 1:
        raise ValueError(f"Workers look like 1,8,64, not {text!r}.")
    return counts


def table(rates: Mapping[str, float], pictures: int, workers: Sequence[int]) -> str:
    """A Markdown table: hours on so many workers, for work that divides evenly."""
    if pictures < 1:
        raise ValueError("At least one picture is needed.")
    columns = [f"on {count}" for count in workers]
    head = ["method", "seconds a picture", "worker-hours", *columns]
    rows = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for name, seconds in rates.items():
        hours = seconds * pictures / 3600
        cells = [name, f"{seconds:.3g}", f"{hours:,.0f}", *(_span(hours / n) for n in workers)]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _span(hours: float) -> str:
    """A length of time in the unit that suits it."""
    if hours >= 48:
        return f"{hours / 24:.1f} days"
    return f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.0f} minutes"
