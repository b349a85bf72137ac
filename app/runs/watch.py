"""One run as the page watches it: parts of one growing record, in the order of their making.

``original`` and ``damaged`` (picture, reading), ``middle`` (a large photo's), ``found``,
``repaired``; then what the other methods do, on the square that the classifier sees: ``fixed``
(DDA), ``film`` and ``curve`` (the noised picture and the discriminator's confidence by depth),
``stop``, ``paper`` and ``guided`` (DGA without and with guidance), ``depths`` and
``mended_depths`` (what is read where either denoiser begins at each). Every part is of JSON types;
a later one of the same name replaces it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from typing import Any

from torch import Tensor

from app.runs.pictures import SMALL, to_data_url
from app.runs.sentences import describe_damage, describe_finding, write_headline
from app.runs.settings import Settings
from app.runs.strokes import measure_touched
from app.runs.subject import StageKey, Subject, describe_reading, read_pictures, view_square
from dga.adaptation import Reconstruction, classify, judge_curve, rebuild_picture
from dga.images import Pixels, from_tensor, to_tensor
from dga.mending import WHOLE_SIDE, draw_from_depths
from dga.networks.models import Models
from dga.photograph import Progress, photograph_steps
from dga.pipeline import NO_EXPLANATION, ForwardProcess, RepairResult, Start, run
from dga.profiles import Profile, StoppingConfig
from dga.steps import map_steps
from dga.stopping import compute_confidence
from dga.systems import require_repair, systems

Part = dict[str, Any]
PICTURES, MIDDLE, REPAIR = "pictures", "middle", "repair"
"""Keys of the first stages."""
FILM = tuple(range(0, 49, 6))
"""Depths at which the noised picture is shown, and from which it is rebuilt."""


def compare_methods(models: Models, subject: Subject, settings: Settings) -> Generator[Part]:
    """What the paper's method and its rival make of the square that the classifier sees."""
    watcher = Watcher(models, subject, settings)
    rule = watcher.stopping
    yield from run_stage(subject, "fixed", watcher.repair_from_fixed_depth)
    yield from run_stage(subject, "film", watcher.show_film)
    yield from run_stage(subject, ("paper", rule), watcher.repair_by_discriminator)
    yield from run_stage(subject, "depths", watcher.read_depths)
    yield from run_stage(subject, "mended_depths", watcher.read_mended_depths)


def run_first_stages(models: Models, subject: Subject, is_repaired: bool = True) -> Generator[Part]:
    """Both pictures, and our repair."""
    yield from run_stage(subject, PICTURES, lambda: show_pictures(models, subject))
    if is_repaired:
        yield from run_stage(subject, MIDDLE, lambda: repair_middle(models, subject))
        yield from run_stage(subject, REPAIR, lambda: repair_photo(models, subject))


def run_stage(
    subject: Subject, key: StageKey, make: Callable[[], Iterable[Part]]
) -> Generator[Part]:
    """Parts that were made before at once; others as they are made."""
    if key in subject.stages:
        subject.stages[key] = subject.stages.pop(key)  # the latest
        yield subject.stages[key]
        return
    parts: Part = {}
    for part in make():
        parts |= part
        yield part
    subject.keep(key, parts)


def show_pictures(models: Models, subject: Subject) -> Generator[Part]:
    """Original and damaged photo with their readings, and the headline as far as it goes."""
    original, damaged = subject.original.pixels, subject.damaged
    readings = read_pictures(models, original, damaged)
    truth, label = find_truth(subject, readings[0]), subject.original.label
    height, width = original.shape[:2]
    part: Part = {
        "original": show(original, readings[0], label) | {"width": width, "height": height},
        "damaged": show(damaged, readings[1], label),
        "truth": truth,
        "is_damaged": subject.is_damaged,
    }
    if subject.settings.strokes:
        part["touched"] = measure_touched(subject.settings.strokes, height, width)
    yield part | {"headline": _headline(part, subject, None)}


