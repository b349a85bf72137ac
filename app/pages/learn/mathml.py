"""A few functions that write MathML, which browsers draw without any script or network."""

from __future__ import annotations


def equation(*parts: str, label: str) -> str:
    """A displayed equation; ``label`` is what a screen reader says."""
    return (
        f'<math display="block" role="math" aria-label="{label}">'
        f"<mrow>{''.join(parts)}</mrow></math>"
    )


def name(text: str) -> str:
    """A symbol, in italics."""
    # As plain letters: the slanted ones of mathematics are missing from most text fonts.
    return f'<mi mathvariant="normal" class="symbol">{text}</mi>'


def bold(text: str) -> str:
    """A picture: upright and bold, as in the paper."""
    return f'<mi mathvariant="normal" class="picture">{text}</mi>'


def number(value: float) -> str:
    """A number."""
    return f"<mn>{value:g}</mn>"


def sign(text: str) -> str:
    """An operator, a bracket or a comma."""
    return f"<mo>{text}</mo>"


def words(text: str) -> str:
    """Plain words."""
    return f"<mtext>{text}</mtext>"


def row(*parts: str) -> str:
    """Parts that stand for one."""
    return f"<mrow>{''.join(parts)}</mrow>"


def sub(base: str, index: str) -> str:
    """With an index."""
    return f"<msub>{base}{index}</msub>"


def sup(base: str, index: str) -> str:
    """With a raised mark."""
    return f"<msup>{base}{index}</msup>"


def both(base: str, index: str, mark: str) -> str:
    """With an index and a raised mark."""
    return f"<msubsup>{base}{index}{mark}</msubsup>"


def under(base: str, index: str) -> str:
    """With a condition below."""
    return f"<munder>{base}{index}</munder>"


def hat(base: str) -> str:
    """An estimate."""
    return _accent(base, "\N{MODIFIER LETTER CIRCUMFLEX ACCENT}")


def bar(base: str) -> str:
    """With a bar above."""
    return _accent(base, "\N{MACRON}")


def _accent(base: str, mark: str) -> str:
    return f'<mover accent="true">{base}<mo stretchy="false">{mark}</mo></mover>'


def root(*parts: str) -> str:
    """A square root."""
    return f"<msqrt>{''.join(parts)}</msqrt>"


def ratio(top: str, bottom: str) -> str:
    """A fraction."""
    return f"<mfrac>{top}{bottom}</mfrac>"


def of(function: str, *arguments: str) -> str:
    """A function of some arguments."""
    return row(function, sign("("), sign(",").join(arguments), sign(")"))
