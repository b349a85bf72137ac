"""The discriminator studies side by side."""

from collections.abc import Sequence

import pandas as pd

from dga.analysis.discrimination import calibration, f1_scores
from dga.analysis.judges import judged_groups, trained_on
from dga.analysis.results import JudgeRun, MissingRun
from dga.analysis.tables.table import NOTHING, Cells, Table
from dga.titles import SPLITS

DEPTHS = (0, 5, 10, 20, 40)


def studies(judges: Sequence[JudgeRun]) -> Table:
    """F1 of every judged discriminator at a few depths."""
    if not judges:
        raise MissingRun("no judge run")
    shared = sorted(set.intersection(*(set(judge.depths) for judge in judges)))
    shown, numbers = list[Cells](), list[Cells]()
    for judge in judges:
        for group, names in judged_groups(judge).items():
            means = f1_scores(judge).loc[names].mean()  # by depth
            numbers += [
                {**_key(judge, group), "depth": depth, "measure": "f1", "value": round(value, 5)}
                for depth, value in means.items()
            ]
            shown.append(_shown(judge, group, means, shared))
        for found in calibration(judge):
            values = {
                "calibration_error": found.reliability.error,
                "temperature": found.temperature,
                "nll": found.reliability.nll,
                "nll_scaled": found.scaled.nll,
            }
            key = {**_key(judge, "all"), "depth": found.reliability.depth}
            numbers += [{**key, "measure": m, "value": round(v, 5)} for m, v in values.items()]
    return Table(
        "studies",
        "Discriminator studies",
        "F1 of corrupted against clean at the same depth, in percent, mean of the judged "
        f"corruptions; corrupted is what a confidence of 0.5 or more says. Mean: over "
        f"{_in_words(shared)}. Calling everything corrupted gives an F1 of 67 %.",
        pd.DataFrame(shown),
        pd.DataFrame(numbers),
        tuple(dict.fromkeys(judge.command for judge in judges if judge.command)),
    )


def _in_words(shared: Sequence[int]) -> str:
    """The depths at which all were judged."""
    few = ", ".join(map(str, shared)) if len(shared) < 12 else f"shared by all ({len(shared)})"
    return f"depths {few}" if shared else "no depth, for none is shared by all"


def _shown(judge: JudgeRun, group: str, means: pd.Series, shared: Sequence[int]) -> Cells:
    config = judge.config
    cells = {f"Depth {k}": f"{100 * means[k]:.1f}" if k in means.index else NOTHING for k in DEPTHS}
    return {
        "Study": judge.study,
        "Input": str(config.get("input", NOTHING)),
        "Trained on": trained_on(judge) or NOTHING,
        "Severity": str(config.get("severity", NOTHING)),
        "Photographs": SPLITS.get(config.get("split", ""), NOTHING),
        "Judged on": group,
        **cells,
        "Mean": f"{100 * means.loc[list(shared)].mean():.1f}" if len(shared) else NOTHING,
    }


def _key(judge: JudgeRun, group: str) -> Cells:
    named = {key: judge.config.get(key) for key in ("input", "source", "severity", "split")}
    return {"study": judge.study, **named, "judged_on": group, "pictures": len(judge.paths)}
