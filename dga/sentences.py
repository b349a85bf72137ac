"""Names of methods and corruptions, and the sentence on what DGA+ did, for commands and programs.

The page has sentences of its own (``app/runs/sentences.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dga.corruptions import CORRUPTIONS

if TYPE_CHECKING:
    from dga.pipeline import ForwardResult

# The systems of the paper's Table 1, in its order, and ours; of a pair the reader adapts.
SYSTEMS = {
    "source": "Nothing done",
    "tent": "Tent",
    "memo": "MEMO",
    "denoise": "Non-local means",
    "diffpure": "DiffPure",
    "dda": "DDA",
    "dga": "DGA",
    "dga-guided": "DGA + G",
    "dga-plus": "DGA+",
    "dga-plus+tent": "DGA+ and Tent",
}
# Streams of clean pictures and all severities mixed.
STREAMS = {
    "wild": "Mixed stream",
    "sorted": "Mixed stream sorted by label",
    "single": "Mixed stream one picture at a time",
}
# The two parts of the validation photographs.
SPLITS = {"report": "never used for tuning", "tune": "used for tuning"}


def format_title(corruption: str) -> str:
    """The title of a corruption or a family: ``Motion blur``, ``Weather``."""
    words = corruption.replace("_", " ").replace("jpeg", "JPEG")
    return words[0].upper() + words[1:]


def shorten_title(corruption: str) -> str:
    """A short title: one word, such as ``Gaussian``, for the fifteen corruptions."""
    words = format_title(corruption)
    return words.split()[0] if corruption in CORRUPTIONS else words


def describe_explanation(forward: ForwardResult) -> str:
    """What DGA+ measured in a picture and did about it, in one sentence."""
    explanation, stop = forward.explanation, forward.stop
    if explanation.is_unjudgeable:
        return "One colour or a drawing: nothing can be told, so it is left alone."
    if forward.is_mended:
        return (
            f"Damage: {explanation.degradation}; mended by a network that has seen many kinds of "
            "damage, so that details may be invented."
        )
    if stop.t_star:
        depths = [str(depth) for depth in dict.fromkeys(forward.starts) if depth]
        starts = f"depth{'s' * (len(depths) > 1)} {' and '.join(depths)}"
        ending = f"rebuilt from {starts} in {forward.steps} step{'s' * (forward.steps != 1)}"
    else:
        ending = "no depth hides the rest" if stop.has_given_up else "nothing is left to rebuild"
    if forward.is_unchanged:
        ending += ", so it is left alone"
    return f"Damage: {explanation.degradation}; {ending}."
