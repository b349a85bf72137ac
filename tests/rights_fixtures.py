"""File modes that also hold for root, who otherwise may read and write everything."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

VERSION = 0x20080522  # of the kernel's interface, with two words of each set
OVERRIDES = 0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH


@contextmanager
def plain_rights() -> Iterator[None]:
    """In this thread, and in what it starts, a file's owner has the rights its mode says."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        yield
        return
    header = (ctypes.c_uint32 * 2)(VERSION, 0)
    before = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.capget(header, before) == 0
    fewer = (ctypes.c_uint32 * 6)(*before)
    fewer[0] &= ~OVERRIDES
    assert libc.capset(header, fewer) == 0
    try:
        yield
    finally:
        assert libc.capset(header, before) == 0


def drop_rights() -> None:
    """For good, and in whatever program is started next: for a child process to call."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (1, 2):  # the two above, out of the bounding set
            assert libc.prctl(24, capability, 0, 0, 0) == 0
