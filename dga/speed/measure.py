"""The bench: every task at every batch size, ours and the published way in turn; its report."""

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import pandas as pd
import torch
from tqdm import tqdm

from dga.io.files import write_json
from dga.networks.models import Models
from dga.record import versions
from dga.sampling import FewSteps
from dga.speed.reference import PublishedSampler
from dga.speed.timing import TimingPlan, Work, best_seconds, peak_bytes
from dga.speed.workload import JUDGED, Workload

Task = Literal["curve", "unguided", "guided", "dda", "dga-guided", "dga-plus"]
OURS, PUBLISHED, NETWORKS = "ours", "published", "the network alone"
FEW = FewSteps(12, eta=1.0)
"""The few-step sampler of profile everyday16."""
WHOLE: dict[Task, Task] = {"dga-guided": "dda", "dga-plus": "dda"}
"""Methods from the picture to the label, and what each is held against."""
BAR = "{desc}{percentage:3.0f}%|{bar}| {elapsed}<{remaining}"


@dataclass(frozen=True)
class TimingRow:
    """One task done one way. ``seconds`` an image; ``networks``: share of it in the denoiser.

    ``memory`` in bytes; ``faster``: than the published way in float32. ``None`` where not measured.
    """

    task: Task
    way: str
    precision: str
    batch: int
    seconds: float
    networks: float | None = None
    memory: int | None = None
    faster: float | None = None


@dataclass(frozen=True)
class BenchReport:
    """Everything a run of the bench found."""

    plan: TimingPlan
    profile: str
    device: str
    threads: int
    rows: list[TimingRow]


@dataclass(frozen=True)
class TimedWork:
    """A way of doing a task. ``scale`` makes its seconds those of the whole task.

    ``memory``: the run whose peak is measured.
    """

    way: str
    work: Work
    precision: str
    scale: float = 1.0
    memory: Work | None = None


def bench(models: Models, plan: TimingPlan, reference: Models | None = None) -> BenchReport:
    """Measure ``models``, and beside them ``reference``: the same in float32.

    Raises ``MemoryError`` where one picture does not fit.
    """
    models.schedule.check_depth(plan.steps)
    pictures = (5 if models.weights else 3) * sum(plan.batches) + 1e-6  # shares round up
    with tqdm(total=pictures, bar_format=BAR) as bar:
        timer = _Timer(models, plan, reference or models, bar)
        rows = [row for batch in plan.batches for row in timer.rows(Workload(models, batch))]
    cuda = models.device.type == "cuda"
    return BenchReport(
        plan=plan,
        profile=models.profile.name,
        device=torch.cuda.get_device_name(models.device) if cuda else str(models.device),
        threads=torch.get_num_threads(),
        rows=_with_ratios(rows),
    )