def find_truth(subject: Subject, reading: dict[str, Any]) -> str | None:
    """The class that counts as right: the sample's own, or what the undamaged photo is read as."""
    if subject.original.label:
        return subject.original.label
    return reading["label"] if subject.is_damaged and reading["is_sure"] else None


def show(pixels: Pixels, reading: dict[str, Any], label: str | None) -> dict[str, Any]:
    """A picture with its reading, and whether that is right where somebody said what it shows."""
    is_right = None if label is None else reading["label"] == label
    return {"image": to_data_url(pixels), "reading": {**reading, "is_right": is_right}}


def repair_middle(models: Models, subject: Subject) -> Generator[Part]:
    """What is read of a large photo's middle, repaired by itself: it takes the least time."""
    if max(subject.damaged.shape) > WHOLE_SIDE:
        square = view_square(models.profile, subject.damaged)
        steps = photograph_steps(models, square, subject.settings.seed)
        result = yield from map_steps(steps, show_progress)
        (reading,) = read_pictures(models, result.image)
        yield {"middle": {"reading": reading, "is_unchanged": result.is_unchanged}}


def show_progress(event: Progress | None) -> Part:
    """How many parts of a photo are repaired, of how many; 0 of 0 where none are counted."""
    done, total = (event.done, event.total) if isinstance(event, Progress) else (0, 0)
    return {"progress": {"done": done, "total": total}}


def repair_photo(models: Models, subject: Subject) -> Generator[Part]:
    """Ours, at the photo's own size; :func:`show_pictures` comes first."""
    pictures = subject.stages[PICTURES]
    steps = photograph_steps(models, subject.damaged, subject.settings.seed)
    result = yield from map_steps(steps, show_progress)
    subject.result, explanation = result.image, result.explanation
    finding: Part = {
        "is_unchanged": result.is_unchanged,
        "is_fine": explanation.is_undamaged,
        "is_unjudgeable": explanation.is_unjudgeable,
    }
    damage, refused = explanation.degradation, explanation.refused_blur
    objected = describe_damage(refused) if refused else ""
    sentence = describe_finding(
        damage,
        added=subject.added_damage,
        objected=objected,
        is_mended=result.is_mended,
        **finding,
    )
    (reading,) = read_pictures(models, result.image)
    finding["is_fine"] = explanation.is_undamaged and not objected
    headline = _headline(pictures, subject, reading, diagnosis=describe_damage(damage), **finding)
    yield {
        "found": {"sentence": sentence},
        "repaired": show(result.image, reading, subject.original.label)
        | {"is_unchanged": result.is_unchanged},
        "headline": headline,
    }


def _headline(
    pictures: Part, subject: Subject, repaired: dict[str, Any] | None, **finding: Any
) -> str:
    return write_headline(
        subject.added_damage,
        pictures["truth"],
        pictures["damaged"]["reading"],
        repaired,
        has_label=subject.original.label is not None,
        **finding,
    )


