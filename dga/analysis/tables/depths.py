"""Tables of depths: where pictures halt, under which rule, and whether it is per image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from dga.analysis.controls import Control, Controls, control
from dga.analysis.discrimination import stops
from dga.analysis.names import GROUPS, MEAN, group_title, method_title
from dga.analysis.pooled import PooledRuns
from dga.analysis.results import JudgeRun, MissingRun
from dga.analysis.sweep import SOURCE, fixed_depths, read_sweep
from dga.analysis.tables.table import (
    DASH,
    NOTHING,
    Cells,
    Table,
    bare_columns,
    columns,
    correlation,
    percent,
    points,
)
from dga.corruptions import CLEAN, CORRUPTIONS, FAMILIES
from dga.profiles import PROFILES, StoppingConfig

# Both of a pair halt at the same depths: guidance comes after t*.
RULES = {
    "threshold": ("dga-guided", "dga"),
    "quantile": ("dga-guided-quantile", "dga-quantile"),
}
TITLES = {
    "measured": "Adaptive, as run",
    "adaptive": "Adaptive, nearest swept depth",
    "permuted": "t* permuted within a corruption",
    "median": "Median t* of the corruption",
    "global": "Best single depth",
    "oracle": "Best depth of each image (oracle)",
}


def halted(pooled: PooledRuns, rule: str) -> tuple[str, pd.DataFrame]:
    """An adaptive method under this rule and its lines. Raises :class:`MissingRun`."""
    for name in RULES[rule]:
        if name in pooled.methods:
            return name, pooled.lines[pooled.lines["method"] == name]
    raise MissingRun(f"no run of {' or '.join(RULES[rule])}")


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


def _facts_by_group(rows: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Groups of which every corruption is there: single ones first, then averages."""
    present = set(rows["corruption"])
    order = [*CORRUPTIONS, *FAMILIES, MEAN, CLEAN]
    whole = [group for group in order if set(GROUPS[group]) <= present]
    return {g: depth_facts(rows[rows["corruption"].isin(GROUPS[g])]) for g in whole}


def _shown(group: str, facts: dict[str, float]) -> Cells:
    return {
        "Corruption": group_title(group) if group != MEAN else "All 15",
        "Median t*": f"{facts['median']:g}",
        "Quartiles": f"{facts['lower_quartile']:g}{DASH}{facts['upper_quartile']:g}",
        "t* = 0 (%)": f"{100 * facts['share_at_0']:.0f}",
        "t* ≤ 4 (%)": f"{100 * facts['share_to_4']:.0f}",
        "Not crossed (%)": f"{100 * facts['share_not_crossed']:.0f}",
    }


def at_severities(
    severities: Sequence[PooledRuns],
) -> tuple[str, pd.DataFrame, tuple[str, ...]]:
    """An adaptive method, its lines under the fifteen corruptions, and the commands.

    Raises :class:`MissingRun` for fewer than two severities.
    """
    for method in ("dga-plus", *RULES["threshold"]):
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


def stopping_configs(judge: JudgeRun, pooled: PooledRuns | None) -> dict[str, StoppingConfig]:
    """Both rules: as the runs' methods had them, or else as the judge's profile has."""
    profile = PROFILES.get(str(judge.config.get("profile")))
    preset = profile.stopping if profile else StoppingConfig()
    return {
        "threshold": _as_run(pooled, "threshold") or replace(preset, rule="threshold"),
        "quantile": _as_run(pooled, "quantile") or replace(preset, rule="quantile"),
    }


def _as_run(pooled: PooledRuns | None, rule: str) -> StoppingConfig | None:
    found = (pooled.stopping(method) for method in RULES[rule]) if pooled else ()
    return next((config for config in found if config is not None), None)


def stopping_rules(judge: JudgeRun, pooled: PooledRuns | None) -> Table:
    """Where both rules would halt on the same judged curves."""
    if judge.source_bound is None:
        raise MissingRun(f"{judge.name} has no source_bound for the quantile rule")
    shown: dict[str, Cells] = {}
    numbers: list[Cells] = []
    configs = stopping_configs(judge, pooled)
    for rule, config in configs.items():
        rows = stops(judge, config).rename(columns={"t_star": "depth"})
        for group, facts in _facts_by_group(rows).items():
            texts = _shown(group, facts)
            name = texts.pop("Corruption")
            cells = shown.setdefault(group, {"Corruption": name})
            cells |= {f"{head}, {rule}": text for head, text in texts.items() if "≤" not in head}
            numbers.append({"group": group, "rule": rule, **facts})
    deepest = configs["threshold"].max_depth
    return Table(
        "stopping-rules",
        "Depth t* under both rules",
        f"Both rules on the same curves of {len(judge.paths)} pictures, to depth {deepest}: "
        f"threshold, first confidence below {configs['threshold'].tau:g}; quantile, first depth "
        "at which a picture is no more suspect than all but the most suspect clean ones.",
        pd.DataFrame(list(shown.values())),
        pd.DataFrame(numbers),
        (judge.command,),
    )


def pooled_controls(pooled: PooledRuns, base: str = "dga-guided") -> Controls:
    """The controls of the runs' sweep. Raises :class:`MissingRun` naming what it lacks."""
    return control(read_sweep(pooled.swept(base), base, base))


def control_title(name: str, controls: Controls) -> str:
    """In words; a fixed depth by its number."""
    title = TITLES.get(name, name.replace("=", " ").capitalize())
    return f"{title} ({controls.best_depth})" if name == "global" else title


def controls_table(pooled: PooledRuns, controls: Controls) -> Table:
    """Is the depth really per image? Accuracy of each control; adaptive minus it."""
    groups = [group for group in (MEAN, *FAMILIES) if group in controls.rows[0].accuracy]
    title = method_title(controls.sweep.adaptive)
    return Table(
        "controls",
        f"Is the depth per image? {title}, severity {pooled.severity}",
        _controls_caption(controls),
        pd.DataFrame([_control_row(row, controls, groups) for row in controls.rows]),
        pd.DataFrame(_control_numbers(controls)),
        pooled.commands(control_methods(pooled, controls)),
    )


def _control_numbers(controls: Controls) -> list[Cells]:
    rows = [
        {
            "control": row.name,
            "group": group,
            **columns(cell),
            **bare_columns(row.adaptive_minus.get(group), "adaptive_minus"),
        }
        for row in controls.rows
        for group, cell in row.accuracy.items()
    ]
    correlations = {
        "spearman": controls.spearman,
        "spearman_within": controls.spearman_within,
    }
    return rows + [
        {"control": name, "group": MEAN, **columns(rho, "correlation", scale=1)}
        for name, rho in correlations.items()
    ]


def control_methods(pooled: PooledRuns, controls: Controls) -> list[str]:
    """The methods whose lines the controls rest on."""
    base = controls.sweep.adaptive
    fixed = fixed_depths(pooled.lines, base).values()
    return [SOURCE, base, *fixed, *pooled.equivalents(base)]


def _control_row(row: Control, controls: Controls, groups: list[str]) -> Cells:
    difference = row.adaptive_minus.get(MEAN)
    texts = {group_title(g): percent(row.accuracy[g]) for g in groups if g != MEAN}
    return {
        "Depth": control_title(row.name, controls),
        "Accuracy (%)": percent(row.accuracy[MEAN]),
        "Own depth minus this": points(difference) if row.name != "adaptive" else NOTHING,
        **texts,
    }


def _controls_caption(controls: Controls) -> str:
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
