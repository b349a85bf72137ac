"""What the method costs on this machine, and what the published way costs beside it."""

from __future__ import annotations

from dga.bench.measure import Plan, Report, bench
from dga.bench.output import to_text, write

__all__ = ["Plan", "Report", "bench", "to_text", "write"]
