"""Names of methods and corruptions, and the sentences on a run, one for every way it can end.

Commands and programs show them; the page has sentences of its own (``app/runs/sentences.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dga.corruptions import CORRUPTIONS

if TYPE_CHECKING:
    from dga.explanation.degradation import Degradation
    from dga.pipeline import Stopped
    from dga.stopping import Stop

# The systems of the paper's Table 1, in its order, and ours; of a pair the reader adapts.
SYSTEMS = {
    "source": "Nothing done",
    "tent": "Tent",
    "memo": "MEMO",
    "denoise": "Denoiser",
    "diffpure": "DiffPure",
    "dda": "DDA",
    "dga": "DGA",
    "dga-guided": "DGA + G",
    "dga-plus": "DGA+",
    "dga-plus+tent": "DGA+ and Tent",
}
# Streams of clean pictures and all severities mixed.
STREAMS = {
    "wild": "Wild stream",
    "sorted": "Wild stream sorted by label",
    "single": "Wild stream one picture at a time",
}
# The two parts of the validation photographs.
SPLITS = {"report": "never used for tuning", "tune": "used for tuning"}


def title(corruption: str) -> str:
    """The title of a corruption or a family: ``Motion blur``, ``Weather``."""
    words = corruption.replace("_", " ").replace("jpeg", "JPEG")
    return words[0].upper() + words[1:]


def short(corruption: str) -> str:
    """A short title: one word, such as ``Gaussian``, for the fifteen corruptions."""
    words = title(corruption)
    return words.split()[0] if corruption in CORRUPTIONS else words


def percent(share: float, space: str = " ") -> str:
    """A share as text: 0.914 is ``91 %``; halves go up, but 0.995 to below 0.9995 is ``99 %``."""
    whole = int(100 * share + 0.5)
    return f"{99 if whole == 100 and share < 0.9995 else whole}{space}%"


@dataclass(frozen=True)
class Reading:
    """The likeliest label of a picture, and its probability, ``share`` in [0, 1]."""

    label: str
    share: float

    def __str__(self) -> str:
        return f"{self.label} ({percent(self.share)})"


def describe_chosen_depth(
    before: Reading, after: Reading, stop: Stop, horizon: int | None, is_guided: bool
) -> str:
    """Sentences on a method whose depth the discriminator chooses.

    ``before``: of the damaged picture; ``horizon``: the depth by which a picture is given up, None
    where none is given up.
    """
    if stop.gave_up:
        return (
            f"Even at depth {horizon} the detector is too sure of damage, so the picture is left "
            f"alone, read as {before}."
        )
    if not stop.t_star:
        return (
            "The detector is not sure enough that it is damaged, so it is left as it is, "
            f"read as {before}."
        )
    rebuilt = "rebuilt" if is_guided else "rebuilt without guidance"
    if stop.crossed:
        return _compare(before, f"Noised to depth {stop.t_star} and {rebuilt}, it is", after)
    return _compare(
        before,
        f"The detector was too sure of damage up to depth {stop.t_star}, the deepest allowed. "
        f"{rebuilt.capitalize()} from there, it is",
        after,
    )


def describe_fixed_depth(before: Reading, after: Reading, depth: int) -> str:
    """Sentences on DDA, or another method with a fixed depth."""
    return _compare(before, f"Noised to the fixed depth {depth} and rebuilt, it is", after)


def describe_plus(
    before: Reading, after: Reading, finding: str, stop: Stop, is_unchanged: bool, is_flat: bool
) -> str:
    """Sentences on DGA+. ``finding``: what :func:`describe_explanation` returns."""
    if is_flat:
        text = "One colour or a drawing cannot be diagnosed: left alone"
    elif is_unchanged and stop.gave_up:
        text = "Diagnosed: nothing simple to undo, and no depth hides the damage: left alone"
    elif is_unchanged:
        text = "Diagnosed as undamaged and left as it is"
    else:
        return _compare(before, f"Diagnosis: {finding[0].lower()}{finding[1:]} It is", after)
    return f"{text}, read as {before}."


def describe_explanation(stopped: Stopped) -> str:
    """What DGA+ found in a picture and did about it, in one sentence or two."""
    explanation, stop = stopped.explanation, stopped.stop
    if explanation.is_flat:
        return "One colour or a drawing: nothing can be told, so it is left alone."
    if stop.t_star:
        depths = [str(depth) for depth in dict.fromkeys(stopped.starts) if depth]
        starts = f"depth{'s' * (len(depths) > 1)} {' and '.join(depths)}"
        ending = f"rebuilt from {starts} in {stopped.steps} step{'s' * (stopped.steps != 1)}"
    else:
        ending = "no depth hides the rest" if stop.gave_up else "nothing is left to rebuild"
    remedies = ", ".join(list_remedies(explanation.degradation))
    if remedies:
        link = ": " if explanation.degradation.noise else ", then " if stop.t_star else "; "
        text = remedies + link + ending
        if stopped.unchanged:
            text += ", so it is left alone"
    elif stop.t_star:
        text = f"nothing simple was found: {ending}"
    else:
        text = "left alone: nothing was found"
        if stop.gave_up:
            text += ", and no depth hides the damage"
    dropped = sum(scored.score is None for scored in explanation.scored)
    more = f" Candidates dropped because they gave no numbers: {dropped}." if dropped else ""
    return f"{text[0].upper()}{text[1:]}.{more}"


def list_remedies(degradation: Degradation) -> list[str]:
    """What is done about some damage, in the order of the inverse; noise comes last."""
    exposure = degradation.exposure
    remedies: list[str] = []
    if degradation.impulses is not None:
        remedies.append("impulses removed")
    if exposure.gain != 1:
        remedies.append(f"exposure changed (x{exposure.gain:.2g})")
    elif any(exposure.offset):
        remedies.append("brightness moved")
    if degradation.blur:
        remedies.append(f"sharpened by {degradation.blur:g} px")
    if degradation.operator:
        remedies.append(f"undone: {degradation.operator}")
    if degradation.veil:
        remedies.append(f"light taken off ({degradation.veil})")
    if degradation.noise:
        remedies.append(f"noise of level {degradation.noise:.2f} found")
    return remedies


def _compare(before: Reading, start: str, after: Reading) -> str:
    """Two sentences: the reading before, and what was done with the reading after."""
    still = "still " if after.label == before.label else ""
    return f"It was read as {before}. {start} {still}read as {after}."
