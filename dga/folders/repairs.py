"""Many photographs, each repaired once at its own size."""

import functools
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from dga.folders.picture_folder import PictureFolder, Worker
from dga.folders.records import Line
from dga.folders.workers import TaskMap
from dga.io.numbers import count_pictures


@dataclass
class RepairSummary:
    """What became of pictures; each list has a sentence, or a part of one, for each picture."""

    there: int = 0
    """Pictures that an earlier run has repaired or left unchanged."""
    repaired: int = 0
    unchanged: int = 0
    losses: list[str] = field(default_factory=list)
    """What repaired files of this run lack."""
    unreadable: list[str] = field(default_factory=list)
    """Why pictures could not be read."""
    failed: list[str] = field(default_factory=list)
    """Why pictures could be read and not repaired."""

    @classmethod
    def of(cls, lines: Iterable[Line], new: Collection[str]) -> Self:
        """Count lines as they come. ``new``: the names of this run's pictures."""
        summary = cls()
        for line in lines:
            if "error" in line:
                (summary.failed if line["read"] else summary.unreadable).append(line["error"])
            elif line["path"] not in new:
                summary.there += 1
            else:
                summary.unchanged += line["unchanged"]
                summary.repaired += not line["unchanged"]
                if line["lost"]:
                    summary.losses.append(f"{line['path']}: {', '.join(line['lost'])}")
        return summary

    def __str__(self) -> str:
        """What became of them, in a sentence."""
        count = self.there + self.repaired + self.unchanged
        count += len(self.unreadable) + len(self.failed)
        return (
            f"{count_pictures(count)}: {self.repaired} repaired, {self.unchanged} left as they "
            f"were, {self.there} there already."
        )


def repair_all(
    folder: PictureFolder,
    worker: Worker,
    run: TaskMap[Any, Any],
    chosen: Collection[str] | None = None,
) -> RepairSummary:
    """Repair every picture of a folder, or the ``chosen`` ones; killed, the same call goes on.

    Repaired ones lie at ``out/PATH.png``, of several pages or frames with the ending of a format
    that holds them, and ``out/lines.jsonl`` has what was done. Raises ``ValueError`` for an ``out``
    with other files, of other pictures or settings, or in use by another process, and if no picture
    can be read; ``OSError`` where nothing can be written.
    """
    with folder.open(worker.describe_repair()):
        new = folder.work(functools.partial(worker.repair, folder.out), run, "Repair", chosen)
        return RepairSummary.of(folder.read_lines(), new)