class Watcher:
    """The paper's method and its rival on the square of one subject."""

    def __init__(self, models: Models, subject: Subject, settings: Settings) -> None:
        self.images, self.seed = subject.images, subject.settings.seed
        self.label = subject.original.label
        profile = models.profile
        self.pixels = view_square(profile, subject.damaged)
        if subject.process is None:
            x = to_tensor(self.pixels).to(models.device)
            subject.process = ForwardProcess(models, x, self.seed)
        self.process, self.models = subject.process, models
        self.stopping = choose_stopping(profile, settings)

    def repair_from_fixed_depth(self) -> Generator[Part]:
        """DDA from one depth for all pictures."""
        profile = self.models.profile
        repair = require_repair(systems(profile)["dda"])
        for event in run(self.models, [self.process], [repair]):
            if isinstance(event, RepairResult):
                self.images["fixed"] = from_tensor(event.image)
                view = self._show(self.images["fixed"], event.image)
                yield {"fixed": view | {"depth": profile.dda_depth}}

    def show_film(self) -> Generator[Part]:
        """The picture at some depths of noise; at 0 it is held beside repairs at full size."""
        states = self.process.path(NO_EXPLANATION).forward_path
        sides = dict.fromkeys(FILM, SMALL) | {0: None}
        film = [
            {"depth": depth, "image": to_data_url(from_tensor(states.at(depth)), side, 80)}
            for depth, side in sides.items()
        ]
        yield {"film": film}

    def repair_by_discriminator(self) -> Generator[Part]:
        """DGA and DGA + G: the curve as it grows, the stop, both pictures."""
        profile = replace(self.models.profile, stopping=self.stopping)
        forward = yield from map_steps(
            judge_curve(self.process, self.stopping, find_chart_depth(profile)),
            lambda _: {"curve": self._curve(is_done=False)},
        )
        yield {"curve": self._curve(is_done=True), "stop": self._stop(forward)}
        names = {"dga": "paper", "dga-guided": "guided"}
        methods = [systems(profile)[name] for name in names]
        for step in rebuild_picture(self.models, self.process, methods):
            if isinstance(step, Reconstruction):
                name = names[step.system.name]
                self.images[name] = step.image
                shown = show(step.image, describe_reading(step.prediction), self.label)
                yield {name: shown | {"depth": step.depth}}

    def _curve(self, is_done: bool) -> dict[str, Any]:
        logits = self.process.path(NO_EXPLANATION).logits
        return {"confidence": compute_confidence(logits).round(6).tolist(), "is_done": is_done}

    def _stop(self, forward: Start) -> dict[str, Any]:
        stop, rule = forward.stop, self.stopping
        return {
            "depth": stop.t_star,
            "is_crossed": stop.is_crossed,
            "has_given_up": stop.has_given_up,
            "tau": rule.tau,
            "max_depth": rule.max_depth,
            "image": to_data_url(forward.x_t_star),
        }

    def read_depths(self) -> Generator[Part]:
        """What is read where the paper's method, without guidance, begins at each of the film's."""
        repair = require_repair(systems(self.models.profile)["dga"])
        repairs = {repair.with_depth(depth): depth for depth in FILM}
        depths = list[dict[str, Any]]()
        for event in run(self.models, [self.process], list(repairs)):
            if isinstance(event, RepairResult):
                depths.append(self._show_small(event.image, repairs[event.start.repair]))
                yield {"depths": sorted(depths, key=lambda entry: entry["depth"])}

    def read_mended_depths(self) -> Generator[Part]:
        """The same of the denoiser that sees the damaged picture, whatever was measured."""
        depths = list[dict[str, Any]]()
        for depth, image in draw_from_depths(self.models, self.process.x, self.seed, FILM):
            depths.append(self._show_small(image, depth))
            yield {"mended_depths": [*depths]}

    def _show_small(self, x: Tensor, depth: int) -> dict[str, Any]:
        pixels = from_tensor(x)
        small = to_data_url(pixels, SMALL, 80)
        return {**self._show(pixels, x), "image": small, "depth": depth}

    def _show(self, pixels: Pixels, x: Tensor) -> dict[str, Any]:
        (prediction,) = classify(self.models, x[None])
        return show(pixels, describe_reading(prediction), self.label)


def find_chart_depth(profile: Profile) -> int:
    """Depth to which the curve is drawn: to the last of the film, or of the profile's rule."""
    return max(FILM[-1], profile.stopping.deepest)


def choose_stopping(profile: Profile, settings: Settings) -> StoppingConfig:
    """The profile's rule, or the visitor's, as far as the profile looks."""
    rule = profile.stopping
    tau = rule.tau if settings.tau is None else settings.tau
    return replace(rule, tau=tau, max_depth=min(settings.max_depth or rule.max_depth, rule.deepest))
