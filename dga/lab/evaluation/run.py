"""Evaluation: methods on labelled, corrupted pictures, one result line for each pair.

:func:`evaluate` is where to begin. What the plan asks for and the folder of results does not hold
yet becomes tasks. The pictures of each task are read, damaged, repaired and classified, and a line
is written for each picture and method.
"""

import json
import math
import socket
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from dga.answers import Answer
from dga.folders.picture_folder import ModelSource, load_once
from dga.folders.records import Line, append_lines, find_differences, open_folder, read_lines
from dga.folders.workers import TaskMap
from dga.images import Pixels, from_tensor, to_tensor
from dga.io.files import LINES
from dga.io.settings import read_settings
from dga.io.versions import read_versions
from dga.lab.analysis.saved_runs import KEY
from dga.lab.data.cropping import View
from dga.lab.data.image_sets import ImageSet
from dga.lab.evaluation.plan import Plan, choose_images, derive_seed, read_batch
from dga.lab.readers.runner import SystemRunner, answer, create_runners
from dga.networks.models import Models
from dga.profiles import PROFILES, Profile
from dga.weights.classifiers import describe_classifier

get_key = itemgetter(*KEY)
MOST_PSNR = 99.0
"""The PSNR in dB that is written for equal pictures, where it would be infinite."""


@dataclass(frozen=True)
class Setup:
    """What results depend on besides the plan: two workers agree only where theirs are equal."""

    profile: Profile
    precision: str
    weights: Mapping[str, str]
    settings: Mapping[str, Mapping[str, Any]]
    """The settings of each method by name; one that depends on its stream has a ``batch``."""
    packages: Mapping[str, str]


@dataclass(frozen=True)
class EvaluationResults:
    """The lines of a task, or all that a folder holds after a run."""

    lines: list[Line]
    unreadable: list[str]
    """Names of the pictures that were skipped, because they could not be read."""
    pictures: int
    """How many there were, those that could not be read among them."""


@dataclass(frozen=True)
class Task:
    """Batches of a stream, and the methods that are run on them.

    A method that depends on what came before has its whole stream in one task. For all others a
    task is one batch, so that workers can share them.
    """

    stream: str
    """One of :attr:`Plan.streams`."""
    methods: tuple[str, ...]
    batches: tuple[tuple[int, ...], ...]
    """Each batch as the positions of its pictures."""


@dataclass(frozen=True)
class EvaluationWorker:
    """What a process needs to measure methods, here or on another machine.

    A copy of it comes with every task. The models are loaded once in a process all the same,
    because equal workers share them.
    """

    source: ModelSource
    """Loads the models."""
    methods: tuple[str, ...]
    plan: Plan

    @property
    def models(self) -> Models:
        """The models of this process."""
        return load_once(self.source)

    def inspect(self) -> Setup:
        """Load the models, and return what results depend on."""
        models = self.models
        settings = {name: read_settings(one.system) for name, one in _create_runners(self).items()}
        settings = json.loads(json.dumps(settings))  # tuples become lists, as in the file
        precision, packages = models.compute.precision, read_versions()
        return Setup(models.profile, precision, models.weights, settings, packages)

    def measure(self, expected: Setup, images: ImageSet, task: Task) -> EvaluationResults:
        """Run the methods of a task on each of its batches.

        Raises ``ValueError`` where the weights, settings or packages of this machine are not the
        ``expected`` ones.
        """
        if changes := find_differences(asdict(expected), asdict(self.inspect())):
            host = socket.gethostname()
            raise ValueError(f"The worker on {host} differs from the first one ({changes[0]}).")
        view, runners = View(self.models.profile), _create_runners(self)
        runners = {name: runners[name] for name in task.methods}
        for runner in runners.values():
            runner.reset()
        lines, unreadable = list[Line](), list[str]()
        for indices in task.batches:
            batch = images.take(indices)
            pictures, clean = read_batch(self.plan, view, batch, task.stream)
            if len(pictures):
                lines += self._make_lines(runners, pictures, clean, task.stream)
            unreadable += sorted(set(batch.names) - set(pictures.names))
        return EvaluationResults(lines, unreadable, sum(map(len, task.batches)))

    def _make_lines(
        self,
        runners: Mapping[str, SystemRunner],
        pictures: ImageSet,
        clean: Pixels | None,
        stream: str,
    ) -> list[Line]:
        """A line for each method and picture of a batch.

        ``pictures`` and ``clean``: the batch, and the same before any damage, as
        :func:`read_batch` returns them.
        """
        plan = self.plan
        conditions = [plan.draw_condition(name, stream) for name in pictures.names]
        seeds = [
            derive_seed(plan.seed, name, corruption)
            for name, (corruption, _) in zip(pictures.names, conditions, strict=True)
        ]
        models = self.models
        x = to_tensor(pictures.pixels).to(models.device)  # [B, 3, S, S]
        lines: list[Line] = []
        for name, answers in answer(runners, x, seeds).items():
            for i, one in enumerate(answers):
                corruption, severity = conditions[i]
                label = int(pictures.labels[i])
                line = {
                    "path": pictures.names[i],
                    "class": pictures.classes[label],
                    "corruption": corruption,
                    "severity": severity,
                    "seed": seeds[i],
                    "method": name,
                    **self._describe_answer(one, label, models.profile.classifier.classes),
                }
                if clean is not None:
                    shown = pictures.pixels[i] if one.picture is None else from_tensor(one.picture)
                    line["psnr"] = compute_psnr(shown, clean[i])
                lines.append(line)
        return lines

    def _describe_answer(self, one: Answer, label: int, classes: Sequence[str]) -> Line:
        """The part of a line that says what was read; ``label``: the position of the true class."""
        ranks = one.probabilities.argsort(descending=True, stable=True)
        first = int(ranks[0])
        return {
            # By position, because two classes may share a name.
            "correct": first == label if self.plan.has_labels else None,
            "depth": one.depth,
            "crossed": one.is_crossed,
            "prediction": classes[first],
            "probability": round(float(one.probabilities[first]), 5),
            "seconds": round(one.seconds, 4),
            **one.details,
        }


