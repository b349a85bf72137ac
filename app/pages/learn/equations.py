"""The equations of the guided walk, in the paper's symbols, as MathML: no script draws them."""

from __future__ import annotations

import re

from latex2mathml.converter import convert


def equation(latex: str, label: str) -> str:
    """A displayed equation; ``label`` is what a screen reader says.

    Pictures (bold x) and other symbols get classes. They stand in plain letters: the slanted
    and bold ones of mathematics are missing from most text fonts.
    """
    math = convert(latex, display="block")
    head = f'<math display="block" role="math" aria-label="{label}">'
    math = re.sub("<math [^>]*>", head, math, count=1)
    math = math.replace("<mo>&#x0005E;</mo>", '<mo stretchy="false">ˆ</mo>')  # smaller
    math = math.replace("<mi>&#x1D431;</mi>", '<mi mathvariant="normal" class="picture">x</mi>')
    math = re.sub(r"<mi>(\w)</mi>", r'<mi mathvariant="normal" class="symbol">\1</mi>', math)
    return re.sub("<mi>(.*?)</mi>", r"<mo>\1</mo>", math)  # a colon, a prime
