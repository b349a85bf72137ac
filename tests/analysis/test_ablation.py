"""The stages of DGA+, with known answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dga.analysis.pooled import PooledRuns, pool_runs
from dga.analysis.results import MissingRun, read_runs
from dga.analysis.tables.ablation import ORACLE, ablation
from dga.analysis.tables.accuracy import table_1
from dga.corruptions import CORRUPTIONS
from tests.fixtures.results import line, write_run

WITHOUT = "dga-plus:exposure=false"
ASKS = "dga-plus:alternatives=true"
RIGHT = {"source": 2, WITHOUT: 4, "dga-plus": 6, ASKS: 6}  # of ten photographs


def write(folder: Path, methods: list[str]) -> PooledRuns:
    rows = []
    for method in methods:
        for corruption in CORRUPTIONS:
            for p in range(10):
                asked: dict[str, Any] = {}
                if method == ASKS:
                    here = line(p, corruption, method, False)["class"]
                    asked["alternatives"] = ["dish", here] if p < 9 else ["dish"]
                rows.append(line(p, corruption, method, p < RIGHT[method], **asked))
    write_run(folder / "run", rows)
    (pooled,), _ = pool_runs(read_runs(folder).evaluations)
    return pooled


def test_stages_stand_beside_the_whole_and_an_oracle(tmp_path: Path) -> None:
    pooled = write(tmp_path, ["source", "dga-plus", WITHOUT, ASKS])
    table = ablation(pooled)
    rows = table.shown.set_index("Method")
    assert list(rows.index) == ["Nothing done", "DGA+", "DGA+, without exposure", ORACLE]
    assert [cell.split()[0] for cell in rows["Mean of 15"]] == ["20.0", "60.0", "40.0", "90.0"]
    assert rows.loc["DGA+, without exposure", "Minus DGA+"].startswith("\N{MINUS SIGN}20.0")
    assert rows.loc["DGA+", "Minus DGA+"] == ""
    assert WITHOUT not in pooled.compared
    assert "without exposure" not in table_1(pooled).shown.to_string()


def test_without_variants_there_is_nothing_to_show(tmp_path: Path) -> None:
    with pytest.raises(MissingRun, match="exposure=false"):
        ablation(write(tmp_path, ["source", "dga-plus"]))
