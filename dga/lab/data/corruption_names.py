"""Corruptions as they are typed: by name, and in groups."""

from collections.abc import Collection

from dga.corruptions import CLEAN, CORRUPTIONS, EVERYDAY, EXTRA_CORRUPTIONS, FAMILIES, NAMES
from dga.io.parsing import split_list

SUBSETS = {
    "all": CORRUPTIONS,
    **FAMILIES,
    "extra": EXTRA_CORRUPTIONS,
    "everyday": EVERYDAY,
}


def check_corruptions(names: Collection[str]) -> None:
    """Raise ``ValueError`` unless every name is known and there is at least one."""
    unknown = sorted(set(names) - set(NAMES))
    if unknown or not names:
        problem = f"Unknown corruption {unknown[0]!r}." if unknown else "No corruption is named."
        raise ValueError(f"{problem} Choose {', '.join(SUBSETS)} or some of: {', '.join(NAMES)}.")


def parse_corruptions(text: str, clean: bool = False) -> tuple[str, ...]:
    """Comma-separated groups (all, a family, extra, everyday) and names, in the package's order.

    ``clean``: whether the word ``clean`` may be among them; it comes first. Raises
    ``ValueError`` naming what is allowed.
    """
    parts = split_list(text)
    first = (CLEAN,) if clean and CLEAN in parts else ()
    chosen = {name for part in parts if part not in first for name in SUBSETS.get(part, (part,))}
    if chosen or not first:
        check_corruptions(chosen)
    return first + tuple(name for name in NAMES if name in chosen)
