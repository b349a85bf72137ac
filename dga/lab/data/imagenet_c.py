"""Corruptions as they are typed, by name and in groups, and as folders: ImageNet-C as released.

Its layout is corruption/severity/wnid/picture.
"""

import re
from collections.abc import Collection
from pathlib import Path

from dga.corruptions import CLEAN, CORRUPTIONS, EVERYDAY, EXTRA_CORRUPTIONS, FAMILIES, NAMES
from dga.io.parsing import split_list

SUBSETS = {
    "all": CORRUPTIONS,
    **FAMILIES,
    "extra": EXTRA_CORRUPTIONS,
    "everyday": EVERYDAY,
}

WNID = re.compile(r"n\d{8}")


def check_corruptions(names: Collection[str]) -> None:
    """Raise ``ValueError`` unless every name is known and there is at least one."""
    unknown = sorted(set(names) - set(NAMES))
    if unknown or not names:
        problem = f"Unknown corruption {unknown[0]!r}." if unknown else "No corruption is named."
        raise ValueError(f"{problem} Choose {', '.join(SUBSETS)} or some of: {', '.join(NAMES)}.")


def parse_corruptions(text: str, has_clean: bool = False) -> tuple[str, ...]:
    """Comma-separated groups (all, a family, extra, everyday) and names, in the package's order.

    ``has_clean``: whether the word ``clean`` may be among them; it comes first. Raises
    ``ValueError`` naming what is allowed.
    """
    parts = split_list(text)
    first = (CLEAN,) if has_clean and CLEAN in parts else ()
    chosen = {name for part in parts if part not in first for name in SUBSETS.get(part, (part,))}
    if chosen or not first:
        check_corruptions(chosen)
    return first + tuple(name for name in NAMES if name in chosen)


def are_wnid_folders(folders: Collection[str]) -> bool:
    """Whether folders are named after ImageNet's classes, as in n01440764."""
    return bool(folders) and all(WNID.fullmatch(name) for name in folders)


def find_condition(root: Path, corruption: str, severity: int) -> Path | None:
    """Where a data set in ImageNet-C's layout keeps one condition; ``None`` if it has not.

    The released archives may have been unpacked side by side or a folder a family.
    """
    places = (root, *(root / group for group in SUBSETS))
    folders = (place / corruption / str(severity) for place in places)
    return next((folder for folder in folders if folder.is_dir()), None)
