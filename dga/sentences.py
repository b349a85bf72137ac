"""Sentences on what DGA+ did, for commands and programs.

The page has sentences of its own (``app/runs/sentences.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dga.pipeline import ForwardResult

NOTHING, TRACES = "none", "traces that no measurement explains"
"""Names of the damage in a picture that comes back unchanged, and of damage no measurement saw."""
_UNDONE = " undone, and the rest"
_MENDED = "mended by a network that has seen many kinds of damage, so that details may be invented"


def name_damage(measured: str, is_unchanged: bool) -> str:
    """The damage as sentences and records name it. ``measured``: the degradation as text.

    Damage that was measured but not undone is not named, so that they agree with the picture.
    """
    if is_unchanged:
        return NOTHING
    return TRACES if measured == NOTHING else measured


def describe_file(facts: Mapping[str, Any]) -> str:
    """What was done to a picture file, and what of it was lost. ``facts``: its record."""
    lost = f" Not kept: {', '.join(facts['lost'])}." if facts["lost"] else ""
    if "frames" not in facts:
        return f"{describe_photograph(facts)}{lost}"
    frames = facts["frames"]
    repaired = sum(not frame["unchanged"] for frame in frames)
    found = dict.fromkeys(frame["found"] for frame in frames if not frame["unchanged"])
    what = f" Found: {'; '.join(found)}." if found else ""
    invented = f" Some frames were {_MENDED}." if any(f["mended"] for f in frames) else ""
    return (
        f"Of {len(frames)} frames {repaired} were repaired, {len(frames) - repaired} left as they "
        f"are.{what}{invented} It took {facts['seconds']:.1f} s.{lost}"
    )


def describe_photograph(facts: Mapping[str, Any]) -> str:
    """The damage of a photograph and what was done about it. ``facts``: its record."""
    if facts["unchanged"]:
        return "Found nothing that it can undo; it is left as it is."
    depths, found = facts["depths"], f"Found: {facts['found']}"
    if facts["mended"]:
        undone = _UNDONE if facts["undone"] else ""
        return f"{found};{undone} {_MENDED}. It took {facts['seconds']:.1f} s."
    if not depths["largest"]:
        return f"{found}; it is undone. It took {facts['seconds']:.1f} s."
    start = f"depth {depths['largest']}"
    if depths["least"] != depths["largest"]:
        start = (
            f"depths {depths['least']} to {depths['largest']}, above 0 in {depths['share']:.0%} of "
            "the places"
        )
    return f"{found}. Rebuilt from {start}; {facts['seconds']:.1f} s."


def describe_explanation(forward: ForwardResult, is_unchanged: bool) -> str:
    """What DGA+ measured in a picture and did about it, in one sentence.

    ``is_unchanged``: whether the picture came back as it came.
    """
    explanation, stop = forward.explanation, forward.stop
    if explanation.is_unjudgeable:
        return "One colour or a drawing: nothing can be told, so it is left alone."
    damage = name_damage(str(explanation.degradation), is_unchanged)
    if forward.is_mended and not is_unchanged:
        is_undone = explanation.degradation.has_measured_inverse
        return f"Damage: {damage};{_UNDONE * is_undone} {_MENDED}."
    if stop.t_star and not is_unchanged:
        steps = f"{forward.steps} step{'s' * (forward.steps != 1)}"
        ending = f"rebuilt from depth {stop.t_star} in {steps}"
    else:
        ending = "no depth hides the rest" if stop.has_given_up else "nothing is left to rebuild"
    if is_unchanged:
        ending += ", so it is left alone"
    return f"Damage: {damage}; {ending}."
