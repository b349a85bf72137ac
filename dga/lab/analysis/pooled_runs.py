"""Lines of several runs that were made under the same conditions, as one table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from dga.corruptions import CLEAN
from dga.lab.analysis.names import PLUS, STREAMS, MethodName, sort_methods
from dga.lab.analysis.saved_runs import KEY, Run

CONDITIONS = (
    "data", "corrupted", "corruptions", "saved", "split", "seed", "precision", "profile",
)  # fmt: skip
"""The facts in which pooled runs agree, beside the weights and settings that both name.

Of data the last part of each path counts, because each machine keeps it in its own place."""


@dataclass(frozen=True)
class PooledRuns:
    """Runs of one severity, or of one mixed stream, that agree in :data:`CONDITIONS`."""

    runs: tuple[Run, ...]
    """The first is the one with which the others agree."""
    lines: pd.DataFrame
    """The lines of all runs, each image and method once."""

    @property
    def first(self) -> Run:
        """The run that says what all are of, such as a severity or the kind of a stream."""
        return self.runs[0]

    @cached_property
    def methods(self) -> list[str]:
        """Every method, in the order of the paper's Table 1."""
        return sort_methods(self.lines["method"])

    @property
    def methods_to_compare(self) -> list[str]:
        """Methods without permuted controls and, outside of streams, DGA+ with other settings."""
        names = [name for name in map(MethodName.parse, self.methods) if not name.is_permuted]
        return [name.name for name in names if self.first.stream or not name.is_plus_changed]


def pool_runs(runs: Sequence[Run]) -> tuple[list[PooledRuns], list[str]]:
    """Pool the runs of each severity, the highest first, and then those of each mixed stream.

    Also returns a sentence about each run that was left out, see :func:`pool_agreeing`.
    """
    clean = [r for r in runs if not r.stream and set(r.lines["corruption"]) == {CLEAN}]
    damaged = [run for run in runs if not run.stream and run not in clean]
    severities = sorted({run.severity for run in damaged or clean}, reverse=True)
    groups = [[run for run in damaged if run.severity == one] + clean for one in severities]
    groups += [[run for run in runs if run.stream == stream] for stream in STREAMS]
    pooled = [pool_agreeing(group) for group in groups]
    left_out = dict.fromkeys(sentence for _, sentences in pooled for sentence in sentences)
    return [one for pools, _ in pooled for one in pools], list(left_out)


def pool_agreeing(runs: Iterable[Run]) -> tuple[list[PooledRuns], list[str]]:
    """Pool runs that agree with the weightiest; of no runs no pool is returned.

    That is the run on ``report`` rather than ``tune``, with damage, with most methods, with most
    lines: the first of these that decides. Also returns a sentence on each other run.
    """
    agreeing, left_out = list[Run](), list[str]()
    for run in sorted(runs, key=_weigh, reverse=True):
        differences = [_find_difference(other, run) for other in agreeing]
        if reasons := [difference for difference in differences if difference]:
            left_out.append(f"{run.name}: {reasons[0]}")
        else:
            agreeing.append(run)
    if not agreeing:
        return [], left_out
    lines = pd.concat([run.lines for run in agreeing], ignore_index=True)
    lines = lines.drop_duplicates(KEY, ignore_index=True)
    return [PooledRuns(tuple(agreeing), lines)], left_out


def _weigh(run: Run) -> tuple[bool, bool, int, int]:
    """The sort key of runs: the others must agree with the run of which it is largest."""
    has_damage = bool((run.lines["corruption"] != CLEAN).any())
    return (
        run.config.get("split") == "report",
        has_damage,
        run.lines["method"].nunique(),
        len(run.lines),
    )


def _find_difference(first: Run, run: Run) -> str | None:
    """A phrase that says in what two runs differ; None where they agree."""
    for condition in CONDITIONS:
        if _read_condition(first, condition) != _read_condition(run, condition):
            return f"differs from {first.name} in {condition}"
    weights = _list_changed(first, run, "weights")
    if not (_has_plus(first) and _has_plus(run)):
        weights -= {"conditional", "dewarper"}  # which DGA+ alone asks
    if weights:
        return f"differs from {first.name} in weights"
    settings = _list_changed(first, run, "methods")
    return f"differs from {first.name} in the settings of {min(settings)}" if settings else None


def _read_condition(run: Run, condition: str) -> Any:
    """The value of one of :data:`CONDITIONS`."""
    value = run.config.get(condition)
    if condition == "data":
        return [Path(source).name for source in value or ()]
    return Path(value).name if condition == "corrupted" and value else value


def _has_plus(run: Run) -> bool:
    return any(name.startswith(PLUS) for name in run.config.get("methods", {}))


def _list_changed(first: Run, run: Run, part: str) -> set[str]:
    """Names in a part of the configuration that both runs have, with another value."""
    ours, others = (one.config.get(part) or {} for one in (first, run))
    return {name for name in ours.keys() & others.keys() if ours[name] != others[name]}
