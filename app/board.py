"""What is known of one run so far, ready to be shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from app.session import Settings, Subject
from app.text import (
    CARD_NOTES,
    CORRUPTION_PHRASES,
    INPUT_TITLE,
    LEFT_NOTE,
    NEVER_CROSSED_NOTE,
    UNTOUCHED_NOTE,
)
from dga.classifier import Prediction
from dga.images import Pixels
from dga.pipeline import Adaptation, Denoised, Event, Halted, Judged, Reconstruction
from dga.profiles import Profile
from dga.stopping import Stop, confidence_from_logits

Phase = Literal["empty", "forward", "reverse", "done", "cancelled", "error"]
CARDS = ("input", "x_t_star", "dga", "dga-guided", "dda")


@dataclass
class Card:
    """One result: ``image`` is uint8 ``[S, S, 3]``, a preview until ``prediction`` is there."""

    name: str
    detail: str = ""
    title: str = ""
    image: Pixels | None = None
    prediction: Prediction | None = None
    agrees: bool | None = None
    note: str = ""
    interrupted: bool = False


def blank_timeline(profile: Profile) -> dict[str, Any]:
    """The timeline's value before any run."""
    stopping = profile.stopping
    return {
        "phase": "empty",
        "steps": profile.schedule.steps,
        "max_depth": stopping.max_depth,
        "horizon": stopping.horizon,
        "run": stopping.run,
        "tau": stopping.tau,
        "curve": [],
        "progress": None,
        "error": "",
    }


class Board:
    """One run: events go in, the timeline's value and five cards come out."""

    def __init__(self, profile: Profile, settings: Settings, subject: Subject) -> None:
        self.profile = profile
        self.settings = settings
        self.subject = subject
        self.phase: Phase = "forward"
        self.curve: list[float] = []
        self.stop: Stop | None = None
        self.error = ""
        self.progress = (0, profile.schedule.steps, "Forward")
        self.cards = {name: Card(name) for name in CARDS}
        self._finish("input", self._damage(), subject.input, subject.input_prediction)

    def take(self, event: Event) -> list[str]:
        """Note one event; return the names of the cards it changed."""
        if self.phase in ("cancelled", "error"):
            return []
        if isinstance(event, Judged):
            self.curve += [float(value) for value in event.confidence]
            self.progress = (len(self.curve) - 1, self.profile.schedule.steps, "Forward")
            return []
        if isinstance(event, Halted):
            return self._halted(event)
        if isinstance(event, Denoised):
            return self._denoised(event)
        if isinstance(event, Reconstruction):
            return self._rebuilt(event)
        self._done(event)
        return []

    def _halted(self, event: Halted) -> list[str]:
        self.phase, self.stop = "reverse", event.stop
        self.curve = confidence_from_logits(event.logits).mean(0).tolist()
        detail = f"{_steps(event.stop.t_star)} forward · {event.seconds:.1f} s"
        note = CARD_NOTES["x_t_star"] if event.stop.t_star else UNTOUCHED_NOTE
        self._finish("x_t_star", detail, event.x_t_star, event.prediction, note)
        return ["x_t_star"]

    def _denoised(self, event: Denoised) -> list[str]:
        self.progress = (event.step, event.steps, event.route.title)
        card = self.cards[event.route.name]
        card.image = event.x
        card.detail = f"step {event.step} of {event.steps}"
        return [card.name]

    def _rebuilt(self, event: Reconstruction) -> list[str]:
        name, depth = event.route.name, event.depth
        detail = f"{depth} + {_steps(depth)} · {event.seconds:.1f} s" if depth else _steps(0)
        self._finish(name, detail, event.image, event.prediction, self._note(name))
        return [name]

    def _done(self, event: Adaptation) -> None:
        self.phase = "done"

    def _note(self, name: str) -> str:
        if name == "dda" or self.stop is None:
            return CARD_NOTES[name]
        if self.stop.hopeless:
            return LEFT_NOTE
        if not self.stop.crossed:
            return NEVER_CROSSED_NOTE.format(depth=self.stop.t_star)
        return CARD_NOTES[name] if self.stop.t_star else UNTOUCHED_NOTE

    def _finish(
        self, name: str, detail: str, image: Pixels, prediction: Prediction, note: str = ""
    ) -> None:
        clean = self.subject.clean_prediction
        agrees = None if clean is None else prediction.label == clean.label
        note = note or CARD_NOTES[name]
        as_it_came = name == "input" and self.settings.corruption is None
        title = INPUT_TITLE if as_it_came else ""
        self.cards[name] = Card(name, detail, title, image, prediction, agrees, note)

    def _damage(self) -> str:
        if self.settings.corruption is None:
            return "as it came"
        name = self.settings.corruption
        phrase = CORRUPTION_PHRASES.get(name, name)
        return f"{phrase[0].upper()}{phrase[1:]}, severity {self.settings.severity}"

    def cancel(self) -> None:
        """Keep what exists; say where the run stopped."""
        self.phase = "cancelled"
        done, total, name = self.progress
        where = "" if name == "Forward" else f"{name}, "
        kind = "forward" if name == "Forward" else "reverse"
        self.error = f"Cancelled at {where}{kind} step {done} of {total}."
        for card in self.cards.values():
            card.interrupted = card.prediction is None

    def fail(self, sentence: str) -> None:
        """Keep what exists, with a sentence above it."""
        self.phase, self.error = "error", sentence
        for card in self.cards.values():
            card.interrupted = card.prediction is None

    @property
    def running(self) -> bool:
        """Whether events are still expected."""
        return self.phase in ("forward", "reverse")

    def timeline(self) -> dict[str, Any]:
        """The timeline's value: only numbers and words, ready for JSON."""
        done, total, name = self.progress
        after = self.cards["dga-guided"].prediction
        value = blank_timeline(self.profile) | {
            "phase": self.phase,
            "tau": self.settings.tau,
            "curve": self.curve,
            "dda_depth": self.settings.dda_depth,
            "before": self.subject.input_prediction.top(1)[0],
            "after": after.top(1)[0] if after else None,
            "progress": {"done": done, "total": total, "name": name} if self.running else None,
            "error": self.error,
        }
        if self.stop is not None:
            value |= {"t_star": self.stop.t_star, "crossed": self.stop.crossed}
        return value


def _steps(count: int) -> str:
    return f"{count} step" if count == 1 else f"{count} steps"
