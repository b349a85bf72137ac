"""Text that a user types, parsed or refused in one sentence, and text for such sentences."""

from collections.abc import Iterable, Sequence


def split_list(text: str) -> tuple[str, ...]:
    """The parts between commas, stripped; empty ones are left out."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def parse_numbers(what: str, text: str) -> tuple[int, ...]:
    """Whole numbers between commas. Raises ``ValueError`` for anything else, naming ``what``."""
    parts = split_list(text)
    if not parts or not all(map(str.isdecimal, parts)):
        raise ValueError(f"{what} look like 0,10,20, not {text!r}.")
    return tuple(map(int, parts))


def parse_share(text: str) -> float:
    """A percentage, such as 5% or 2.5, as a share of 1. Raises ``ValueError`` beyond 0 to 100."""
    try:
        percent = float(text.rstrip("% "))
    except ValueError:
        percent = -1.0
    if not 0 <= percent <= 100:
        raise ValueError(f"A share looks like 5%, from 0% to 100%, not {text!r}.")
    return percent / 100


def first_names(names: Sequence[str], count: int) -> str:
    """The first names for a sentence of one line, and how many more there are."""
    more = f" and {len(names) - count} more" if len(names) > count else ""
    return ", ".join(map(to_printable, names[:count])) + more


def to_printable(text: str) -> str:
    """The text in one line, with escapes for what a terminal would obey or could not show."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def check_choice(what: str, value: str, allowed: Iterable[str]) -> None:
    """Raise ``ValueError`` naming what is allowed, if ``value`` is something else."""
    choices = tuple(allowed)
    if value not in choices:
        raise ValueError(f"Unknown {what} {value!r}. Choose one of: {', '.join(choices)}.")


def shorten(text: str, most: int) -> str:
    """The first ``most`` characters, of which the last is an ellipsis if there were more."""
    return text if len(text) <= most else text[: most - 1] + "…"


def to_one_line(error: BaseException) -> str:
    """An error's message, for a sentence, its start if it is long; without one its type's name."""
    return shorten(" ".join(str(error).split()) or type(error).__name__, 300)


def first_line(error: BaseException) -> str:
    """The first line of an error's message, for a sentence; without one its type's name."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return shorten(lines[0].rstrip("."), 160)
