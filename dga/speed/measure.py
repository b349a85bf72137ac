"""The bench: every task at every batch size, ours and the published way in turn."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import torch

from dga.networks.compute import Compute
from dga.networks.models import Models
from dga.speed import tasks
from dga.speed.network_cost import Cost, work_out
from dga.speed.reference import Published
from dga.speed.scaling import Scaling, measure_scaling
from dga.speed.tasks import Task, Work
from dga.speed.timing import best_seconds, peak_bytes, peak_flops
from dga.speed.workload import Subject

OURS, PUBLISHED = "ours", "published"
NETWORKS = "the network alone"
OPTIONS = "dga-guided:steps=12:eta=1:through_network=false:scale=0.75"


@dataclass(frozen=True)
class Plan:
    """``steps``: of a whole reconstruction, of which ``timed`` are run and the rest
    reckoned, since every step costs the same; ``repeats``: the best of so many counts.
    ``against``: whether the published way is measured too.
    """

    batches: tuple[int, ...] = (1, 8, 32)
    steps: int = 50
    timed: int = 10
    repeats: int = 3
    against: bool = True

    def __post_init__(self) -> None:
        if not self.batches or min(*self.batches, 1) < 1:
            raise ValueError("Batches are whole numbers from 1 up.")
        if not 1 <= self.timed <= self.steps:
            raise ValueError(f"Timed steps are from 1 to {self.steps}, not {self.timed}.")
        if self.repeats < 1:
            raise ValueError("At least one repeat is needed.")


@dataclass(frozen=True)
class Row:
    """One task done one way. ``seconds`` an image; ``networks``: share of it in the denoiser.

    ``of_peak``: FLOP/s over the device's measured peak in the same precision; ``memory``
    in bytes; ``faster``: than the published way in float32. ``None`` where not measured.
    """

    task: Task
    way: str
    precision: str
    batch: int
    seconds: float
    networks: float | None = None
    of_peak: float | None = None
    memory: int | None = None
    faster: float | None = None


@dataclass(frozen=True)
class Report:
    """Everything a run of the bench found."""

    plan: Plan
    profile: str
    device: str
    threads: int
    peaks: dict[str, float]
    cost: Cost
    rows: list[Row] = field(default_factory=list)
    scaling: Scaling | None = None


@dataclass(frozen=True)
class Entry:
    """A way of doing a task: ``scale`` makes its seconds those of the whole task."""

    way: str
    work: Work
    precision: str
    scale: float = 1.0
    flops: float | None = None
    memory: Work | None = None


Say = Callable[[str], None]


def bench(
    models: Models, plan: Plan, reference: Models | None = None, say: Say = lambda text: None
) -> Report:
    """Measure ``models``, and beside them ``reference``: the same in float32.

    ``say`` hears what is being measured. Raises ``MemoryError`` where one picture does
    not fit.
    """
    models.schedule.check_depth(plan.steps)
    run = _Run(models, plan, reference or models, work_out(models.profile, models.compute.dtype))
    rows: list[Row] = []
    for batch in plan.batches:
        for name, task in run.tasks(Subject(models, batch)):
            say(f"{name}, batch {batch}")
            rows += task()
    say("cost against depth and number of pictures")
    return Report(
        plan=plan,
        profile=models.profile.name,
        device=_device_name(models.compute),
        threads=torch.get_num_threads(),
        peaks=run.peaks,
        cost=run.cost,
        rows=_with_ratios(rows),
        scaling=measure_scaling(models, plan.repeats),
    )


class _Run:
    """What stays the same from task to task."""

    def __init__(self, models: Models, plan: Plan, reference: Models, cost: Cost) -> None:
        self.models, self.plan, self.reference, self.cost = models, plan, reference, cost
        self.device, self.own = models.device, models.compute.precision
        self.published = {PUBLISHED: Published(reference)} if plan.against else {}
        if plan.against and self.device.type == "cuda":
            self.published[f"{PUBLISHED}, float16"] = Published(reference, torch.float16)
        dtypes = {"float32", self.own} | ({"float16"} if len(self.published) > 1 else set())
        self.peaks = {
            name: peak_flops(self.device, getattr(torch, name)) for name in sorted(dtypes)
        }

    def tasks(self, subject: Subject) -> Iterator[tuple[str, Callable[[], list[Row]]]]:
        """Each task's name and how to measure it."""
        yield "curve", lambda: self._rows("curve", subject, [self._curve(subject)])
        yield "unguided", lambda: self._rebuilding("unguided", subject)
        yield "guided and dda", lambda: self._rebuilding("guided", subject)
        if self.models.weights:  # random ones choose no sensible depth
            yield "dga-guided", lambda: self._rows("dga-guided", subject, self._adapting(subject))

    def _curve(self, subject: Subject) -> Entry:
        work = tasks.judging(subject)
        flops = float(self.cost.judge_flops * (self.models.schedule.steps + 1))
        return Entry(OURS, work, "float32", 1.0, flops, work)

    def _adapting(self, subject: Subject) -> list[Entry]:
        specs = {OURS: "dga-guided", "options": OPTIONS}
        return [Entry(way, tasks.adapting(subject, s), self.own) for way, s in specs.items()]

    def _rebuilding(self, task: Task, subject: Subject) -> list[Row]:
        guided = task == "guided"
        entries = [*self._ways(subject, guided), *self._published_ways(subject, guided)]
        rows = self._rows(task, subject, entries)
        return [*rows, *self._dda(subject, rows)] if guided else rows

    def _ways(self, subject: Subject, guided: bool) -> Iterator[Entry]:
        """Ours: as configured, with the options, in float32, and the network alone."""
        plan, guidance = self.plan, self.models.profile.guidance if guided else None
        scale, flops = plan.steps / plan.timed, self._flops(guided)
        full = tasks.rebuilding(subject, plan.timed, guidance)
        one = tasks.rebuilding(subject, 1, guidance)
        yield Entry(OURS, full, self.own, scale, flops, one)
        alone = tasks.passing(subject, plan.timed, guided)
        yield Entry(NETWORKS, alone, self.own, scale, flops)
        few = tasks.FEW
        name = f"{few.steps} steps"
        yield Entry(name, tasks.rebuilding(subject, plan.steps, guidance, few), self.own)
        if guidance is not None:
            free = tasks.detached(guidance)
            work = tasks.rebuilding(subject, plan.timed, free)
            yield Entry("gradient not through the network", work, self.own, scale)
            work = tasks.rebuilding(subject, plan.steps, free, few)
            yield Entry(f"{name}, gradient not through the network", work, self.own)
        if plan.against and self.own != "float32":
            exact = Subject(self.reference, subject.count)
            work = tasks.rebuilding(exact, plan.timed, guidance)
            yield Entry(f"{OURS}, float32", work, "float32", scale, flops)

    def _published_ways(self, subject: Subject, guided: bool) -> Iterator[Entry]:
        plan, guidance = self.plan, self.models.profile.dda_guidance if guided else None
        for way, published in self.published.items():
            precision = "float16" if way.endswith("float16") else "float32"
            work = tasks.publishing(published, subject, plan.timed, guidance)
            one = tasks.publishing(published, subject, 1, guidance)
            scale = plan.steps / plan.timed
            yield Entry(way, work, precision, scale, self._flops(guided), one)

    def _flops(self, guided: bool) -> float:
        return float(self.plan.steps * (self.cost.guided_flops if guided else self.cost.step_flops))

    def _dda(self, subject: Subject, guided: list[Row]) -> list[Row]:
        """DDA end to end: its guided steps, the noising before and the label after."""
        work = {OURS: tasks.ends(subject)}
        work |= {way: tasks.ends(subject, p) for way, p in self.published.items()}
        taken = best_seconds(work, self.plan.repeats, self.device)
        once = {way: spent / subject.count for way, spent in taken.items()}
        plain = [dataclasses.replace(row, networks=None, of_peak=None) for row in guided]
        return [
            dataclasses.replace(row, task="dda", seconds=row.seconds + once[row.way])
            for row in plain
            if row.way in once
        ]

    def _rows(self, task: Task, subject: Subject, entries: list[Entry]) -> list[Row]:
        memory = {e.way: peak_bytes(e.memory, self.device) for e in entries if e.memory}
        taken = best_seconds({e.way: e.work for e in entries}, self.plan.repeats, self.device)
        each = {e.way: taken[e.way] * e.scale / subject.count for e in entries}
        share = each[NETWORKS] / each[OURS] if NETWORKS in each else None
        return [
            Row(
                task=task,
                way=e.way,
                precision=e.precision,
                batch=subject.count,
                seconds=each[e.way],
                networks=share if e.way == OURS else None,
                of_peak=e.flops / each[e.way] / self.peaks[e.precision] if e.flops else None,
                memory=memory.get(e.way),
            )
            for e in entries
        ]


def _with_ratios(rows: list[Row]) -> list[Row]:
    """How much faster than the published way each is; DGA + G is held against DDA."""
    slow = {(row.task, row.batch): row.seconds for row in rows if row.way == PUBLISHED}
    return [
        dataclasses.replace(row, faster=base / row.seconds)
        if (base := slow.get(("dda" if row.task == "dga-guided" else row.task, row.batch)))
        else row
        for row in rows
    ]


def _device_name(compute: Compute) -> str:
    if compute.device.type == "cuda":
        return torch.cuda.get_device_name(compute.device)
    return str(compute.device)
