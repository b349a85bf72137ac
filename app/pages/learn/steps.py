"""The words of the guided walk. ``{...}`` is filled in by the page's script."""

from __future__ import annotations

from dataclasses import dataclass

from app.pages.learn.equations import equation


@dataclass(frozen=True)
class Step:
    """One step: what to do (``try_it``), its equation in words, the function that computes it."""

    widget: str
    short: str
    title: str
    text: str
    try_it: str
    equation: str
    reading: str
    function: str


STEPS = (
    Step(
        "meet",
        "The trouble",
        "A frozen classifier meets a damaged picture",
        "It was trained on good pictures, and nobody may train it again. A little damage that "
        "hardly disturbs you can make it see something else. So let us change the picture.",
        "Raise the severity and watch the three likeliest classes.",
        equation(
            r"\hat{y} = \underset{c}{\text{arg max}} \; f(\mathbf{x})_c",
            "y hat is the class c with the largest f of x",
        ),
        "The classifier f gives every class c a probability. Its answer ŷ is the likeliest one.",
        "dga.networks.classifier.predict",
    ),
    Step(
        "film",
        "Noise goes in",
        "Noise drowns the damage before it drowns the picture",
        "Diffusion begins by spoiling: at each step, each a depth t deeper, the picture loses "
        "a little contrast and gets a little noise. Fine damage disappears first.",
        "Both pictures get the same noise. Go deeper until they look alike to you.",
        equation(
            r"\mathbf{x}_t = \sqrt{α_t} \mathbf{x}_{t-1} + \sqrt{1 - α_t} ε_t",
            "x t is a little less of x t minus 1, plus a little noise epsilon t",
        ),
        "x<sub>t</sub> is the picture at depth t, ε<sub>t</sub> fresh noise. The share "
        "\N{GREEK SMALL LETTER ALPHA}<sub>t</sub>, a little less than 1, is how much of the "
        "power step t keeps. All shares multiplied, ᾱ<sub>t</sub>, fall from 1 to almost 0.",
        "dga.diffusion.forward_path",
    ),
    Step(
        "game",
        "Be the detector",
        "Be the detector",
        "The detector, or discriminator, is the network that looks for damage. Take its place: "
        "both got the same noise, one was damaged before.",
        "",
        equation(
            r"D(\mathbf{x}_t) = P(\text{corrupted} \mid \mathbf{x}_t, t)",
            "D of x t is the probability that the picture is corrupted, given x t and t",
        ),
        "D(x<sub>t</sub>) is how sure the detector is that the picture under the noise is damaged.",
        "dga.discriminator.curve",
    ),
    Step(
        "stop",
        "When to stop",
        "Stop as soon as the damage no longer shows",
        "Too little noise leaves damage in, too much takes the picture away. The rule: stop at "
        "t*, the first depth where the confidence is below a threshold τ.",
        "Move the threshold τ. t* follows; no network is asked.",
        equation(
            r"t^* = \text{min} \{ t : D(\mathbf{x}_t) < τ \}",
            "t star is the first t at which D of x t is below tau",
        ),
        "t* is the smallest depth t at which the confidence is below τ.",
        "dga.stopping.choose_depth",
    ),
    Step(
        "reverse",
        "Noise comes out",
        "A picture is rebuilt, one step at a time",
        "A diffusion model learnt from good pictures what noise on top of one looks like. At "
        "each step it guesses the noise, takes a little of it away, and looks again.",
        "Step through it. Left: the picture. Right: its guess at the finished picture.",
        equation(
            r"\hat{\mathbf{x}}_0 = "
            r"\frac{\mathbf{x}_t - \sqrt{1 - \bar{α}_t} ε_θ(\mathbf{x}_t, t)}{\sqrt{\bar{α}_t}}",
            "x hat 0 is x t less the noise that the network sees, scaled back",
        )
        + equation(
            r"\mathbf{x}_{t-1} ∼ 𝒩(μ_θ(\mathbf{x}_t, t), Σ_θ(\mathbf{x}_t, t))",
            "x t minus 1 is drawn from a normal distribution that the network describes",
        ),
        "ε<sub>θ</sub> is the noise that the network sees, x̂<sub>0</sub> its guess at the finished "
        "picture. The next state is drawn around a mean μ<sub>θ</sub> between x<sub>t</sub> and "
        "x̂<sub>0</sub>, with a spread Σ<sub>θ</sub>.",
        "dga.diffusion.reverse",
    ),
    Step(
        "guide",
        "Staying close",
        "Guidance keeps the coarse shapes",
        "From deep noise, one plausible picture is as good as another. Coarse shapes survive "
        "most damage: so the blurred guess is pulled towards the blurred input, as hard as λ "
        "says.",
        "Switch λ on and off.",
        equation(
            r"\mathbf{x}_{t-1} \leftarrow \mathbf{x}_{t-1} - "
            r"λ \nabla_{\mathbf{x}_t} \| φ(\mathbf{x}_{\text{in}}) - φ(\hat{\mathbf{x}}_0) \|_2",
            "from x t minus 1 is taken lambda times the gradient of the distance "
            "between the low-pass filtered input and the low-pass filtered x hat 0",
        ),
        "φ is the blur: four times smaller, then four times larger. The gradient ∇ says how to "
        "change x<sub>t</sub> so that the two blurred pictures come closer.",
        "dga.guidance.structural_guide",
    ),
    Step(
        "depth",
        "All together",
        "A depth of its own, or one depth for all",
        "Where the damage is deep, the rebuilt picture is a guess, and the guess can be wrong. "
        "These four show both; what holds for many was measured.",
        "Compare a depth of its own with one depth for all.",
        equation(
            r"\mathbf{x} \to \mathbf{x}_{t^*} \to \mathbf{x}'_0 \to "
            r"\hat{y} = \text{arg max} \; f(\mathbf{x}'_0)",
            "x becomes x at t star, then x prime 0, and f gives the answer y hat",
        ),
        "Noise to depth t*, rebuild, then ask the frozen classifier again.",
        "dga.pipeline.adapt",
    ),
)