class _Timer:
    """What stays the same from task to task."""

    def __init__(self, models: Models, plan: TimingPlan, reference: Models, bar: tqdm) -> None:
        self.models, self.plan, self.reference, self.bar = models, plan, reference, bar
        self.own = models.compute.precision
        ways = {PUBLISHED: "float32"} if plan.against else {}
        if plan.against and models.device.type == "cuda":
            ways[f"{PUBLISHED}, float16"] = "float16"
        self.published = {
            way: (name, PublishedSampler(reference, getattr(torch, name)))
            for way, name in ways.items()
        }

    def rows(self, workload: Workload) -> Iterator[TimingRow]:
        """Every task at one batch size."""
        judging, scale = workload.judging(), max(1.0, workload.count / JUDGED)
        curves = TimedWork(OURS, judging, "float32", scale, judging)
        yield from self._timed("curve", workload, [curves])
        yield from self._timed("unguided", workload, self._rebuilding(workload, guided=False))
        guided = self._timed("guided", workload, self._rebuilding(workload, guided=True))
        yield from guided
        yield from self._dda(workload, guided)
        if self.models.weights:  # random ones choose no sensible depth
            ways = {OURS: "dga-guided", "ancestral": "dga-guided-ancestral"}
            works = [TimedWork(w, workload.adapting(s), self.own) for w, s in ways.items()]
            yield from self._timed("dga-guided", workload, works)
            whole = TimedWork(OURS, workload.adapting("dga-plus"), self.own)
            yield from self._timed("dga-plus", workload, [whole])

    def _rebuilding(self, workload: Workload, guided: bool) -> Iterator[TimedWork]:
        """Ours, the network alone, with the options, in float32; the published way."""
        plan, profile = self.plan, self.models.profile.ancestral
        own, work = self.own, workload.rebuilding
        guidance, theirs = (profile.guidance, profile.dda_guidance) if guided else (None, None)
        timed, scale = plan.timed, plan.steps / plan.timed
        yield TimedWork(OURS, work(timed, guidance), own, scale, work(1, guidance))
        yield TimedWork(NETWORKS, workload.passing(timed, guided), own, scale)
        few = min(FEW.steps, plan.steps)
        part, name = min(timed, few), f"{FEW.steps} steps"
        yield TimedWork(name, work(part, guidance, FEW.steps), own, few / part)
        if guidance is not None:
            free = dataclasses.replace(guidance, through_network=False)
            frozen = "gradient not through the network"
            yield TimedWork(frozen, work(timed, free), own, scale)
            yield TimedWork(f"{name}, {frozen}", work(part, free, FEW.steps), own, few / part)
        if plan.against and own != "float32":
            exact = Workload(self.reference, workload.count).rebuilding(timed, guidance)
            yield TimedWork(f"{OURS}, float32", exact, "float32", scale)
        for way, (precision, sampler) in self.published.items():
            full, one = (
                partial(sampler.rebuild, workload.noised(steps), steps, workload.x, theirs)
                for steps in (timed, 1)
            )
            yield TimedWork(way, full, precision, scale, one)

    def _dda(self, workload: Workload, guided: Iterable[TimingRow]) -> Iterator[TimingRow]:
        """DDA end to end: its guided steps, the noising before and the label after."""
        work = {OURS: workload.ends()}
        work |= {way: workload.ends(sampler) for way, (_, sampler) in self.published.items()}
        ends = best_seconds(work, self.plan.repeats, self.models.device)
        for row in guided:
            if row.way in ends:
                whole = row.seconds + ends[row.way] / workload.count
                yield TimingRow("dda", row.way, row.precision, row.batch, whole, memory=row.memory)

    def _timed(self, task: Task, workload: Workload, ways: Iterable[TimedWork]) -> list[TimingRow]:
        self.bar.set_description(f"{task}, batch {workload.count}")
        known, device = {way.way: way for way in ways}, self.models.device
        memory = {name: peak_bytes(w.memory, device) for name, w in known.items() if w.memory}
        taken = best_seconds(
            {name: w.work for name, w in known.items()},
            self.plan.repeats,
            device,
            self.plan.enough,
            lambda share: self.bar.update(share * workload.count),
        )
        each = {name: taken[name] * w.scale / workload.count for name, w in known.items()}
        share = each[NETWORKS] / each[OURS] if NETWORKS in each else None
        return [
            TimingRow(
                task=task,
                way=name,
                precision=w.precision,
                batch=workload.count,
                seconds=each[name],
                networks=share if name == OURS else None,
                memory=memory.get(name),
            )
            for name, w in known.items()
        ]


def _with_ratios(rows: Iterable[TimingRow]) -> list[TimingRow]:
    """How much faster than the published way each is; DGA + G and DGA+ are held against DDA."""
    slow = {(row.task, row.batch): row.seconds for row in rows if row.way == PUBLISHED}
    return [
        dataclasses.replace(row, faster=base / row.seconds)
        if (base := slow.get((WHOLE.get(row.task, row.task), row.batch)))
        else row
        for row in rows
    ]


def to_text(report: BenchReport) -> str:
    """The table and, below it, what it was measured on."""
    shown = [_shown(row) for row in report.rows]
    cells = [[*shown[0]], *([*row.values()] for row in shown)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
    plan = report.plan
    enough = f", or of fewer that took {plan.enough:g} s" if plan.enough else ""
    notes = [
        f"{report.profile} on {report.device}, {report.threads} threads; {plan.steps} steps an "
        f"image, {plan.timed} of them timed; the best of {plan.repeats}{enough}.",
        "faster: than the published way in float32; DGA + G and DGA+ are held against DDA at "
        f"{plan.steps} steps.",
    ]
    return "\n".join([*lines, "", *notes])


def _shown(row: TimingRow) -> dict[str, str]:
    """A line of the table, by column; a dash where nothing was measured."""
    return {
        "task": row.task,
        "batch": str(row.batch),
        "way": row.way,
        "precision": row.precision,
        "s an image": f"{row.seconds:.4f}",
        "networks": "-" if row.networks is None else f"{row.networks:.0%}",
        "memory": "-" if row.memory is None else f"{row.memory / 2**30:.2f} GiB",
        "faster": "-" if row.faster is None else f"{row.faster:.1f} x",
    }


def write(report: BenchReport, out: Path, command: str = "") -> list[Path]:
    """``bench.csv`` and ``bench.json`` in ``out``; returns their paths."""
    out.mkdir(parents=True, exist_ok=True)
    table, facts = out / "bench.csv", out / "bench.json"
    content = dataclasses.asdict(report)
    pd.DataFrame(content["rows"], dtype=object).to_csv(table, index=False)
    write_json(facts, {"command": command, **content, "versions": versions()})
    return [table, facts]
