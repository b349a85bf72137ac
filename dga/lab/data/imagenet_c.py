"""ImageNet's folders of wnids, and ImageNet-C as released: corruption/severity/wnid/picture."""

import re
from collections.abc import Collection
from pathlib import Path

from dga.corruptions import CORRUPTIONS, EXTRA_CORRUPTIONS, SEVERITIES
from dga.lab.data.corruption_names import SUBSETS

WNID = re.compile(r"n\d{8}")


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


def list_conditions(root: Path) -> list[tuple[str, int]]:
    """Every (corruption, severity) that a folder in ImageNet-C's layout holds."""
    names = CORRUPTIONS + EXTRA_CORRUPTIONS
    pairs = ((name, severity) for name in names for severity in SEVERITIES)
    return [pair for pair in pairs if find_condition(root, *pair) is not None]
