"""Numbers as people read them: shares, percentages, differences."""

MINUS, SPACE = "\N{MINUS SIGN}", "\N{NO-BREAK SPACE}"


def format_share(share: float) -> str:
    """A share of 1 in whole percent: 0.914 is ``91 %``.

    Halves go up, but 0.995 to below 0.9995 is ``99 %``: what is not certain is not called so.
    """
    whole = int(100 * share + 0.5)
    return f"{99 if whole == 100 and share < 0.9995 else whole}{SPACE}%"


def format_percentage(value: float) -> str:
    """A percentage with one decimal: 40.04 is ``40.0 %``."""
    return f"{value:.1f}{SPACE}%"


def format_signed(value: float, digits: int = 1) -> str:
    """A number with its sign (a true minus): ``+4.8``; ``0.0`` has none."""
    text = f"{value:+.{digits}f}".replace("-", MINUS)
    return text[1:] if float(f"{value:.{digits}f}") == 0 else text