def compute_psnr(picture: Pixels, undamaged: Pixels) -> float:
    """Peak signal-to-noise ratio of uint8 pictures of one shape, in dB, to two decimals."""
    error = np.square(picture.astype(np.float64) - undamaged).mean()
    return round(min(MOST_PSNR, 10 * math.log10(255**2 / max(error, 1e-9))), 2)


@dataclass(frozen=True, eq=False)
class LoadedModels:
    """A :class:`ModelSource` of models that are loaded already."""

    models: Models

    def load(self) -> Models:
        """The models."""
        return self.models


@lru_cache(maxsize=1)
def _create_runners(worker: EvaluationWorker) -> dict[str, SystemRunner]:
    """The runners of a worker's methods, made once: readers that adapt copy the classifier."""
    return create_runners(worker.models, worker.methods)


def evaluate(
    worker: EvaluationWorker,
    out: Path,
    batch: int = 16,
    command: str = "",
    run: TaskMap[Any, Any] = map,
) -> EvaluationResults:
    """Measure what the folder ``out`` does not hold yet; a killed run goes on where it was.

    ``run`` does tasks, here or on other machines. The lines of each are on disk before the next
    result is asked for. Pictures are read a batch at a time, and those that cannot be read are
    skipped. Methods may be added to a folder.

    Raises ``ValueError`` for a folder with other results (see :func:`open_folder`), and if not one
    picture could be read.
    """
    plan = worker.plan
    (setup,) = run(EvaluationWorker.inspect, [worker])
    images, groups = choose_images(plan, setup.profile), group_methods(plan, setup, batch)
    unreadable, path = set[str](), out / LINES
    with open_folder(out, describe_run(plan, setup, len(images), command)):
        lines = list(read_lines(path, KEY))
        done = set(map(get_key, lines))
        tasks = list_tasks(plan, groups, images, done)
        pictures = sum(len(indices) for task in tasks for indices in task.batches)
        if run is not map:  # whole streams, whose order matters, take longest
            tasks.sort(key=lambda task: -len(task.batches))
        with tqdm(total=pictures, unit="image", mininterval=1.0) as bar:
            for result in run(partial(worker.measure, setup, images), tasks):
                new = [line for line in result.lines if get_key(line) not in done]
                append_lines(path, new)
                lines += new
                unreadable |= set(result.unreadable)
                bar.update(result.pictures)
    if unreadable and not lines:
        raise ValueError(f"None of the {len(unreadable)} pictures can be read.")
    return EvaluationResults(lines, sorted(unreadable), len(images))


def group_methods(plan: Plan, setup: Setup, batch: int) -> dict[tuple[int, bool], list[str]]:
    """Methods by the size of their batches, and whether they depend on the order of a stream.

    ``batch``: the size for methods that have none of their own. Raises ``ValueError`` for an empty
    batch, and for a method that waits for several pictures where they come one at a time.
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

    ``groups``: as :func:`group_methods` returns them; ``done``: path, corruption and method of each
    line that is there already.
    """
    tasks = list[Task]()
    for stream in plan.streams:
        keys = [(name, plan.draw_condition(name, stream)[0]) for name in images.names]
        for (size, is_ordered), names in groups.items():
            missing = {
                name: [i for i, key in enumerate(keys) if (*key, name) not in done]
                for name in names
            }
            methods = tuple(name for name in names if is_ordered or missing[name])
            indices = sorted(set().union(*missing.values()))
            if is_ordered and indices:
                indices = list(range(len(images)))
            starts = range(0, len(indices), size)
            batches = tuple(tuple(indices[start : start + size]) for start in starts)
            if is_ordered and batches:
                tasks.append(Task(stream, methods, batches))
            else:
                tasks += [Task(stream, methods, (one,)) for one in batches]
    return tasks


def describe_run(plan: Plan, setup: Setup, pictures: int, command: str) -> dict[str, Any]:
    """What results depend on, as JSON types, for the configuration of the results' folder.

    Pictures and corruptions may be added to the folder later, except where a method depends on the
    order of its stream. The classifier is described only where it is not the profile's own.
    """
    facts = plan.describe()
    classifier = setup.profile.classifier
    if classifier != PROFILES.get(setup.profile.name, setup.profile).classifier:
        facts["classifier"] = describe_classifier(classifier)
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
        "versions": setup.packages,
    }
