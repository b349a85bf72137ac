"""Evaluation: methods on labelled, corrupted pictures, one result line for each pair.

:func:`evaluate` is where to begin. What the plan asks for and the folder of results lacks becomes
tasks; each task's pictures are read, damaged, repaired and classified, and their lines written.
"""

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from dga.folders.records import Line, append_lines, open_folder, read_lines
from dga.images import Pixels, from_tensor, to_tensor
from dga.io.files import LINES, to_plain
from dga.io.settings import read_settings
from dga.io.versions import read_versions
from dga.lab.analysis.saved_runs import KEY
from dga.lab.data.cropping import View
from dga.lab.data.image_sets import ImageSet
from dga.lab.evaluation.plan import Plan, choose_images, derive_seed, read_batch
from dga.lab.readers.runner import SystemRunner, answer, create_runners
from dga.lab.readers.systems import MeasuredSystem
from dga.networks.models import Models
from dga.profiles import PROFILES, Profile

get_key = itemgetter(*KEY)
MOST_PSNR = 99.0
"""In dB, of equal pictures."""


@dataclass(frozen=True)
class Setup:
    """What results depend on besides the plan."""

    profile: Profile
    precision: str
    weights: Mapping[str, str]
    settings: Mapping[str, Mapping[str, Any]]
    """Of each method; one that depends on its stream has its own ``batch``."""
    packages: Mapping[str, str]


@dataclass(frozen=True)
class EvaluationResults:
    """What a folder holds after a run."""

    lines: list[Line]
    unreadable: list[str]
    """Pictures that were skipped."""


@dataclass(frozen=True)
class Task:
    """Methods and the batches of a stream that they answer.

    A method that depends on what came before has its whole stream in one task; for others a task
    is a batch.
    """

    stream: str
    """One of :attr:`Plan.streams`."""
    methods: tuple[str, ...]
    batches: tuple[tuple[int, ...], ...]
    """Each as positions of its pictures."""


@dataclass(frozen=True)
class BatchResult:
    """What a batch came to."""

    stream: str
    pictures: int
    """How many it had."""
    lines: list[Line]
    unreadable: list[str]
    """Names of those that were skipped."""


@dataclass(frozen=True)
class LoadedSystems:
    """Loaded models and systems at work, ready to measure what a plan asks for."""

    models: Models
    runners: Mapping[str, SystemRunner]
    plan: Plan

    @property
    def setup(self) -> Setup:
        """What its results depend on."""
        models, packages = self.models, read_versions()
        settings = {name: read_settings(one.system) for name, one in self.runners.items()}
        settings = json.loads(json.dumps(settings))  # tuples become lists, as in the file
        return Setup(models.profile, models.compute.precision, models.weights, settings, packages)

    def measure(self, task: Task, images: ImageSet) -> Iterator[BatchResult]:
        """A result of each batch of a task."""
        view = View.of(self.models.profile)
        runners = {name: self.runners[name] for name in task.methods}
        for runner in runners.values():
            runner.reset()
        for indices in task.batches:
            batch = images.take(indices)
            pictures, clean = read_batch(self.plan, view, batch, task.stream)
            lines = self._make_lines(runners, pictures, clean, task.stream) if len(pictures) else []
            unreadable = sorted(set(batch.names) - set(pictures.names))
            yield BatchResult(task.stream, len(indices), lines, unreadable)

    def _make_lines(
        self,
        runners: Mapping[str, SystemRunner],
        pictures: ImageSet,
        clean: Pixels | None,
        stream: str,
    ) -> list[Line]:
        """Lines on a batch of pictures, as :func:`read_batch` returns it."""
        plan, classes = self.plan, self.models.profile.classifier.classes
        conditions = [plan.draw_condition(name, stream) for name in pictures.names]
        seeds = [
            derive_seed(plan.seed, name, corruption)
            for name, (corruption, _) in zip(pictures.names, conditions, strict=True)
        ]
        x = to_tensor(pictures.pixels).to(self.models.device)  # [B, 3, S, S]
        lines: list[Line] = []
        for name, answers in answer(runners, x, seeds).items():
            for i, one in enumerate(answers):
                corruption, severity = conditions[i]
                ranks = one.probabilities.argsort(descending=True, stable=True)
                first, label = int(ranks[0]), int(pictures.labels[i])
                line = {
                    "path": pictures.names[i],
                    "class": pictures.classes[label],
                    "corruption": corruption,
                    "severity": severity,
                    "seed": seeds[i],
                    "method": name,
                    # By position: two classes may share a name.
                    "correct": first == label if plan.has_labels else None,
                    "depth": one.depth,
                    "crossed": one.is_crossed,
                    "prediction": classes[first],
                    "probability": round(float(one.probabilities[first]), 5),
                    "seconds": round(one.seconds, 4),
                    **one.details,
                }
                if clean is not None:
                    shown = pictures.pixels[i] if one.picture is None else from_tensor(one.picture)
                    line["psnr"] = compute_psnr(shown, clean[i])
                lines.append(line)
        return lines


def compute_psnr(picture: Pixels, undamaged: Pixels) -> float:
    """In dB, to two decimals."""
    error = np.square(picture.astype(np.float64) - undamaged).mean()
    return round(min(MOST_PSNR, 10 * math.log10(255**2 / max(error, 1e-9))), 2)


