"""From result lines to statistics and tables. Reads files; imports no network.

>>> from pathlib import Path
>>> from dga.lab.analysis.pooled_runs import pool_runs
>>> from dga.lab.analysis.saved_runs import read_runs
>>> from dga.lab.analysis.tables import make_table_1
>>> pooled, left_out = pool_runs(read_runs(Path("runs")).evaluations)
>>> print(make_table_1(pooled[0]).to_markdown())
"""
