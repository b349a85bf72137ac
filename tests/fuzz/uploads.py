"""Pictures that are cut, spliced and changed in places where lengths and sizes stand."""

import struct
from functools import lru_cache

from hypothesis import strategies as st

from tests.fuzz.files import corpus, seeds

MAX_START = 200_000  # bytes of a file to begin with
SIZES = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 0x80000000, 12_000, 50_000)
NUMBERS = [
    struct.pack(form, size & (256 ** struct.calcsize(form) - 1))
    for form in ("<B", "<H", ">H", "<I", ">I")
    for size in SIZES
]


@lru_cache
def originals() -> tuple[list[bytes], list[bytes]]:
    """Good pictures and hostile ones, the small ones of both."""
    long = ("bomb-", "meta-")
    hostile = [make() for name, make in corpus().items() if not name.startswith(long)]
    return [make() for make in seeds().values()], [f for f in hostile if len(f) <= MAX_START]


@st.composite
def changed_files(draw: st.DrawFn) -> bytes:
    """A file with one to six changes; as often a good one, which decoders follow further."""
    good, hostile = originals()
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
