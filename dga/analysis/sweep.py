"""One method at several fixed depths, and the depths it chose itself, on the same images."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dga.analysis.names import MethodName
from dga.analysis.results import MissingRun
from dga.analysis.statistics import Floats

SOURCE = "source"


@dataclass(frozen=True)
class Sweep:
    """C corruptions, P photographs, K swept depths, the first of them 0 (no change).

    ``correct``: float32 ``[C, P, K]``, 1 or 0; ``chosen``: float32 ``[C, P]``, 1
    where the adaptive method itself was right; ``t_star``: int ``[C, P]``;
    ``measured``: bool ``[C, P]``, the images that have all of these.
    """

    adaptive: str
    depths: tuple[int, ...]
    corruptions: tuple[str, ...]
    photographs: tuple[str, ...]
    correct: Floats
    chosen: Floats
    t_star: NDArray[np.int64]
    measured: NDArray[np.bool_]

    @property
    def rounded(self) -> NDArray[np.int64]:
        """t* as positions ``[C, P]`` in ``depths``: the nearest, of two the shallower."""
        distances = np.abs(self.t_star[..., None] - np.asarray(self.depths))
        return distances.argmin(axis=-1)


def fixed_depths(lines: pd.DataFrame, base: str) -> dict[int, str]:
    """``{depth: method}`` of the lines' fixed-depth methods (``base:depth=8``), by depth."""
    methods = (MethodName.parse(str(name)) for name in lines["method"].unique())
    found = {
        int(method.overrides[0][1]): method.name
        for method in methods
        if method.base == base and [key for key, _ in method.overrides] == ["depth"]
    }
    return dict(sorted(found.items()))


def read_sweep(lines: pd.DataFrame, base: str, adaptive: str) -> Sweep:
    """The sweep of ``base`` beside the depths that ``adaptive`` chose.

    Source-only stands for depth 0. Only images that every one of them has are taken.
    Raises :class:`MissingRun` where there are none.
    """
    swept = {0: SOURCE} | {k: name for k, name in fixed_depths(lines, base).items() if k > 0}
    if len(swept) < 3:
        raise MissingRun(f"no run of {base} at fixed depths ({base}:depth=4, ...)")
    names = list(dict.fromkeys((*swept.values(), adaptive)))
    absent = [name for name in (SOURCE, adaptive) if name not in set(lines["method"])]
    if absent:
        raise MissingRun(f"no run of {absent[0]} on the images of {base}:depth={max(swept)}")
    rows = lines[lines["method"].isin(names)]
    wide = rows.pivot(index=["corruption", "path"], columns="method", values="correct")
    whole = wide[[*swept.values(), adaptive]].dropna().astype(np.float32)
    if whole.empty:
        raise MissingRun(f"no image that was run with {adaptive} and at all of {base}'s depths")
    corruptions = tuple(whole.index.unique("corruption"))
    photographs = tuple(sorted(whole.index.unique("path")))
    every = pd.MultiIndex.from_product([corruptions, photographs], names=whole.index.names)
    shape = len(corruptions), len(photographs)
    values = whole.reindex(every, fill_value=0).to_numpy().reshape(*shape, -1)  # [C, P, K + 1]
    t_star = rows[rows["method"] == adaptive].set_index(["corruption", "path"])["depth"]
    measured = every.isin(whole.index)
    return Sweep(
        adaptive, tuple(swept), corruptions, photographs, values[..., :-1], values[..., -1],
        np.where(measured, t_star.reindex(every, fill_value=0), 0).reshape(shape),
        measured.reshape(shape),
    )  # fmt: skip