def evaluate(
    models: Models,
    systems: Mapping[str, MeasuredSystem],
    plan: Plan,
    out: Path,
    batch: int = 16,
    command: str = "",
) -> EvaluationResults:
    """:func:`run_tasks` with these models, one task after the other."""
    loaded = LoadedSystems(models, create_runners(models, systems), plan)

    def measure(tasks: Sequence[Task], images: ImageSet) -> Iterator[BatchResult]:
        return chain.from_iterable(loaded.measure(task, images) for task in tasks)

    return run_tasks(plan, loaded.setup, measure, out, batch, command)


def run_tasks(
    plan: Plan,
    setup: Setup,
    measure: Callable[[Sequence[Task], ImageSet], Iterator[BatchResult]],
    out: Path,
    batch: int,
    command: str,
) -> EvaluationResults:
    """``measure`` what is not done yet; every batch's lines are on disk before the next begins.

    Pictures are read a batch at a time; those that cannot be read are skipped. Methods may be added
    to a folder. Raises ``ValueError`` for an output folder with other results, see
    :func:`open_folder`, and if not one picture could be read.
    """
    images, groups = choose_images(plan, setup.profile), group_methods(plan, setup, batch)
    unreadable, path = set[str](), out / LINES
    with open_folder(out, describe_run(plan, setup, len(images), command)):
        lines = list(read_lines(path, KEY))
        done = set(map(get_key, lines))
        tasks = list_tasks(plan, groups, images, done)
        pictures = sum(len(indices) for task in tasks for indices in task.batches)
        with tqdm(total=pictures, unit="image", mininterval=1.0) as bar:
            for result in measure(tasks, images):
                bar.set_postfix(corruption=result.stream, refresh=False)
                new = [line for line in result.lines if get_key(line) not in done]
                append_lines(path, new)
                lines += new
                unreadable |= set(result.unreadable)
                bar.update(result.pictures)
    if unreadable and not lines:
        raise ValueError(f"None of the {len(unreadable)} pictures can be read.")
    return EvaluationResults(lines, sorted(unreadable))


def group_methods(plan: Plan, setup: Setup, batch: int) -> dict[tuple[int, bool], list[str]]:
    """Methods by the size of their batches and whether they depend on the order of a stream.

    Raises ``ValueError`` for an empty batch, and in a stream of single pictures for a method
    that waits for more than one.
    """
    if batch < 1:
        raise ValueError("A batch holds at least one picture.")
    is_single = plan.stream == "single"
    groups: dict[tuple[int, bool], list[str]] = {}
    for name, settings in setup.settings.items():
        own_batch = settings.get("batch")
        if is_single and own_batch not in (None, 1):
            others = [part for part in name.split(":") if not part.startswith("batch=")]
            raise ValueError(
                f"Pictures come one at a time, and {name} waits for {own_batch}: leave it out, or "
                f"name {':'.join(others)}:batch=1."
            )
        size = own_batch or (1 if is_single else batch)
        groups.setdefault((size, own_batch is not None), []).append(name)
    return groups


def list_tasks(
    plan: Plan,
    groups: dict[tuple[int, bool], list[str]],
    images: ImageSet,
    done: Collection[tuple[str, ...]],
) -> list[Task]:
    """What is still to do: the whole stream again where a method depends on its order.

    ``done``: path, corruption and method of each line that is there.
    """
    tasks: list[Task] = []
    for stream in plan.streams:
        corruptions = [plan.draw_condition(path, stream)[0] for path in images.names]
        for (size, is_ordered), names in groups.items():
            missing = dict[tuple[str, ...], list[int]]()  # pictures by the methods without a line
            for i, (path, corruption) in enumerate(zip(images.names, corruptions, strict=True)):
                without = (name for name in names if (path, corruption, name) not in done)
                missing.setdefault(tuple(without), []).append(i)
            missing.pop((), None)
            if is_ordered and missing:
                missing = {tuple(names): list(range(len(images)))}
            for methods, indices in missing.items():
                batches = tuple(
                    tuple(indices[start : start + size]) for start in range(0, len(indices), size)
                )
                parts = [batches] if is_ordered else [(one,) for one in batches]
                tasks += [Task(stream, methods, part) for part in parts]
    return tasks


def describe_run(plan: Plan, setup: Setup, pictures: int, command: str) -> dict[str, Any]:
    """What results depend on, for the results' folder.

    Pictures and corruptions may be added later, except to a stream whose order matters. Of the
    classifier it is said where it is not the profile's own, with the number of its classes.
    """
    facts = plan.describe()
    classifier = setup.profile.classifier
    if classifier != PROFILES.get(setup.profile.name, setup.profile).classifier:
        facts["classifier"] = {**to_plain(classifier), "classes": len(classifier.classes)}
    methods = {
        name: {**settings, "stream": pictures} if settings.get("batch") else settings
        for name, settings in setup.settings.items()
    }
    return facts | {
        "profile": setup.profile.name,
        "precision": setup.precision,
        "weights": setup.weights,
        "methods": methods,
        "command": command,
        "versions": read_versions(),
    }
