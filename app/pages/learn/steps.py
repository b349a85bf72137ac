"""The words of the guided walk. ``{...}`` is filled in by the page's script."""

from __future__ import annotations

from dataclasses import dataclass

from app.pages.learn.equations import equation
from app.words.common import STRAYED
from app.words.errors import GONE


@dataclass(frozen=True)
class Step:
    """One step; ``latex``, ``spoken`` and ``reading``: its equation, as heard, and explained.

    ``function``: the one that computes it.
    """

    widget: str
    short: str
    title: str
    text: str
    try_it: str
    latex: str
    spoken: str
    reading: str
    function: str

    @property
    def equation(self) -> str:
        """As MathML; a line is an equation of its own."""
        lines = zip(self.latex.splitlines(), self.spoken.splitlines(), strict=True)
        return "".join(equation(*line) for line in lines)


STEPS = (
    Step(
        "meet",
        "The trouble",
        "A frozen classifier meets a damaged picture",
        "A classifier is a network that says what a picture shows. This one is frozen: nobody may "
        "train it again. A little damage that hardly disturbs you can make it see something else.",
        "Raise the severity and watch its three likeliest answers.",
        r"\hat{y} = \underset{c}{\text{arg max}} \; f(\mathbf{x})_c",
        "y hat is the class c with the largest f of x",
        "The classifier f gives every class c a probability. Its answer ŷ is the likeliest one.",
        "dga.networks.classifier.predict",
    ),
    Step(
        "film",
        "Noise goes in",
        "Noise drowns the damage before it drowns the picture",
        "Diffusion begins by spoiling the picture: each step takes a little contrast away and adds "
        "a little noise. The depth t counts the steps. Fine damage disappears first.",
        "Both pictures get the same noise. Go deeper until they look alike to you.",
        r"\mathbf{x}_t = \sqrt{α_t} \mathbf{x}_{t-1} + \sqrt{1 - α_t} ε_t",
        "x t is a little less of x t minus 1, plus a little noise epsilon t",
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
        r"D(\mathbf{x}_t) = P(\text{corrupted} \mid \mathbf{x}_t, t)",
        "D of x t is the probability that the picture is corrupted, given x t and t",
        "D(x<sub>t</sub>) is how sure the detector is that the picture under the noise is damaged.",
        "dga.discriminator.curve",
    ),
    Step(
        "stop",
        "When to stop",
        "Stop as soon as the damage no longer shows",
        "Too little noise leaves damage in, too much takes the picture away. The rule: stop at "
        "t*, the first depth where the detector's confidence, how sure it is of damage, is below "
        "a threshold τ.",
        "Move the threshold τ and watch where the noise stops.",
        r"t^* = \text{min} \{ t : D(\mathbf{x}_t) < τ \}",
        "t star is the first t at which D of x t is below tau",
        "t* is the smallest depth t at which the confidence is below τ. No network is asked again "
        "when τ moves.",
        "dga.stopping.choose_depth",
    ),
    Step(
        "reverse",
        "Noise comes out",
        "A picture is rebuilt, one step at a time",
        "A diffusion model learnt from good pictures what noise on top of one looks like. At "
        "each step it guesses the noise, takes a little of it away, and looks again.",
        "Go through the steps: the picture and the guess meet in the end.",
        r"\hat{\mathbf{x}}_0 = "
        r"\frac{\mathbf{x}_t - \sqrt{1 - \bar{α}_t} ε_θ(\mathbf{x}_t, t)}{\sqrt{\bar{α}_t}}"
        "\n"
        r"\mathbf{x}_{t-1} ∼ 𝒩(μ_θ(\mathbf{x}_t, t), Σ_θ(\mathbf{x}_t, t))",
        "x hat 0 is x t less the noise that the network sees, scaled back\n"
        "x t minus 1 is drawn from a normal distribution that the network describes",
        "ε<sub>θ</sub> is the noise that the network sees, x̂<sub>0</sub> its guess at the finished "
        "picture. The next state is drawn around a mean μ<sub>θ</sub> between x<sub>t</sub> and "
        "x̂<sub>0</sub>, with a spread Σ<sub>θ</sub>.",
        "dga.diffusion.reverse",
    ),
    Step(
        "guide",
        "Staying close",
        "Guidance keeps the coarse shapes",
        "What noise has drowned, the model makes up. Coarse shapes survive most damage: so at each "
        "step the guess, blurred, is pulled towards the input, blurred. λ says how hard.",
        "Compare no pull, the usual one, and one four times as hard.",
        r"\mathbf{x}_{t-1} \leftarrow \mathbf{x}_{t-1} - "
        r"λ \nabla_{\mathbf{x}_t} \| φ(\mathbf{x}_{\text{in}}) - φ(\hat{\mathbf{x}}_0) \|_2",
        "from x t minus 1 is taken lambda times the gradient of the distance "
        "between the low-pass filtered input and the low-pass filtered x hat 0",
        "φ is the blur: four times smaller, then four times larger. The gradient ∇ says how to "
        "change x<sub>t</sub> so that the two blurred pictures come closer.",
        "dga.guidance.StructuralGuide",
    ),
    Step(
        "toy",
        "Be the repairer",
        "Be the repairer: find out what was done to it",
        "A diagnosis guesses what was done to the picture: made flat, blurred or noisy. It undoes "
        "each guess and asks the detector. The one that looks least damaged afterwards is chosen, "
        "if it is clearly better than none.",
        "Move the three sliders, or drag on the map. Then compare yourself.",
        r"\hat{d} = \underset{d}{\text{arg min}} \; \sum_t z(d^{-1}(\mathbf{x})_t)",
        "d hat is the guess d with the lowest sum, over depths t, of the score z of the "
        "picture with d undone, at depth t",
        "d is a guess and d<sup>−1</sup> what undoes it. z is the detector's score before it "
        "becomes a probability, here at three depths. d̂ is the diagnosis; “nothing” keeps a "
        "head start.",
        "dga.explanation.search.judge",
    ),
    Step(
        "level",
        "Noise level",
        "A noisy picture is on its way already",
        "The noise level says how strong the noise in a picture is: its standard deviation, where "
        "black is −1 and white is 1. Noise that is there need not be added: the picture enters at "
        "the depth that has as much.",
        "Choose a severity, then go deeper until both look equally noisy.",
        r"\mathbf{x} = \mathbf{x}_0 + σ ε \; \to \; "
        r"k_0 = \text{min} \{ k : \sqrt{(1 - \bar{α}_k) / \bar{α}_k} ≥ σ \}",
        "x is x 0 plus sigma times noise; k 0 is the first depth k at which the noise, "
        "relative to the picture, is at least sigma",
        "σ is the noise level, measured in the picture's finest details. k<sub>0</sub> is the "
        "depth at which it enters; t* is looked for from there on.",
        "dga.explanation.noise_level.matched_depth",
    ),
    Step(
        "plus",
        "Diagnosis",
        "What can be undone need not be rebuilt",
        "With diagnosis, what was found is undone first. What then still looks damaged is noised "
        "to t*, less the noise that is in it already, and rebuilt. A wrong diagnosis can do harm.",
        "",
        r"\mathbf{x} \to \hat{d}^{-1}(\mathbf{x}) \to \mathbf{x}_{t^*} \to \mathbf{x}'_0",
        "x becomes the picture with d hat undone, then x at t star, then x prime 0",
        "Undo the diagnosis d̂, noise what is left to depth t*, rebuild. At depth 0 nothing is "
        "rebuilt. τ and the deepest depth allowed are others than in step 4.",
        "dga.pipeline.run",
    ),
    Step(
        "depth",
        "All together",
        "A depth of its own, one depth for all, or a diagnosis",
        "Where the damage is deep, the rebuilt picture is a guess, and the guess can be wrong. "
        "These are only four pictures.",
        "Compare the three ways: only the last begins with a diagnosis.",
        r"\mathbf{x} \to \mathbf{x}_{t^*} \to \mathbf{x}'_0 \to "
        r"\hat{y} = \text{arg max} \; f(\mathbf{x}'_0)",
        "x becomes x at t star, then x prime 0, and f gives the answer y hat",
        "Noise to depth t*, rebuild, then ask the frozen classifier again. With diagnosis, "
        "what was found is undone before.",
        "dga.pipeline.adapt",
    ),
)

