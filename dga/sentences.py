"""Sentences on one run, for people, made from its facts alone, for every way it can end.

A sentence comes with its verdict against the true class: ``right``, ``wrong``, or empty where the
true class is not known. A verdict is the last word before the sentence's full stop.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dga.stopping import Stop

Sentence = tuple[str, str]
"""A sentence, and its verdict."""


def per_mille(share: float) -> int:
    """0.914 as 914, a half upwards."""
    return int(1000 * share + 0.5)


def percent(share: float) -> str:
    """0.914 as ``91 %``; never 100 % unless it is."""
    thousandths = per_mille(share)
    return f"{100 if thousandths == 1000 else min((thousandths + 5) // 10, 99)} %"


@dataclass(frozen=True)
class Reading:
    """What the classifier takes a picture for, and with which probability, in [0, 1].

    ``share``: None if it is not to be shown.
    """

    label: str
    share: float | None

    def __str__(self) -> str:
        return self.label if self.share is None else f"{self.label} ({percent(self.share)})"


@dataclass(frozen=True)
class Story:
    """The facts that do not depend on depth.

    ``before``: of the damaged picture; ``truth``: the true class, None if unknown; ``horizon``:
    the depth by which a picture is given up, None if none is.
    """

    before: Reading
    truth: str | None = None
    horizon: int | None = None

    def verdict(self, reading: Reading) -> str:
        """``right``, ``wrong`` or, if the true class is not known, nothing."""
        if self.truth is None:
            return ""
        return "right" if reading.label == self.truth else "wrong"

    def own_depth(self, stop: Stop, after: Reading, guided: bool = True) -> Sentence:
        """A method whose depth the discriminator chooses."""
        if stop.gave_up:
            return self._left_alone(
                f"Even at depth {self.horizon} the detector is too sure of damage, so the picture "
                f"is left alone, read as {self.before}"
            )
        if not stop.t_star:
            return self._left_alone(
                "The detector is not sure enough that it is damaged, so it is left as it is, "
                f"read as {self.before}"
            )
        rebuilt = "rebuilt" if guided else "rebuilt without guidance"
        if stop.crossed:
            return self._before_and_after(
                f"Noised to depth {stop.t_star} and {rebuilt}, it is", after
            )
        return self._before_and_after(
            f"The detector was too sure of damage up to depth {stop.t_star}, the deepest allowed. "
            f"{rebuilt.capitalize()} from there, it is",
            after,
        )

    def fixed_depth(self, depth: int, after: Reading) -> Sentence:
        """DDA, as the method that is looked at."""
        return self._before_and_after(
            f"Noised to the fixed depth {depth} and rebuilt, it is", after
        )

    def by_hand(self, depth: int, after: Reading) -> Sentence:
        """A method from a depth that somebody chose instead of the discriminator."""
        if not depth:
            return self._left_alone(f"Without any noise it stays as it is, read as {self.before}")
        return self._with_verdict(
            f"Noised to depth {depth} by hand and rebuilt, it is read as {after}", after
        )

    def plus(self, found: str, stop: Stop, unchanged: bool, flat: bool, after: Reading) -> Sentence:
        """DGA+. ``found``: what it found and did, in a sentence."""
        if flat:
            text = "One colour or a drawing cannot be diagnosed: left alone"
        elif unchanged and stop.gave_up:
            text = "Diagnosed: nothing simple to undo, and no depth hides the damage: left alone"
        elif unchanged:
            text = "Diagnosed as undamaged and left as it is"
        else:
            return self._before_and_after(f"Diagnosis: {found[0].lower()}{found[1:]} It is", after)
        return self._left_alone(f"{text}, read as {self.before}")

    def plus_from(self, depth: int, after: Reading) -> Sentence:
        """DGA+'s one step from a depth that it did not choose."""
        if not depth:
            return self._with_verdict(f"Diagnosed, before any noise, it is read as {after}", after)
        return self._with_verdict(
            f"Diagnosed and rebuilt from depth {depth}, it would be read as {after}", after
        )

    def shown(self, name: str, stop: Stop, after: Reading, unchanged: bool = False) -> Sentence:
        """Without figures, for a projector. ``name``: the method's, as in ``dga.titles``."""
        if name == "dga-plus":
            start = "Diagnosed and left as it is" if unchanged else "Diagnosed and repaired"
        elif name == "dda":
            start = "Noised to the fixed depth and rebuilt"
        elif not stop.t_star:
            start = "Left alone" if stop.gave_up else "Left as it is"
        else:
            start = f"Noised {'just enough' if stop.crossed else 'as far as allowed'} and rebuilt"
        return self._with_verdict(f"{start}, it is read as {after.label}", after)

    def _before_and_after(self, start: str, after: Reading) -> Sentence:
        """Before, what was done, and after."""
        before = f"It was read as {self.before}."
        if self.truth is None:
            still = "still " if after.label == self.before.label else ""
            return f"{before} {start} {still}read as {after}.", ""
        was, verdict = self.verdict(self.before), self.verdict(after)
        how = {("right", "wrong"): "now ", ("wrong", "right"): ""}.get((was, verdict), "still ")
        return f"{before} {start} read as {after}: {how}{verdict}.", verdict

    def _left_alone(self, text: str) -> Sentence:
        return self._with_verdict(text, self.before)

    def _with_verdict(self, text: str, reading: Reading) -> Sentence:
        verdict = self.verdict(reading)
        return f"{text}{f': {verdict}' if verdict else ''}.", verdict


def title(stop: Stop) -> str:
    """Of the picture that is rebuilt; no claim that noise has hidden the damage."""
    if stop.t_star:
        return f"Noised to depth {stop.t_star}"
    return "Left alone" if stop.gave_up else "Left as it is"


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 0.05 else "under 0.1 s"


def spent_on_inverse(seconds: float) -> str:
    """Of DGA+, where undoing the damage was enough."""
    return f"Finding and undoing the damage took {_time(seconds)}; no noise was needed."


def spent(steps: int, seconds: float, choosing: float | None = None, plus: bool = False) -> str:
    """Seconds of choosing and rebuilding. ``steps``: 0 for a picture that is left alone.

    ``choosing``: None where nothing is chosen.
    """
    if choosing is None:
        return f"No depth to choose: rebuilding took {_time(seconds)}."
    what = "Finding the damage and the depth" if plus else "Choosing the depth"
    if not steps:
        return f"{what} took {_time(choosing)}; nothing was rebuilt."
    return f"{what} took {_time(choosing)}, rebuilding {_time(seconds)}."


def pill(stop: Stop, horizon: int | None, alone: Sequence[int | None] = ()) -> tuple[str, str, str]:
    """What stands at t*, beside it, and :func:`spread`, of where each noise path crosses alone."""
    if stop.gave_up:
        text, beside = f"too sure at {horizon}: left alone", ""
    elif not stop.crossed:
        text, beside = f"{stop.t_star}, the deepest allowed", "still above τ"
    elif not stop.t_star:
        text, beside = "t* = 0: left as it is", "below τ from the start"
    else:
        text, beside = f"t* = {stop.t_star}", "first below τ here"
    return text, beside, spread(alone)


def spread(alone: Sequence[int | None]) -> str:
    """At which depths single noise paths fall below τ; nothing for only one."""
    depths = [depth for depth in alone if depth is not None]
    if len(alone) < 2:
        return ""
    if not depths:
        return f"None of {len(alone)} tries alone falls below τ."
    low, high = min(depths), max(depths)
    known = f"{low}–{high}" if low < high else str(low)  # noqa: RUF001  # a dash
    return f"{len(depths)} of {len(alone)} tries alone fall below τ, at depth {known}."
