"""The equations of the guided walk, in the paper's symbols."""

from __future__ import annotations

from app.pages.learn.mathml import (
    bar,
    bold,
    both,
    equation,
    hat,
    name,
    number,
    of,
    ratio,
    root,
    row,
    sign,
    sub,
    sup,
    under,
    words,
)

MINUS, TIMES = sign("\N{MINUS SIGN}"), sign("\N{INVISIBLE TIMES}")
T, ONE, ZERO = name("t"), number(1), number(0)
X_T = sub(bold("x"), T)
X_BEFORE = sub(bold("x"), row(T, MINUS, ONE))
X0_HAT = sub(hat(bold("x")), ZERO)
X0_NEW = both(bold("x"), ZERO, sign("\N{PRIME}"))
T_STAR = sup(T, sign("*"))
ALPHA = sub(name("\N{GREEK SMALL LETTER ALPHA}"), T)
ALPHA_BAR = sub(bar(name("\N{GREEK SMALL LETTER ALPHA}")), T)
NORMAL = name("\N{MATHEMATICAL SCRIPT CAPITAL N}")
PHI = name("φ")


def classifier() -> str:
    """The frozen classifier's answer."""
    choice = under(words("arg max"), name("c"))
    return equation(
        hat(name("y")), sign("="), choice, sub(of(name("f"), bold("x")), name("c")),
        label="y hat is the class c with the largest f of x",
    )  # fmt: skip


def forward() -> str:
    """One step of the forward process."""
    kept = row(root(ALPHA), TIMES, X_BEFORE)
    noise = row(root(ONE, MINUS, ALPHA), TIMES, sub(name("ε"), T))
    return equation(
        X_T, sign("="), kept, sign("+"), noise,
        label="x t is a little less of x t minus 1, plus a little noise epsilon t",
    )  # fmt: skip


def discriminator() -> str:
    """What the discriminator says."""
    probability = row(
        name("P"), sign("("), words("corrupted"), sign("\N{DIVIDES}"), X_T, sign(","), T, sign(")")
    )
    return equation(
        of(name("D"), X_T), sign("="), probability,
        label="D of x t is the probability that the picture is corrupted, given x t and t",
    )  # fmt: skip


def stopping() -> str:
    """The rule that chooses the depth."""
    condition = row(T, sign(":"), of(name("D"), X_T), sign("&lt;"), name("τ"))
    return equation(
        T_STAR, sign("="), words("min"), sign("{"), condition, sign("}"),
        label="t star is the first t at which D of x t is below tau",
    )  # fmt: skip


def reverse() -> str:
    """The clean estimate, and one step back."""
    noise = row(
        root(row(ONE, MINUS, ALPHA_BAR)), TIMES,
        of(sub(name("ε"), name("θ")), X_T, T),
    )  # fmt: skip
    estimate = ratio(row(X_T, MINUS, noise), root(ALPHA_BAR))
    mean, spread = (of(sub(name(letter), name("θ")), X_T, T) for letter in "μΣ")
    return equation(
        X0_HAT, sign("="), estimate,
        label="x hat 0 is x t less the noise that the network sees, scaled back",
    ) + equation(
        X_BEFORE, sign("\N{TILDE OPERATOR}"), of(NORMAL, mean, spread),
        label="x t minus 1 is drawn from a normal distribution that the network describes",
    )  # fmt: skip


def guidance() -> str:
    """The pull towards the input's coarse shapes."""
    gap = row(of(PHI, sub(bold("x"), words("in"))), MINUS, of(PHI, X0_HAT))
    norm = sub(row(sign("‖"), gap, sign("‖")), number(2))
    pull = row(name("λ"), TIMES, sub(sign("∇"), X_T), norm)
    return equation(
        X_BEFORE, sign("←"), X_BEFORE, MINUS, pull,
        label="from x t minus 1 is taken lambda times the gradient of the distance "
        "between the low-pass filtered input and the low-pass filtered x hat 0",
    )  # fmt: skip


def whole() -> str:
    """All of it: noise to the picture's own depth, rebuild, classify."""
    answer = row(hat(name("y")), sign("="), words("arg max"), of(name("f"), X0_NEW))
    to_depth = sub(bold("x"), T_STAR)
    return equation(
        bold("x"), sign("→"), to_depth, sign("→"), X0_NEW, sign("→"), answer,
        label="x becomes x at t star, then x prime 0, and f gives the answer y hat",
    )  # fmt: skip
