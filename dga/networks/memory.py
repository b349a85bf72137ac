"""How many pictures a device's memory holds at once."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch

_log = logging.getLogger(__name__)

Row = TypeVar("Row")
Item = TypeVar("Item")


@dataclass
class AdaptiveBatchSize:
    """``most``: pictures that fit at once; ``None`` until memory first ran out."""

    most: int | None = None

    def parts(
        self, rows: Sequence[Row], work: Callable[[Sequence[Row]], Iterator[Item]]
    ) -> Iterator[Item]:
        """What ``work`` yields for all rows, together or in as many parts as memory asks for.

        When memory runs out, the part is halved, a warning says so, and the smaller part is
        begun anew: what it yielded before comes again. Later calls begin with what fitted.
        Raises ``MemoryError`` if one row alone is too much.
        """
        rest = list(rows)
        while rest:
            part, shortage = rest[: self.most], None
            try:
                yield from work(part)
            except (RuntimeError, MemoryError) as error:
                if not is_shortage(error):
                    raise
                # The error holds the tensors of every frame it passed: only its words are kept.
                shortage = (str(error) or type(error).__name__).splitlines()[0]
            if shortage is None:
                rest = rest[len(part) :]
                continue
            if torch.cuda.is_initialized():
                torch.cuda.empty_cache()
            if len(part) == 1:
                raise MemoryError(
                    f"Not even one picture fits into memory ({shortage}). "
                    "Try --precision bfloat16, another --device, or guidance with "
                    "through_network=false."
                )
            self.most = len(part) // 2
            _log.warning(
                "Out of memory with %d pictures at once; going on with %d.", len(part), self.most
            )


def is_shortage(error: BaseException) -> bool:
    """Whether an error says that memory ran out, on any device."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    words = str(error).lower()
    return "out of memory" in words or "can't allocate memory" in words
