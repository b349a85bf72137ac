"""Property-based fuzzing of uploads: ``python -m tests.fuzz.uploads --minutes 10``.

Good and hostile pictures are cut, spliced and changed in places where lengths and sizes stand.
Whatever comes of it is opened: the result is a picture or one clear sentence, and memory stays
within 1 GB of the idle process. A file that breaks this is kept and named; so is the last one
before a crash (``--folder``).
"""

from __future__ import annotations

import argparse
import struct
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.fuzz.corpus import MAX_MB, forget_peak, memory_mb, try_file
from tests.fuzz.files import corpus, seeds

MAX_START = 200_000  # bytes of a file to begin with
BATCH = 500
SIZES = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 0x80000000, 12_000, 50_000)
NUMBERS = [
    struct.pack(form, size & (256 ** struct.calcsize(form) - 1))
    for form in ("<B", "<H", ">H", "<I", ">I")
    for size in SIZES
]


@dataclass
class Fuzzing:
    """What was tried so far. ``folder`` keeps what broke the promise."""

    folder: Path
    verdicts: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    def try_bytes(self, data: bytes) -> None:
        """One file; raises ``AssertionError`` where the promise does not hold."""
        path = self.folder / "last.png"
        path.write_bytes(data)
        verdict, said = try_file(path)
        self.verdicts[verdict] += 1
        if verdict == "failed":
            copy = self.folder / f"broken-{len(self.broken)}"
            copy.write_bytes(data)
            self.broken.append(f"{copy}: {said}")
        assert verdict != "failed", said


@st.composite
def mutated(draw: st.DrawFn, good: list[bytes], hostile: list[bytes]) -> bytes:
    """A file with one to six changes; as often a good one, which decoders follow further."""
    data = bytearray(draw(st.sampled_from(good) | st.sampled_from(hostile)))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data)))
        change = draw(st.sampled_from(("number", "cut", "copy", "splice", "insert")))
        if change == "number":
            number = draw(st.sampled_from(NUMBERS))
            data[at : at + len(number)] = number
        elif change == "cut":
            del data[at : at + draw(st.integers(1, 64))]
        elif change == "copy":
            data[at:at] = data[at : at + draw(st.integers(1, 64))] * draw(st.integers(1, 40))
        elif change == "splice":
            other = draw(st.sampled_from(good + hostile))
            data[at:] = other[draw(st.integers(0, len(other))) :]
        else:
            data[at:at] = draw(st.binary(min_size=1, max_size=64))
    return bytes(data)


def run(fuzzing: Fuzzing, examples: int, number: int | None = None) -> None:
    """Try so many files; ``number`` seeds the choice, None repeats the same ones always."""
    long = ("bomb-", "meta-", "animated-")
    hostile = [make() for name, make in corpus().items() if not name.startswith(long)]
    good = [make() for make in seeds().values()]

    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=number is None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(mutated(good, [data for data in hostile if len(data) <= MAX_START]))
    def attempt(data: bytes) -> None:
        fuzzing.try_bytes(data)

    (attempt if number is None else seed(number)(attempt))()


def main() -> None:
    """Entry of the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0, help="of the first batch")
    parser.add_argument("--folder", type=Path, help="that exists, for broken files")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="fuzz-"))
    fuzzing, number = Fuzzing(folder), options.seed
    run(fuzzing, 50)
    idle, end = memory_mb("VmRSS"), time.monotonic() + 60 * options.minutes
    forget_peak()
    while time.monotonic() < end:
        try:
            run(fuzzing, BATCH, number)
        except AssertionError as error:
            print(f"batch {number}: {error}", flush=True)
        number += 1
    peak = memory_mb("VmHWM") - idle
    print(f"{dict(fuzzing.verdicts)}; at most {peak:.0f} MB above idle")
    print("\n".join(fuzzing.broken) or f"nothing kept in {folder}")
    raise SystemExit(bool(fuzzing.broken) or peak > MAX_MB)


if __name__ == "__main__":
    main()
