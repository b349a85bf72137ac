"""The pictures on which a profile's settings were chosen, by name."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def tune_pictures(profile: str) -> frozenset[str]:
    """File names, without their endings, of the split ``tune``; empty where there is none.

    They belong to the project's own validation set: the first 500 by SHA-256 of the file name.
    """
    path = Path(__file__).with_name(f"{profile}-tune.txt")
    return frozenset(path.read_text("utf-8").split()) if path.exists() else frozenset()
