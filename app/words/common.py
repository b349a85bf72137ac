"""Words that several pages share."""

from __future__ import annotations

from dga.titles import SYSTEMS

TITLE = "DGA"
TAGLINE = "Repair a damaged picture with just enough noise"
SKIP = "Skip to the content"
KINDS = ("knows ", "{n} kinds of things", " · {size} &times; {size} px")  # a phone: the second
PAPER = "Paper"
DESCRIPTION = (
    "Repair a damaged picture with just enough noise: discriminator-guided adaptive diffusion, "
    "live in the browser, with every depth, three methods and what was measured."
)
FOOTER = "Runs on this machine. Uploaded pictures are deleted within an hour."
PAGES = (  # name, path
    ("Try it", ""),
    ("Board", "fifteen"),
    ("Findings", "findings"),
    ("Learn", "learn"),
)
RESULTS_TITLE = "Six pictures, one classifier"
SAME_LABEL = "agrees with the clean picture"
OTHER_LABEL = "does not"
SEED_HELP = "The seed fixes the corruption and all the noise: the same seed gives the same result."
NO_CORRUPTION = "none"
CARD_TITLES = {
    "input": "Corrupted",
    "x_t_star": "x at t*",
    **{name: SYSTEMS[name] for name in ("dga", "dga-guided", "dda", "dga-plus")},
}
INPUT_TITLE = "Input"  # of a picture that was not corrupted here
CARD_NOTES = {
    "input": "What the classifier is given without any adaptation.",
    "x_t_star": "Noise has hidden the damage. Rebuilding starts here.",
    "dga": "Rebuilt freely from x at t*.",
    "dga-guided": "Rebuilt from x at t*, keeping the input's coarse shapes.",
    "dda": "Rebuilt with guidance from a fixed depth, whatever the picture.",
    "dga-plus": "Simple damage is undone first; only the rest is noised and rebuilt.",
}
CARD_WAITING = {
    "input": "The picture as it goes in",
    "x_t_star": "The picture plus noise",
    "dga": "Rebuilt freely",
    "dga-guided": "Rebuilt with guidance",
    "dda": "Rebuilt from a fixed depth",
    "dga-plus": "Explained, then rebuilt",
}
UNTOUCHED_NOTE = "t* = 0: already looks like source, so the picture is left as it is."
NEVER_CROSSED_NOTE = "Not below τ by the maximum depth, {depth}, so this starts there."
LEFT_NOTE = "No depth hides this damage, so the picture is left as it is."
INTERRUPTED = "Not finished"
RECORDED = "Recorded with the shipped models. Drag τ or scrub; Adapt runs it again."
PRESET_WORDS = {
    "title": "Recorded runs: choose one to look through it",
    "detail": "{picture}, {damage} {severity}",
}

# While a run waits in the queue
WAITING_PLACE = "Waiting, {place} in line"
ORDINALS = {1: "1st", 2: "2nd", 3: "3rd"}  # from 4 to 20, as many as may wait: "th"
