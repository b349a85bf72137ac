"""One file with all comparisons of an evaluation, which the app's page Results reads.

An exhibit is a list of plain rows with its title, its caption and the commands that made it. A
row holds one method against another on the photographs that both have: accuracies in percent,
their difference in points, and how many pictures that is.
"""

import json
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dga.corruptions import CLEAN, CORRUPTIONS, EXTRA_CORRUPTIONS, FAMILIES
from dga.io.files import write_json
from dga.lab.analysis.comparisons import compare_methods
from dga.lab.analysis.names import GROUPS, MEAN, PLUS, SOURCE, STREAM_GROUPS, STREAMS, MethodName
from dga.lab.analysis.pooled_runs import PooledRuns, pool_agreeing, pool_runs
from dga.lab.analysis.saved_runs import Run, SavedRuns

INTERVALS = "Brackets: 95 % intervals, paired bootstrap over photographs."
Content = dict[str, Any]
"""What is written as JSON, by name."""


def make_report(runs: Sequence[Run]) -> Content:
    """All exhibits that evaluations allow, and a sentence on each run that was left out."""
    pools, left_out = _pool_by_condition(runs)
    severities = [pooled for pooled in pools if not pooled.first.stream]
    usual = [pooled for pooled in severities if not _name_condition(pooled.first)]
    undamaged, not_pooled = _pool_undamaged(usual)
    exhibits = [
        *map(_make_damage_exhibit, usual),
        *map(_make_undamaged_exhibit, undamaged),
        *(_make_stream_exhibit(pooled) for pooled in pools if pooled.first.stream),
        *(_make_damage_exhibit(pooled) for pooled in severities if pooled not in usual),
    ]
    conditions = pools[0].first.config if pools else {}
    return {
        "profile": conditions.get("profile"),
        "split": conditions.get("split"),
        "exhibits": [exhibit for exhibit in exhibits if exhibit["rows"]],
        "left_out": [*left_out, *not_pooled],
    }


def write_report(saved: SavedRuns, path: Path, has_readings: bool = False) -> Content:
    """Write the file, and return its content. The same runs give the same bytes.

    ``has_readings``: whether every single reading is written, too, as ``NAME-readings.json`` beside
    it.
    """
    report = make_report(saved.evaluations)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, report)
    if has_readings:
        pools, _ = _pool_by_condition(saved.evaluations)
        readings = {_name_pool(p): list_readings(p) for p in pools if not p.first.stream}
        text = json.dumps(readings, ensure_ascii=False, separators=(",", ":"))
        path.with_name(f"{path.stem}-readings.json").write_text(text + "\n", "utf-8")
    return report


def _pool_by_condition(runs: Sequence[Run]) -> tuple[list[PooledRuns], list[str]]:
    """Runs pooled: ImageNet-C's kinds unsaved, then those saved as JPEG, then everyday."""
    parts: dict[str, list[Run]] = {"": []}
    for run in sorted(runs, key=_name_condition, reverse=True):
        parts.setdefault(_name_condition(run), []).append(run)
    pooled = [pool_runs(part) for part in parts.values()]
    return [one for pools, _ in pooled for one in pools], [why for _, out in pooled for why in out]


def _name_condition(run: Run) -> str:
    """``saved-85-``, ``everyday-``, or nothing for ImageNet-C's kinds unsaved."""
    names, saved = {*run.lines["corruption"]} - {CLEAN}, run.config.get("saved")
    is_everyday = names and not run.stream and not names & {*CORRUPTIONS, *EXTRA_CORRUPTIONS}
    return (f"saved-{saved}-" if saved else "") + ("everyday-" if is_everyday else "")


def _name_pool(pooled: PooledRuns) -> str:
    """The key of pooled runs, such as ``saved-85-severity-5``."""
    return f"{_name_condition(pooled.first)}severity-{pooled.first.severity}"


def list_readings(pooled: PooledRuns) -> Content:
    """Every reading of the methods that are compared.

    - ``pictures``: the path and the true class of each.
    - ``labels``: all classes that were read.
    - ``readings``: by kind of damage and by method, a list for each picture in turn: the place of
      what was read in ``labels``, its probability in percent, and 1 where it is right, else 0. None
      where the picture was not read.
    """
    lines = pooled.lines[pooled.lines["method"].isin(pooled.methods_to_compare)]
    labels = sorted(lines["prediction"].unique())
    places = {label: place for place, label in enumerate(labels)}
    pictures = lines.drop_duplicates("path").sort_values("path")[["path", "class"]]
    readings: dict[str, dict[str, list[Any]]] = {}
    for (kind, method), part in lines.groupby(["corruption", "method"]):
        by_path = {
            line.path: [places[line.prediction], round(100 * line.probability), int(line.correct)]
            for line in part.itertuples()
        }
        readings.setdefault(kind, {})[method] = [by_path.get(path) for path in pictures["path"]]
    return {"pictures": pictures.to_numpy().tolist(), "labels": labels, "readings": readings}


