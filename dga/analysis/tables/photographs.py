"""Whole photographs: what methods and controls make of them, and own depths against each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dga.analysis.results import PhotographRun
from dga.analysis.statistics import Estimate, estimate
from dga.analysis.tables.accuracy import INTERVALS
from dga.analysis.tables.table import NOTHING, Rows, Table, columns, points
from dga.corruptions import FAMILIES
from dga.titles import SPLITS, title

OWN, DAMAGED = "own depths", "damaged"
UNEVEN = {
    "ramp": "Noise that grows",
    "strokes": "Noise in two strokes",
    "half defocus": "Half out of focus",
    "dark corner": "Dark corner",
}
COLOURLESS = {"grain": "Noise the same in all colours", "stored noise": "Noise stored as JPEG"}
IMPULSES = "impulse_noise"
NOISES = (*FAMILIES["noise"], "speckle_noise")
SEVERITIES = (3, 5)
OTHERS = ("ssim", "same_reading", "unchanged", "seconds")


def photograph_groups() -> dict[str, tuple[str, ...]]:
    """What a difference is averaged over, by name: kinds of damage."""
    groups: dict[str, tuple[str, ...]] = {name: (name,) for name in UNEVEN | COLOURLESS}
    for severity in SEVERITIES:
        noises = {name: f"{name} {severity}" for name in NOISES}
        groups[f"noises {severity}"] = tuple(noises.values())
        rest = tuple(damage for name, damage in noises.items() if name != IMPULSES)
        groups[f"without impulses {severity}"] = rest
        groups |= {damage: (damage,) for damage in noises.values()}
    return groups


def damage_title(name: str) -> str:
    """With a capital: Noise that grows, Gaussian noise 3, Four noises, severity 3."""
    kind, _, severity = name.rpartition(" ")
    if kind in ("noises", "without impulses"):
        number = "Four noises" if kind == "noises" else "Three of them, no impulses"
        return f"{number}, severity {severity}"
    if name == "none":
        return "Undamaged"
    return (UNEVEN | COLOURLESS).get(name) or f"{title(kind)} {severity}"


def method_words(name: str) -> str:
    """With a capital: Own depths, BM3D."""
    return name[0].upper() + name[1:]


class Measured:
    """PSNR of methods, from a run's lines; only what every photograph has counts."""

    def __init__(self, run: PhotographRun) -> None:
        table = run.lines.pivot(index=["method", "corruption"], columns="path", values="psnr")
        self._psnr = table.astype(np.float32)
        self.methods: tuple[str, ...] = tuple(dict.fromkeys(run.lines["method"]))

    def difference(self, rival: str, damages: tuple[str, ...]) -> Estimate | None:
        """Own depths minus a rival in dB, mean over kinds of damage; ``None`` if one lacks."""
        return _whole(self._values(OWN, damages) - self._values(rival, damages))

    def quality(self, method: str, damage: str) -> Estimate | None:
        """Mean PSNR in dB."""
        return _whole(self._values(method, (damage,)))

    def differences(self) -> Iterator[tuple[str, dict[str, Estimate]]]:
        """By group and rival, what was measured."""
        for group, damages in photograph_groups().items():
            found = {m: self.difference(m, damages) for m in self.methods if m != OWN}
            yield group, {rival: one for rival, one in found.items() if one}

    def _values(self, method: str, damages: tuple[str, ...]) -> np.ndarray:
        return self._psnr.reindex([(method, damage) for damage in damages]).to_numpy()


def _whole(values: np.ndarray) -> Estimate | None:
    return estimate(values) if np.isfinite(values).all() else None


def photographs_table(run: PhotographRun) -> Table:
    """Quality and similarity of every method under every damage."""
    measured, rows = Measured(run), Rows()
    others = run.lines.groupby(["corruption", "method"])[[*OTHERS]].mean().to_dict("index")
    for damage in dict.fromkeys(run.lines["corruption"]):
        shown = {"Damage": damage_title(damage)}
        for method in measured.methods:
            found = measured.quality(method, damage)
            shown[method_words(method)] = NOTHING
            if found:
                rest = {name: round(x, 3) for name, x in others[damage, method].items()}
                shown[method_words(method)] = f"{found.value:.1f} / {rest['ssim']:.2f}"
                numbers = {"damage": damage, "method": method, **columns(found, "psnr", 1)}
                rows.numbers.append(numbers | rest)
        rows.shown.append(shown)
    return Table(
        "photographs",
        f"Whole photographs, {_counted(run)}",
        "Mean PSNR in dB / SSIM against the undamaged photograph; 100 dB: bit for bit. Own depths: "
        "a depth at each place. Controls: one depth matched to the noise of the whole, depths "
        "exchanged between places, and the best single depth, which knows the truth. Rivals are "
        "told the noise level that we measured.",
        *rows.frames,
        (run.command,),
    )


def photographs_comparisons(run: PhotographRun) -> Table:
    """Own depths minus each control and rival."""
    rows, measured = Rows(), Measured(run)
    rivals = [name for name in measured.methods if name != OWN]
    for group, found in measured.differences():
        texts = {method_words(rival): points(found.get(rival), 1) for rival in rivals}
        rows.shown.append({"Damage": damage_title(group), **texts})
        rows.numbers += [
            {"group": group, "rival": rival, **columns(one, "db", 1)}
            for rival, one in found.items()
        ]
    return Table(
        "photographs-comparisons",
        f"A depth at each place against each rival, {_counted(run)}",
        f"Difference in PSNR in dB, with {INTERVALS}. Above 0, own depths are ahead; an interval "
        "that holds 0 decides nothing. The best single depth is chosen for each photograph by its "
        "PSNR, which nobody knows who has only the damaged one.",
        *rows.frames,
        (run.command,),
    )


def _counted(run: PhotographRun) -> str:
    split = SPLITS.get(run.config.get("split", ""), "")
    return f"{run.lines['path'].nunique()} photographs {split}".rstrip()
