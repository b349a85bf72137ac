"""The words of the guided walk. ``{...}`` is filled in by the page's script."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.pages.learn import equations
from dga.diffusion import denoise_step, forward_path
from dga.discriminator import curve
from dga.guidance import structural_guide
from dga.networks.classifier import predict
from dga.pipeline import adapt
from dga.stopping import choose_depth


@dataclass(frozen=True)
class Step:
    """One step: ``try_it`` says what to do, ``reading`` puts the equation into words."""

    widget: str
    short: str
    title: str
    text: tuple[str, ...]
    try_it: str
    equation: str
    reading: str
    function: Callable[..., object]


STEPS = (
    Step(
        "meet",
        "The trouble",
        "A frozen classifier meets a damaged picture",
        (
            "A classifier was trained on good pictures. Now it is frozen: nobody may train it "
            "again.",
            "A little damage that hardly disturbs you can make it see something else, and it can "
            "be quite sure of that.",
            "We cannot change the classifier. So let us change the picture.",
        ),
        "Raise the severity and watch the three likeliest classes.",
        equations.CLASSIFIER,
        "The classifier f gives every class c a probability. Its answer ŷ is the likeliest one.",
        predict,
    ),
    Step(
        "film",
        "Noise goes in",
        "Noise drowns the damage before it drowns the picture",
        (
            "Diffusion begins by spoiling. At each of 100 steps the picture loses a little "
            "contrast, and a little random noise is added. This is the forward process.",
            "Both pictures here get exactly the same noise. Fine damage disappears in it first, "
            "coarse shapes last.",
            "How many steps were made is called the depth, t.",
        ),
        "Go deeper until you can no longer say which picture was damaged.",
        equations.FORWARD,
        "x<sub>t</sub> is the picture at depth t, ε<sub>t</sub> fresh noise. The share "
        "\N{GREEK SMALL LETTER ALPHA}<sub>t</sub>, a little less than 1, is how much of the "
        "power step t keeps. All shares multiplied, ᾱ<sub>t</sub>, fall from 1 to almost 0.",
        forward_path,
    ),
    Step(
        "judge",
        "A second opinion",
        "The discriminator asks the same question",
        (
            "You have just compared two pictures. In use there is only one, and nobody knows "
            "whether it is damaged.",
            "So a second network, the discriminator, was trained to tell noised damaged pictures "
            "from noised good ones. Its confidence runs from 0, “looks like a good picture”, "
            "to 1, “looks damaged”.",
            "As noise goes in, the damage goes under. Deep down both curves meet near 0.5: there "
            "nobody can tell any more.",
        ),
        "Move along the depths and compare the two curves.",
        equations.DISCRIMINATOR,
        "D(x<sub>t</sub>) is how sure the discriminator is that the picture under the noise "
        "is damaged.",
        curve,
    ),
    Step(
        "stop",
        "When to stop",
        "Stop as soon as the damage no longer shows",
        (
            "Too little noise leaves damage in. Too much noise takes the picture away. We want "
            "just enough.",
            "The rule: stop at the first depth where the confidence is below a threshold τ. "
            "That depth is called t*.",
            "Moving τ only reads the same curve again. No network is asked.",
        ),
        "Drag the dashed line, or use the slider below it. t* follows.",
        equations.STOPPING,
        "t* is the smallest depth t at which the confidence is below τ.",
        choose_depth,
    ),
    Step(
        "reverse",
        "Noise comes out",
        "A picture is rebuilt, one step at a time",
        (
            "A diffusion model learnt one thing from very many good pictures: what noise looks "
            "like on top of one.",
            "At each step it sees a noisy picture and guesses the noise. Taken away at once, that "
            "guess gives a clean estimate. But we take away only a little, and look again.",
            "After t* steps we are back at depth 0. Whatever drowned in the noise was filled in "
            "from what good pictures look like.",
        ),
        "Step through it. Left: the state. Right: what the network believes is under the noise.",
        equations.REVERSE,
        "ε<sub>θ</sub> is the noise that the network sees, x̂<sub>0</sub> its clean estimate. The "
        "next state is drawn around a mean μ<sub>θ</sub> between x<sub>t</sub> and "
        "x̂<sub>0</sub>, with a spread Σ<sub>θ</sub>.",
        denoise_step,
    ),
    Step(
        "guide",
        "Staying close",
        "Guidance keeps the coarse shapes",
        (
            "A free rebuild may wander off: from deep noise, one plausible picture is as good as "
            "another.",
            "Damage is mostly fine detail, and coarse shapes survive it. So at every step we blur "
            "the input and the clean estimate in the same way, and pull them together.",
            "λ says how hard we pull. Too hard brings the damage back.",
        ),
        "Switch λ on and off. The small pictures are what the pull compares.",
        equations.GUIDANCE,
        "φ is the blur: four times smaller, then four times larger. The gradient ∇ says how to "
        "change x<sub>t</sub> so that the two blurred pictures come closer.",
        structural_guide,
    ),
    Step(
        "depth",
        "All together",
        "A depth of its own for each picture, and what that cannot do",
        (
            "Every picture gets the noise that it needs: some none, some a little, some as much "
            "as is allowed. Older methods use one depth for all.",
            "It is no magic. Where the damage is deep, the rebuilt picture is a guess, and the "
            "guess can be wrong.",
            "Weather is the hardest: frost and snow are large, coarse things. Noise cannot hide "
            "them without hiding the picture too. Then leaving it alone is the best we can do.",
        ),
        "Compare a depth of its own with one depth for all.",
        equations.WHOLE,
        "Noise to depth t*, rebuild, then ask the frozen classifier again.",
        adapt,
    ),
)

TITLE = "How it works, in seven steps"
LEAD = "Move with the arrow keys ← →, or with the buttons."
STEP_OF = "Step {n} of {total}"
PREVIOUS = "Back"
NEXT = "Next"
CONTENTS = "Steps"
COMPUTED_BY = "Computed by"
GO_ON = (
    'Now try it: <a href="./">one picture</a>, <a href="./fifteen">all fifteen corruptions</a>, '
)
GO_ON += 'or <a href="./analysis">how well it does on many</a>.'
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
    "judged": "At depth {t} the discriminator is {damaged} sure that the damaged picture is "
    "damaged, and {clean} sure that the undamaged one is.",
    "axis": "Confidence",
    "high": "looks damaged",
    "low": "looks good",
    "tau": "Threshold τ",
    "stop": "At τ = {tau} the forward process stops after {t} of {steps} steps.",
    "stop_zero": "At τ = {tau} the picture already looks good: it is left as it is.",
    "stop_never": "The confidence does not fall below τ = {tau} by depth {max}, the deepest that "
    "is allowed. The noise goes to depth {t}.",
    "stop_left": "The confidence does not fall below τ = {tau} even by depth {horizon}. "
    "The picture is left as it is.",
    "stop_alt": "The damaged picture at depth {t}",
    "state": "x at depth {t}",
    "x_t": "State",
    "x0": "Clean estimate",
    "step": "Step",
    "step_now": "Step {step} of {steps}: depth {t}.",
    "step_first": "Depth {t}, where the discriminator stopped. Nothing is taken away yet.",
    "step_last": "Depth 0, after {steps} steps: the rebuilt picture.",
    "no_steps": "The discriminator stopped at depth 0, so there is nothing to rebuild.",
    "play": "Play",
    "pause": "Pause",
    "lambda": "Guidance",
    "lambda_off": "λ = 0, off",
    "lambda_on": "λ = {scale}",
    "input": "Input",
    "rebuilt": "Rebuilt",
    "coarse_input": "φ of the input",
    "coarse_rebuilt": "φ of the rebuilt",
    "gap": "Distance between the two blurred pictures: {gap}. The rebuilt picture: {label}, "
    "{share}.",
    "own": "A depth of its own",
    "fixed": "One depth for all: {fixed}",
    "own_depth": "t* = {t}",
    "own_left": "left as it is",
    "fixed_depth": "depth {t}",
    "undamaged_label": "undamaged: {label}",
    "same": "the label of the undamaged picture",
    "other": "another label than the undamaged picture's",
    "score": "{n} of {total} have the label of their undamaged picture.",
    "method": "Depth",
}
