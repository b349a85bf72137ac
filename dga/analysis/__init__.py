"""From result lines to statistics and tables. Reads files; imports no network.

>>> from pathlib import Path
>>> from dga.analysis import benches, read_results, table_1
>>> results = read_results(Path("assets/results/everyday16"))
>>> made, left_out = benches(results.evaluations)
>>> print(table_1(made[0]).to_markdown())
"""

from dga.analysis.controls import Controls, control
from dga.analysis.discrimination import calibration, scores, stops
from dga.analysis.pooled import Bench, benches
from dga.analysis.results import EvaluationRun, JudgeRun, MissingRun, Results, read_results
from dga.analysis.statistics import Estimate, Outcomes
from dga.analysis.sweep import Sweep, read_sweep
from dga.analysis.tables.accuracy import comparisons, table_1, table_2, table_3
from dga.analysis.tables.depths import bench_controls, controls_table, depths, stopping_rules
from dga.analysis.tables.discriminator import studies
from dga.analysis.tables.table import Table

__all__ = [
    "Bench",
    "Controls",
    "Estimate",
    "EvaluationRun",
    "JudgeRun",
    "MissingRun",
    "Outcomes",
    "Results",
    "Sweep",
    "Table",
    "bench_controls",
    "benches",
    "calibration",
    "comparisons",
    "control",
    "controls_table",
    "depths",
    "read_results",
    "read_sweep",
    "scores",
    "stopping_rules",
    "stops",
    "studies",
    "table_1",
    "table_2",
    "table_3",
]
