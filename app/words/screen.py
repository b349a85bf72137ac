"""The words of Try it that no run changes: titles, buttons, axes. Sentences: ``try_it``."""

from __future__ import annotations

from app.words.errors import GONE
from app.words.try_it import YOUR_DEPTH
from dga.titles import PLAIN, SYSTEMS

# With guidance or without is one frame, and one name.
_NAMES = PLAIN | {"dga": PLAIN["dga-guided"]}
_WHY = (
    "Noise hides damage, and a diffusion model rebuilds what it hid: "
    "too little keeps the damage, too much loses the {kind}."
)
# {depth}, {kind}, ... are filled in by the page's script.
SCREEN_WORDS = {
    "codes": SYSTEMS,
    "short": {"clean": "Undamaged", "noised": "Noised", **_NAMES},
    "tiny": {
        "clean": "true",
        "damaged": "damaged",
        "noised": "noised",
        "dga": "own",
        "dga-guided": "own",
        "dga-plus": "diagnosed",
        "dda": "fixed",
    },
    "lines": {"dga": "Unguided", "dga-guided": "Guided"},
    "own_unguided": "Own depth, unguided",
    "gloss": {
        "dga": "chosen for this picture",
        "dga-guided": "chosen for this picture",
        "dga-plus": "damage looked for first",
        "dda": "the same for all pictures",
        "hand": "chosen by you",
        "diagnosed_hand": "diagnosed, then your depth",
    },
    "guided": "guided",
    "unguided": "unguided",
    "guidance": "Guidance keeps the damaged picture's coarse shapes: on or off",
    "row": "Pictures",
    "timeline": "Depth by depth",
    "your_depth": YOUR_DEPTH,
    "truth": "the truth",
    "came": "As it came",
    "right": "right",
    "wrong": "wrong",
    "noised_to": "Noised to depth {depth}",
    "enters": "Enters at depth {depth}",
    "repair_by": {
        "dga": "Repair from its own depth",
        "dga-guided": "Repair from its own depth",
        "dga-plus": "Repair with a diagnosis",
        "dda": "Repair from the fixed depth",
    },
    "no_noise": "After the diagnosis no noise was needed",
    "own_noise": "With diagnosis another picture is noised: not shown at a depth by hand",
    "same": "same",
    "not_made": "Not part of this run",
    "covered": "What will the classifier say?",
    "empty": "Choose a picture.",
    "opening": "",
    "damaged": "This is the damaged picture. Nothing has been repaired yet.",
    "as_it_came": "This is the picture as it came. Nothing has been repaired yet.",
    "forward": "Noise goes in, and the detector looks at every depth.",
    "reverse": "Noise goes out again, step by step.",
    "cancelled": "Stopped before the end.",
    "error": "Nothing was repaired.",
    "lost": GONE,
    "waiting": "Waiting",
    # The opening.
    "opens_wrong": "The classifier reads it as {label}: wrong.",
    "opens_right_first": "The classifier reads it as {label}: right.",
    "opens_noise": "Noise goes in until the detector can no longer tell.",
    "opens_stop": "Stop: it can't tell any more.",
    "opens_right": "Rebuilt from there, it is read as {label}: right.",
    "opens_fixed": "A fixed depth noises every picture alike: to depth {depth}.",
    "opens_too_deep": "Here that is too deep. It is read as {label}: wrong.",
    "opens_plus": "With a diagnosis first it is surer: {label} ({share}).",
    "opens_drag": "Drag ▲ Fixed depth: which would you take?",
    # The timeline.
    "play": "Play all",
    "play_short": "Play",
    "pause": "Pause",
    "lane1_lines_desk": ["How sure the detector is", "that it is damaged"],
    "lane1_lines": ["How sure the", "detector is", "that it is", "damaged"],
    "dashed": "Dashed: τ. Stop below it.",
    "dotted": "Dotted: after the stop.",
    "band": "Band: {n} tries.",
    "high": "looks damaged",
    "cannot": "can't tell",
    "low": "looks undamaged",
    "chance": "Confidence in {kind},",
    "from_this": "if rebuilt from here (%)",
    "from_here": " if rebuilt from here (%)",
    "right_here": "right, if rebuilt from here",
    "never_right": "right from no depth",
    "compute": "Try every depth",
    "recorded": "A recorded run.",
    "recorded_of": "A recorded example, looked for: {lesson}. Of {of} tries with other noise, "
    "right are: own depth {own}, with diagnosis {plus}, fixed depth {dda}.",
    "kinds": "Seen at {side} × {side} pixels as one of {n} kinds of things. "  # noqa: RUF001
    "Photo repairs it at its own size.",
    "kind": "What does your picture show?",
    "unnamed": "not said",
    "why": {
        "dga": _WHY,
        "dga-guided": _WHY,
        "dga-plus": "The exposure, blur and noise that are found are undone first; "
        "noise hides what is left of the damage.",
        "dda": "Every picture gets the same noise: too much for some, too little for others.",
    },
    "picture": "picture",
    "noise_in": "Noise goes in",
    "depth": "depth",
    "at_depth": "depth {depth}",
    "back": "✕ Back to {pill}",
    "fixed_at": "Fixed depth {depth}",
    "fixed_short": "fixed {depth}",
    "tau": "Threshold τ",
    "stop": "Depth from which it is rebuilt",
    "fixed": "Fixed depth",
    "detail": "Confidence",
    "detail_help": "How sure the classifier is of the right name, if rebuilt from each depth",
    "share": "Share",
    "copy": "Copy link",
    "copied": "Copied",
    "zoom": "Picture, enlarged",
    "zoom_help": "Hold the picture, or Space, to see the damaged one in its place. "
    "← → go to the next.",
    "close": "Close",
    "keys": {
        "Space": "play",
        "← → 0": "depth, back",
        "1 to 5": "severity",
        "R": "repair",
        "M": "next method",
        "G": "guidance",
        "N": "next example",
        "C": "cover",
        "D": "dark",
    },
    "leave": "leave",
}
