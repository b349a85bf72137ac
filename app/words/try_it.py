"""The words of Try it besides its screen's and the sentences of :mod:`dga.sentences`."""

from __future__ import annotations

from dga.titles import PLAIN

EXAMPLE_TITLES = {
    "cat": "Cat",
    "horse": "Horse",
    "lake": "Lake",
    "lion": "Lion",
}
OWN_PICTURE = "Your picture"
YOUR_DEPTH = "Your depth"

INPUT_WORDS = {
    "picture": "Picture",
    "alt": "The chosen picture",
    "examples": "Photographs",
    "recorded": "Examples",
    "upload": "Upload your own picture",
    "other_ways": "Or drop it here, or paste it: Ctrl V, ⌘ V.",
    "corruption": "Corruption",
    "as_is": "None: repair my picture as it is",
    "severity": "Severity",
    "seed": "Seed",
    "advanced": "Seed, deepest allowed, guidance, tries",
    "adapt": "Repair it",
    "cancel": "Cancel",
    "change": "Change",
    "sheet": "Picture and damage",
    "close": "Close",
    "present": "Present",
    "none": "No picture",
}
ADVANCED = {  # title, help
    "max_depth": ("Deepest allowed", "How far noise may go in if the curve never crosses."),
    "scale": (
        "Guidance strength λ",
        "How strongly guidance keeps the damaged picture's shapes. Paper's models: {paper}.",
    ),
    "paths": ("Tries", "The curve is their mean; the band is their spread."),
}
DOWNLOAD_WORDS = {
    "gone": "This run is no longer kept on the server: press Repair it to make it again.",
    "failed": "The server could not write this file; please try again later.",
}
# Kind of file: title, kind as a word.
DOWNLOADS = {
    "pictures": ("All pictures, pixel by pixel", "ZIP"),
    "curve": ("Confidence curve", "CSV"),
    "run": ("Run and settings", "JSON"),
}

LINK_NOTICES = {
    "unknown": "The link's {name} “{value}” was not understood: {fallback} is used instead.",
    "unknown_run": "There is no recorded run “{value}” here.",
    "no_picture": "This link was made with someone's own picture, which links never hold. "
    "Its settings are shown with another one: choose yours.",
    "gone": "Your picture is no longer kept on the server, so another one is shown: "
    "choose yours again.",
}
LINK_PARTS = {name: title.lower() for name, (title, _) in ADVANCED.items()}
LINK_PARTS |= {"image": "picture", "tau": "τ", "dda": "fixed depth"}
LINK_USUAL = {"method": PLAIN["dga-guided"], "depth": "the detector's own"}

PROGRESS = {
    "forward": "Noise in, {done} of {total}",
    "paths": "Noise in, try {path} of {paths}: {done} of {total}",
    "reverse": "{method}: noise out, {done} of {total}",
    "explaining": "Looking for the damage, {done} tried",
    "every": "Trying every depth, {done} of {total}",
}
UNKNOWN = {  # why a method is looked at from a depth
    "own": "At τ {tau} it would stop at depth {t}; what comes out there has not been computed.",
    "hand": "Depth {t} was chosen by hand; what comes out there has not been computed.",
    "fixed": "What comes out at the fixed depth {t} has not been computed.",
}
AS_IT_CAME = "as it came"
DAMAGE = "{corruption}, severity {severity}"
FAINT = "Colours that had become so faint do not all come back."
CANCELLED = "What was finished is kept."
NOTICES = {
    "busy": "Others are being served: press a frame's button to wait your turn.",
    "slow": "This machine is slow at it: press a frame's button to begin.",
    "nothing": "There is no finished run of yours to look further into: press Repair it.",
}
