"""Tables of depths: where pictures halt, and whether it is per image."""

from collections.abc import Sequence

import pandas as pd

from dga.analysis.depth_controls import DepthControls, fixed_depths
from dga.analysis.names import MEAN, SOURCE, group_title, method_title
from dga.analysis.pooled import PooledRuns
from dga.analysis.results import JudgeRun, MissingRun
from dga.analysis.tables.table import (
    NOTHING,
    Cells,
    Rows,
    Table,
    bare_columns,
    columns,
    correlation,
    percent,
    points,
)
from dga.corruptions import CLEAN, CORRUPTIONS
from dga.profiles import PROFILES, StoppingConfig

# Both halt at the same depths: guidance comes after t*.
ADAPTIVE = ("dga-guided", "dga")
TITLES = {
    "measured": "Adaptive, as run",
    "adaptive": "Adaptive, nearest swept depth",
    "permuted": "t* permuted within a corruption",
    "median": "Median t* of the corruption",
    "global": "Best single depth",
    "oracle": "Best depth of each image (oracle)",
}


def halted(pooled: PooledRuns) -> tuple[str, pd.DataFrame]:
    """DGA + G or else DGA, and its lines. Raises :class:`MissingRun`."""
    for name in ADAPTIVE:
        if name in pooled.methods:
            return name, pooled.lines[pooled.lines["method"] == name]
    raise MissingRun(f"no run of {' or '.join(ADAPTIVE)}")


def depth_facts(rows: pd.DataFrame) -> dict[str, float]:
    """Median, quartiles and shares of lines with the columns depth and crossed."""
    depth = rows["depth"]
    # Of two in the middle the lower: a depth that was chosen.
    low, middle, high = depth.quantile([0.25, 0.5, 0.75], interpolation="lower")
    return {
        "median": float(middle),
        "lower_quartile": float(low),
        "upper_quartile": float(high),
        "share_at_0": round(float((depth == 0).mean()), 5),
        "share_to_4": round(float((depth <= 4).mean()), 5),
        "share_not_crossed": round(float((~rows["crossed"].astype(bool)).mean()), 5),
        "images": len(rows),
    }


def at_severities(
    severities: Sequence[PooledRuns],
) -> tuple[str, pd.DataFrame, tuple[str, ...]]:
    """An adaptive method, its lines under the fifteen corruptions, and the commands.

    Raises :class:`MissingRun` for fewer than two severities.
    """
    for method in ("dga-plus", *ADAPTIVE):
        runs = [pooled for pooled in reversed(severities) if method in pooled.methods]
        if len(runs) > 1:
            lines = pd.concat([run.lines[run.lines["method"] == method] for run in runs])
            commands = dict.fromkeys(c for run in runs for c in run.commands([method]))
            return method, lines[lines["corruption"].isin(CORRUPTIONS)], tuple(commands)
    raise MissingRun("no run of dga-plus at two severities or more")


def depths_by_severity(severities: Sequence[PooledRuns]) -> Table:
    """Median t* of every corruption by severity, the entry depth k0 beside it."""
    method, lines, commands = at_severities(severities)
    enters = bool((lines["entry"] > 0).any())
    shown, numbers = list[Cells](), list[Cells]()
    for name in CORRUPTIONS:
        rows = lines[lines["corruption"] == name]
        cells: Cells = {"Corruption": group_title(name)}
        for severity, own in rows.groupby("severity"):
            facts = depth_facts(own)
            entry = float(own["entry"].quantile(0.5, interpolation="lower"))
            text = f"{facts['median']:g}"
            cells[f"Severity {severity}"] = f"{text} (k0 {entry:g})" if enters else text
            key = {"method": method, "corruption": name, "severity": severity}
            numbers.append({**key, **facts, "median_entry": entry})
        shown.append(cells)
    return Table(
        "depths-by-severity",
        f"Median t* by severity, {method_title(method)}",
        "Where half of the pictures have halted, in steps of 100"
        + (", and k0, where their own noise puts them." if enters else "."),
        pd.DataFrame(shown).fillna(NOTHING),
        pd.DataFrame(numbers),
        commands,
    )


def stopping_config(judge: JudgeRun, pooled: PooledRuns | None) -> StoppingConfig:
    """The rule as the runs' methods had it, or else as the judge's profile has."""
    found = [pooled.stopping(method) for method in ADAPTIVE] if pooled else []
    profile = PROFILES.get(str(judge.config.get("profile")))
    preset = profile.stopping if profile else StoppingConfig()
    return next((config for config in found if config is not None), preset)


def control_title(name: str, controls: DepthControls) -> str:
    """In words; a fixed depth by its number."""
    title = TITLES.get(name, name.replace("=", " ").capitalize())
    return f"{title} ({controls.best_depth})" if name == "global" else title


def controls_table(pooled: PooledRuns) -> Table:
    """Is the depth really per image? Accuracy of each control; adaptive minus it.

    Raises :class:`MissingRun` naming what the sweep lacks.
    """
    controls = pooled.controls
    rows = Rows()
    for name, row in controls.rows.items():
        gain = row.adaptive_minus.get(MEAN)
        texts = {group_title(g): percent(row.accuracy[g]) for g in controls.groups if g != MEAN}
        head = {"Depth": control_title(name, controls), "Accuracy (%)": percent(row.accuracy[MEAN])}
        rows.shown.append({**head, "Own depth minus this": points(gain), **texts})
        for group, cell in row.accuracy.items():
            minus = bare_columns(row.adaptive_minus.get(group), "adaptive_minus")
            rows.numbers.append({"control": name, "group": group, **columns(cell), **minus})
    for name in ("spearman", "spearman_within"):
        rho = columns(getattr(controls, name), "correlation", scale=1)
        rows.numbers.append({"control": name, "group": MEAN, **rho})
    return Table(
        "controls",
        f"Is the depth per image? {method_title(controls.sweep.adaptive)}, "
        f"severity {pooled.severity}",
        _controls_caption(controls),
        *rows.frames,
        pooled.commands(control_methods(pooled)),
    )


def control_methods(pooled: PooledRuns) -> list[str]:
    """The methods whose lines the controls rest on."""
    base = pooled.controls.sweep.adaptive
    return [SOURCE, base, *fixed_depths(pooled.lines, base).values()]


def _controls_caption(controls: DepthControls) -> str:
    sweep = controls.sweep
    names = [name for name in sweep.corruptions if name != CLEAN]
    return (
        f"Mean of {len(names)} corruptions on {len(sweep.photographs)} photographs, every image "
        f"at depths {', '.join(map(str, sweep.depths))}, with 95 % intervals. The depth is per "
        "image if adaptive is ahead of t* permuted. The best single depth was chosen on these "
        "images. Spearman correlation of t* with an image's best depth (the shallowest at which "
        f"it is right; {controls.informative} images that are right at some depths only): "
        f"{correlation(controls.spearman)} in all, "
        f"{correlation(controls.spearman_within)} within a corruption."
    )
