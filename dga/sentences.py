"""Sentences about what DGA+ did, for commands and programs.

The page has sentences of its own (``app/runs/sentences.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dga.pipeline import Start

NOTHING = "none"
"""The name of the damage in a picture that comes back unchanged."""
TRACES = "traces that no measurement explains"
"""The name of damage that no measurement found."""
_UNDONE = " undone, and the rest"
_MENDED = "mended by a network that has seen many kinds of damage, so that details may be invented"


def name_damage(measured: str, is_unchanged: bool) -> str:
    """Name the damage of a picture for sentences and records.

    ``measured``: the degradation as text. Damage that was measured but not undone is not named, so
    that the name agrees with the picture.
    """
    if is_unchanged:
        return NOTHING
    return TRACES if measured == NOTHING else measured


def describe_file(record: Mapping[str, Any]) -> str:
    """Say what was done to a picture file, and what of it was lost.

    ``record``: of the file, as ``repair --json`` prints it.
    """
    lost = f" Not kept: {', '.join(record['lost'])}." if record["lost"] else ""
    if "frames" not in record:
        return f"{describe_photograph(record)}{lost}"
    frames = record["frames"]
    repaired = sum(not frame["unchanged"] for frame in frames)
    found = dict.fromkeys(frame["found"] for frame in frames if not frame["unchanged"])
    damage = f" Found: {'; '.join(found)}." if found else ""
    is_mended = any(frame["mended"] for frame in frames)
    invented = f" Some frames were {_MENDED}." if is_mended else ""
    return (
        f"Of {len(frames)} frames {repaired} were repaired, {len(frames) - repaired} left as they "
        f"are.{damage}{invented} It took {record['seconds']:.1f} s.{lost}"
    )


def describe_photograph(record: Mapping[str, Any]) -> str:
    """Say what damage a photograph has and what was done about it.

    ``record``: of a file with one frame, as ``repair --json`` prints it.
    """
    if record["unchanged"]:
        return "Found nothing that it can undo; it is left as it is."
    depths, found = record["depths"], f"Found: {record['found']}"
    if record["mended"]:
        undone = _UNDONE if record["undone"] else ""
        return f"{found};{undone} {_MENDED}. It took {record['seconds']:.1f} s."
    if not depths["largest"]:
        return f"{found}; it is undone. It took {record['seconds']:.1f} s."
    start = f"depth {depths['largest']}"
    if depths["least"] != depths["largest"]:
        start = (
            f"depths {depths['least']} to {depths['largest']}, above 0 in {depths['share']:.0%} of "
            "the places"
        )
    return f"{found}. Rebuilt from {start}; {record['seconds']:.1f} s."


def describe_explanation(start: Start, is_unchanged: bool) -> str:
    """Say in one sentence what DGA+ measured in a picture and did about it.

    ``is_unchanged``: whether the result is the picture as it came.
    """
    explanation, stop = start.explanation, start.stop
    if explanation.is_unjudgeable:
        return "One colour or a drawing: nothing can be told, so it is left alone."
    damage = name_damage(str(explanation.degradation), is_unchanged)
    if start.is_mended and not is_unchanged:
        undone = _UNDONE if explanation.degradation.has_measured_inverse else ""
        return f"Damage: {damage};{undone} {_MENDED}."
    if stop.t_star and not is_unchanged:
        steps = f"{start.steps} step{'s' * (start.steps != 1)}"
        ending = f"rebuilt from depth {stop.t_star} in {steps}"
    else:
        ending = "no depth hides the rest" if stop.has_given_up else "nothing is left to rebuild"
    if is_unchanged:
        ending += ", so it is left alone"
    return f"Damage: {damage}; {ending}."