def hide_paths(commands: Iterable[str]) -> list[str]:
    """Each command once, as anybody would type it: without the folders of whoever ran it.

    Pictures are called PICTURES, results lie in ``runs``; of any other path the last part stays.
    """
    return list(dict.fromkeys(map(_hide_paths, commands)))


def _hide_paths(command: str) -> str:
    words = [re.sub(r"[^=]*/(?=.)", "", word) for word in shlex.split(command)]
    for i, option in enumerate(words[:-1]):
        if option == "--data":
            words[i + 1] = "PICTURES"
        elif option == "--out":
            words[i + 1] = f"runs/{words[i + 1]}"
    return shlex.join(words)


def _make_damage_exhibit(pooled: PooledRuns) -> Content:
    damaged = replace(pooled, lines=pooled.lines[pooled.lines["corruption"] != CLEAN])
    key, saved = _name_pool(pooled), pooled.first.config.get("saved")
    groups = [group for group in GROUPS if group != CLEAN]
    title = f"By kind of damage, severity {pooled.first.severity}"
    if "everyday" in key:
        title = f"Everyday damage, strength {pooled.first.severity}"
        groups = [MEAN, *sorted(damaged.lines["corruption"].unique())]
    title = f"{title}, saved as JPEG {saved}" if saved else title
    caption = (
        "How many of 100 damaged photographs are read right, without and with "
        "repair, on photographs that have every kind of damage."
    )
    return _make_exhibit(damaged, key, title, caption, groups)


def _pool_undamaged(severities: Iterable[PooledRuns]) -> tuple[list[PooledRuns], list[str]]:
    """Undamaged photographs of all severities as one pool, without runs that disagree with others.

    Also returns a sentence on each of these.
    """
    runs = [run for p in severities for run in p.runs if CLEAN in set(run.lines["corruption"])]
    pools, left_out = pool_agreeing(dict.fromkeys(runs))
    undamaged = [replace(p, lines=p.lines[p.lines["corruption"] == CLEAN]) for p in pools]
    return undamaged, [f"undamaged photographs of {sentence}" for sentence in left_out]


def _make_undamaged_exhibit(pooled: PooledRuns) -> Content:
    caption = (
        "What repair does to photographs that nothing is wrong with. Bit for bit: "
        "the classifier gets the very picture that came."
    )
    return _make_exhibit(pooled, "undamaged", "Undamaged photographs", caption, [CLEAN])


def _make_stream_exhibit(pooled: PooledRuns) -> Content:
    title = f"{STREAMS[pooled.first.stream]}: every damage and strength mixed"
    caption = (
        "How many of 100 photographs are read right on one stream of undamaged and "
        "damaged ones, each photograph once, the same for every method."
    )
    return _make_exhibit(pooled, pooled.first.stream, title, caption, STREAM_GROUPS)


def _make_exhibit(
    pooled: PooledRuns, key: str, title: str, caption: str, groups: Sequence[str]
) -> Content:
    """Each method against nothing done; without single kinds ours against each other.

    So are DGA+ against itself with other settings, and a method against its permuted control.
    """
    fewer = [group for group in groups if group in (MEAN, *FAMILIES, *STREAM_GROUPS, CLEAN)]
    names = [name for name in pooled.methods_to_compare if name != SOURCE]
    pairs = dict.fromkeys((PLUS, name) for name in names if name != PLUS)
    for other in map(MethodName.parse, pooled.methods):
        if other.is_permuted:
            pairs[other.without_permutation, other.name] = None
        elif other.is_plus_changed:
            pairs[PLUS, other.name] = None
    asked = [*((name, SOURCE, groups) for name in names), *((*pair, fewer) for pair in pairs)]
    is_mixed = bool(pooled.first.stream)
    return {
        "key": key,
        "title": title,
        "caption": f"{caption} {INTERVALS}",
        "commands": hide_paths(run.command for run in pooled.runs if run.command),
        "rows": [row for one in asked for row in compare_methods(pooled.lines, *one, is_mixed)],
    }
