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


CLASSIFIER = equation(
    r"\hat{y} = \underset{c}{\text{arg max}} \; f(\mathbf{x})_c",
    "y hat is the class c with the largest f of x",
)
FORWARD = equation(
    r"\mathbf{x}_t = \sqrt{α_t} \mathbf{x}_{t-1} + \sqrt{1 - α_t} ε_t",
    "x t is a little less of x t minus 1, plus a little noise epsilon t",
)
DISCRIMINATOR = equation(
    r"D(\mathbf{x}_t) = P(\text{corrupted} \mid \mathbf{x}_t, t)",
    "D of x t is the probability that the picture is corrupted, given x t and t",
)
STOPPING = equation(
    r"t^* = \text{min} \{ t : D(\mathbf{x}_t) < τ \}",
    "t star is the first t at which D of x t is below tau",
)
REVERSE = equation(
    r"\hat{\mathbf{x}}_0 = "
    r"\frac{\mathbf{x}_t - \sqrt{1 - \bar{α}_t} ε_θ(\mathbf{x}_t, t)}{\sqrt{\bar{α}_t}}",
    "x hat 0 is x t less the noise that the network sees, scaled back",
) + equation(
    r"\mathbf{x}_{t-1} ∼ 𝒩(μ_θ(\mathbf{x}_t, t), Σ_θ(\mathbf{x}_t, t))",
    "x t minus 1 is drawn from a normal distribution that the network describes",
)
GUIDANCE = equation(
    r"\mathbf{x}_{t-1} \leftarrow \mathbf{x}_{t-1} - "
    r"λ \nabla_{\mathbf{x}_t} \| φ(\mathbf{x}_{\text{in}}) - φ(\hat{\mathbf{x}}_0) \|_2",
    "from x t minus 1 is taken lambda times the gradient of the distance "
    "between the low-pass filtered input and the low-pass filtered x hat 0",
)
WHOLE = equation(
    r"\mathbf{x} \to \mathbf{x}_{t^*} \to \mathbf{x}'_0 \to "
    r"\hat{y} = \text{arg max} \; f(\mathbf{x}'_0)",
    "x becomes x at t star, then x prime 0, and f gives the answer y hat",
)
