"""Parsing text that a user types, or refusing it in one sentence; text for such sentences."""

from collections.abc import Iterable, Sequence


def split_list(text: str) -> tuple[str, ...]:
    """Split a text at commas, without blanks around the parts and without empty parts."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def parse_numbers(what: str, text: str) -> tuple[int, ...]:
    """Parse whole numbers between commas. Raises ``ValueError`` naming ``what`` for other text."""
    parts = split_list(text)
    if not parts or not all(map(str.isdecimal, parts)):
        raise ValueError(f"{what} look like 0,10,20, not {text!r}.")
    return tuple(map(int, parts))


def parse_share(text: str) -> float:
    """Parse a percentage, such as 5% or 2.5, to a share of 1.

    Raises ``ValueError`` for other text and outside of 0 to 100.
    """
    try:
        percent = float(text.rstrip("% "))
    except ValueError:
        percent = -1.0
    if not 0 <= percent <= 100:
        raise ValueError(f"A share looks like 5%, from 0% to 100%, not {text!r}.")
    return percent / 100


def first_names(names: Sequence[str], count: int) -> str:
    """Join the first ``count`` names in one line, and say how many more there are."""
    more = f" and {len(names) - count} more" if len(names) > count else ""
    return ", ".join(map(to_printable, names[:count])) + more


def to_printable(text: str) -> str:
    """Escape line breaks, control characters and what a terminal cannot show."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def check_choice(what: str, value: str, allowed: Iterable[str]) -> None:
    """Raise ``ValueError``, which lists ``allowed``, if ``value`` is not among them."""
    choices = tuple(allowed)
    if value not in choices:
        raise ValueError(f"Unknown {what} {value!r}. Choose one of: {', '.join(choices)}.")


def shorten(text: str, most: int) -> str:
    """Shorten a text to ``most`` characters, the last of which is then an ellipsis."""
    return text if len(text) <= most else text[: most - 1] + "…"


def to_one_line(error: BaseException) -> str:
    """The message of an error in one line of at most 300 characters; else its type's name."""
    return shorten(" ".join(str(error).split()) or type(error).__name__, 300)


def first_line(error: BaseException) -> str:
    """The first line of an error's message, at most 160 characters; else its type's name."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return shorten(lines[0].rstrip("."), 160)
