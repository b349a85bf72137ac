"""Systems at work on pictures that arrive together: repaired, then read.

:func:`answer` is what an evaluation calls for each batch. Repairs that several systems have in
common are made once; readers that adapt keep what they learn until they are reset.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from torch import Tensor

from dga.answers import Answer, make_answers
from dga.lab.readers.memo import Memo
from dga.lab.readers.permutation import permute_stops
from dga.lab.readers.reader import NonLocalMeans, Reader
from dga.lab.readers.systems import (
    DenoiseConfig,
    MeasuredSystem,
    MemoConfig,
    Permutation,
    TentConfig,
    parse,
)
from dga.lab.readers.tent import Tent
from dga.networks.compute import isolate_numerics
from dga.networks.models import Models
from dga.pipeline import (
    ForwardProcess,
    RepairResult,
    Start,
    collect_results,
    denoise_and_mend,
    find_stops,
    run,
)
from dga.profiles import Repair
from dga.profiles.configs import SOFTMAX
from dga.systems import parse_all

READERS: dict[type, type[Reader]] = {
    type(None): Reader,
    TentConfig: Tent,
    MemoConfig: Memo,
    DenoiseConfig: NonLocalMeans,
}
"""The class of a reader, by that of its settings."""


class SystemRunner:
    """A system with its reader, which keeps what it learned from earlier batches.

    Raises ``ValueError`` for a classifier that its reader cannot adapt.
    """

    def __init__(self, models: Models, system: MeasuredSystem) -> None:
        self.models, self.system = models, system
        if isinstance(system.reader, TentConfig | MemoConfig) and (
            models.profile.classifier.activation != SOFTMAX
        ):
            raise ValueError("Tent and MEMO adapt classifiers whose answers go through softmax.")
        self._reader = READERS[type(system.reader)](models, system.reader)

    def reset(self) -> None:
        """Forget everything that was learned; to be called before every stream."""
        self._reader.reset()

    def read(
        self, x: Tensor, seeds: Sequence[int], results: Sequence[RepairResult] | None
    ) -> list[Answer]:
        """Answers for pictures as they came, ``[B, 3, S, S]`` in [-1, 1], with a seed for each.

        ``results``: those of the system's repair, one a picture; None for a system without repair.
        """
        reader = self._reader
        if results is not None:
            return make_answers(
                self.system, results, x, lambda p: reader.read(reader.prepare(p), seeds)
            )
        start_time = time.perf_counter()
        pictures = reader.prepare(x)
        probabilities = reader.read(pictures, seeds)
        seconds = (time.perf_counter() - start_time) / len(x)
        if pictures is x:
            return [Answer(row, seconds) for row in probabilities]
        return [
            Answer(row, seconds, picture=picture, details={"unchanged": False})
            for row, picture in zip(probabilities, pictures, strict=True)
        ]


def create_runners(models: Models, names: Sequence[str]) -> dict[str, SystemRunner]:
    """Systems with fresh readers, by name. Raises what ``parse`` and :class:`SystemRunner` do."""
    systems = parse_all(models.profile, names, parse)
    return {name: SystemRunner(models, system) for name, system in systems.items()}


@isolate_numerics
def answer(
    runners: Mapping[str, SystemRunner], x: Tensor, seeds: Sequence[int]
) -> dict[str, list[Answer]]:
    """The answers of several systems for the same pictures, ``[B, 3, S, S]`` in [-1, 1], by name.

    What their repairs share is computed once. Raises ``FloatingPointError``, which names the
    systems, for values that are not numbers.
    """
    answers = {}
    for permute in {runner.system.permute: None for runner in runners.values()}:
        group = {name: one for name, one in runners.items() if one.system.permute == permute}
        repairs = [one.system.repair for one in group.values() if one.system.repair]
        models = next(iter(group.values())).models
        with _name_systems(group):
            results = _repair(models, x, seeds, list(dict.fromkeys(repairs)), permute)
        for name, runner in group.items():
            repair = runner.system.repair
            with _name_systems([name]):
                answers[name] = runner.read(x, seeds, results[repair] if repair else None)
    return {name: answers[name] for name in runners}


def _repair(
    models: Models,
    x: Tensor,
    seeds: Sequence[int],
    repairs: Sequence[Repair],
    permute: Permutation,
) -> dict[Repair, list[RepairResult]]:
    """The results of every repair, one a picture; ``permute``: what pictures exchange before."""
    processes = ForwardProcess.of_batch(models, x, seeds)
    if permute == "none":
        return collect_results(run(models, processes, repairs))
    starts = [event for event in find_stops(processes, repairs) if isinstance(event, Start)]
    permuted = permute_stops(models, permute, starts)
    return collect_results(denoise_and_mend(models, permuted))


@contextmanager
def _name_systems(names: Iterable[str]) -> Iterator[None]:
    """Add the systems' names to the error of a network that returns no numbers."""
    try:
        yield
    except FloatingPointError as error:
        raise FloatingPointError(
            f"Method {', '.join(names)} was stopped: {error} What was done before is kept."
        ) from error
