"""Numbers as people read them: shares, percentages, differences."""

MINUS, SPACE = "\N{MINUS SIGN}", "\N{NO-BREAK SPACE}"


def format_share(share: float) -> str:
    """Write a share of 1 in whole percent: 0.914 is ``91 %``.

    Halves are rounded up. Only 0.9995 and more is ``100 %``, so that what is not certain does not
    look certain.
    """
    whole = int(100 * share + 0.5)
    return f"{99 if whole == 100 and share < 0.9995 else whole}{SPACE}%"


def count_pictures(count: int) -> str:
    """Write how many pictures: ``1 picture``, ``1,200 pictures``."""
    return f"{count:,} picture{'s' * (count != 1)}"


def format_percentage(value: float) -> str:
    """Write a percentage with one decimal: 40.04 is ``40.0 %``."""
    return f"{value:.1f}{SPACE}%"


def format_signed(value: float) -> str:
    """Write a number with one decimal and its sign (a true minus): ``+4.8``; ``0.0`` has none."""
    text = f"{value:+.1f}".replace("-", MINUS)
    return text[1:] if float(f"{value:.1f}") == 0 else text