TITLE = "How it works, in ten steps"
LEAD = "Move with the arrow keys ← →, or with the buttons. F fills the screen."
WHERE, LEAVE = "{n} of {of}", "<kbd>Esc</kbd> leave"  # where a step fills the screen
PREVIOUS = "Back"
NEXT = "Next"
CONTENTS = "Steps"
EQUATION = "The equation, and the code that computes it"
COMPUTED_BY = "Computed by"
GO_ON = (
    'Now try it: <a href="./">one picture</a>, <a href="./board">all fifteen kinds of damage</a>'
    ', or see <a href="./findings">what holds for many pictures</a>.'
)
FAILED = "The models could not make this: {problem}"
IN_THE_LOG = "the server's log says why."

TOO_SLOW = "This machine is too slow to answer while you choose."
NO_PICTURE = "The models have not made this picture yet. Try again in a moment."
LAND_WAITS = "The models are busy: the map goes on when they are free."

TOY = {
    "case": "Picture",
    "undamaged": "Undamaged",
    "yours": "Yours",
    "network": "Network's",
    "covered": "covered",
    "exposure": "Exposure",
    "sharpness": "Sharpness",
    "noise": "Noise",
    "as_is": "as it is",
    "none": "none",
    "gain": "×{value}",
    "pixels": "{value} px",
    "again": "Start over",
    "dial": "How sure the detector is that it is damaged",
    "no_answer": "The detector did not answer. Move a slider to ask again.",
    "read": "Yours is read as {label} ({share}){verdict}.",
    "network_read": "The network's: {label} ({share}){verdict}.",
    "verdicts": [": wrong", ": right"],
    "land": "Map: what the detector thinks of every setting",
    "land_at": "(noise: {noise})",
    "land_best": "With this noise it looks least damaged with exposure {exposure} and "
    "sharpness {sharpness}: {share} sure of damage.",
    "across": "exposure",
    "up": "sharpness, px",
    "against": "You against the network",
    "show": "Show the network's choice",
    "hide": "Hide the network's choice",
    "not_yet": "Undo what you can, then look what the network chose.",
    "did": "In {calls} tries the network chose: {did}. The map shows {points}, so ✚ need not "
    "stand where it is lightest.",
    "did_nothing": "The network found nothing here that is worth undoing.",
    "judged": "What looks less damaged to the detector need not look better to you, nor be read "
    "right.",
}
WIDGET = {
    "toy": TOY,
    "waiting": "The models are making this…",
    "lost": GONE,
    "strayed": STRAYED + "step 1 is shown instead.",
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
    "found": "{you} of {of}",
    "down_to_guessing": "At depths {from} to {to} you found {you} of {of}; guessing finds half. "
    "The network, on the same pairs: {network}.",
    "never_guessing": "Each of your bars is higher than guessing, which finds half.",
    "take": "Bars are yours; the network's line comes after the twelfth pair.",
    "line": "The line: the network on all twelve pairs at every depth.",
    "high": "looks damaged",
    "low": "looks undamaged",
    "tau": "Threshold τ",
    "stop": "At τ = {tau} the noise stops after {t} of {steps} steps.",
    "stop_zero": "At τ = {tau} the detector is not sure enough that it is damaged: it is left as "
    "it is.",
    "stop_never": "The confidence does not fall below τ = {tau} by depth {max}, the deepest that "
    "is allowed. The noise goes to depth {t}.",
    "stop_left": "The confidence does not fall below τ = {tau} even by depth {horizon}. "
    "The picture is left as it is.",
    "rule": "Where the confidence is not below τ by depth {max}, the noise goes "
    "to {max}, the deepest that is allowed{unless}.",
    "rule_unless": "; where it is not by {horizon} either, the picture is left as it is",
    "stop_alt": "The damaged picture at depth {t}",
    "x_t": "The picture",
    "x0": "The guess at the finished one",
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
    "gap": "Distance between the two, both blurred: {gap}. The rebuilt one is read as {label}, "
    "{share}.",
    "swings": "In {n} of {steps} steps the guess went past the input and had to be pulled back: "
    "the pull is as strong for a small distance as for a large one.",
    "severity_of": "Severity of the noise",
    "noisy": "Noisy, as it came",
    "level": "At depth {t} the noise level is {ratio}. In the noisy picture {level} was measured: "
    "it enters at depth {entry}.",
    "undone": "Undone",
    "repaired": "Repaired",
    "plus_score": "Read right as they came: {before} of these {total}. With diagnosis: {n}.",
    "own": "A depth of its own",
    "fixed": "One depth for all: {fixed}",
    "plus": "With diagnosis",
    "fixed_depth": "depth {t}",
    "same": "right",
    "other": "wrong",
    "score": "Read right: {n} of these {total}.",
    "method": "Method",
}