TITLE = "How it works, in seven steps"
LEAD = "Move with the arrow keys ← →, or with the buttons."
PREVIOUS = "Back"
NEXT = "Next"
CONTENTS = "Steps"
EQUATION = "The equation, and the code that computes it"
COMPUTED_BY = "Computed by"
GO_ON = (
    'Now try it: <a href="./">one picture</a>, <a href="./board">all fifteen kinds of damage</a>'
    ', or <a href="./findings">what holds for many</a>.'
)
FAILED = "The models could not make this: {problem}"
IN_THE_LOG = "the server's log says why."

WIDGET = {
    "waiting": "The models are making this…",
    "severity": "Severity",
    "undamaged": "undamaged",
    "damage": "Damage",
    "picture_alt": "{title}, severity {severity}: the classifier says {label}",
    "depth": "Depth t",
    "clean": "Undamaged",
    "damaged": "Damaged",
    "film_alt": "{name} picture at depth {t}",
    "signal": "At depth {t}, {share} of the contrast is left.",
    "which": "Which one was damaged?",
    "round": "Round {n} of {of} · both at depth {t}",
    "answer_alt": "Picture {n} at depth {t}",
    "pick": "Picture {n}",
    "picked": "Picture {n}, your answer",
    "right": "Right: {damage}",
    "wrong": "It was this one: {damage}",
    "network_says": "The network, judging each by itself: picture 1 {first}, picture 2 {second}"
    "{end}.",
    "says_damaged": "looks damaged ({share})",
    "says_undamaged": "looks undamaged ({share} damaged)",
    "says_same": ", so it would have to guess",
    "you": "You",
    "network": "The network",
    "of_right": "{n} of {of} right",
    "next_round": "Next pair",
    "again": "Start again",
    "game_keys": "1 and 2 answer, Enter goes on",
    "found_axis": "found the damaged one, %",
    "depth_axis": "depth (noise added)",
    "guessing": "guessing",
    "down_to_guessing": "At depth {t} you found {you} of {of}, no better than guessing. "
    "The network, on the same pairs: {network}.",
    "never_guessing": "You did better than guessing at every depth you met, down to {t}.",
    "take": "The line is the network on all twelve pairs. The method has one picture, not two: it "
    "stops at the first depth where the network is no longer sure enough of damage. That is t*.",
    "high": "looks damaged",
    "low": "looks undamaged",
    "tau": "Threshold τ",
    "stop": "At τ = {tau} the forward process stops after {t} of {steps} steps.",
    "stop_zero": "At τ = {tau} the picture already looks undamaged: it is left as it is.",
    "stop_never": "The confidence does not fall below τ = {tau} by depth {max}, the deepest that "
    "is allowed. The noise goes to depth {t}.",
    "stop_left": "The confidence does not fall below τ = {tau} even by depth {horizon}. "
    "The picture is left as it is.",
    "stop_alt": "The damaged picture at depth {t}",
    "state": "x at depth {t}",
    "x_t": "The picture",
    "x0": "Its guess at the finished picture",
    "step": "Step",
    "step_now": "Step {step} of {steps}: depth {t}.",
    "step_first": "Depth {t}, where the detector stopped. Nothing is taken away yet.",
    "step_last": "Depth 0, after {steps} steps: the rebuilt picture.",
    "no_steps": "The detector stopped at depth 0, so there is nothing to rebuild.",
    "lambda": "Guidance",
    "lambda_off": "λ = 0, off",
    "lambda_on": "λ = {scale}",
    "input": "Input",
    "rebuilt": "Rebuilt",
    "gap": "Distance between the two blurred pictures: {gap}. The rebuilt picture: {label}, "
    "{share}.",
    "own": "A depth of its own",
    "fixed": "One depth for all: {fixed}",
    "fixed_depth": "depth {t}",
    "same": "right",
    "other": "wrong",
    "score": "{n} of these {total} are read right.",
    "method": "Depth",
}
