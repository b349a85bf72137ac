"""The words of the page of fifteen corruptions."""

from __future__ import annotations

from dga.titles import SYSTEMS

SUBJECTS = {
    "lion": "One lion",
    "cheetah": "One cheetah",
    "cat": "One cat",
    "coffee": "One cup of coffee",
    "bus": "One bus",
}
OWN = "Your picture"
OTHER = "One picture"

HEADINGS = {
    "empty": "{subject}, damaged in fifteen ways. How many can be put right?",
    "running": "{subject}, damaged in fifteen ways: {before} labelled correctly so far.",
    "part": "{subject}: of {done} rebuilt, {before} labelled correctly before, {after} after.",
    "done": "{subject}, damaged in fifteen ways: "
    "{before} labelled correctly before, {after} after.",
    "running_damaged": "{subject}, damaged in fifteen more ways.",
    "part_damaged": "{subject}: of {done} rebuilt, {changed} changed their label.",
    "done_damaged": "{subject}, damaged in fifteen more ways: rebuilding changed {changed} of "
    "{done} labels.",
}
LEAD = (
    "Left of each pair: the corrupted picture and its label. Right: rebuilt by {method}. "
    "The bar is the depth {depth}."
)
DEPTH_CHOSEN = "at which the discriminator stopped"
DEPTH_FIXED = "that {method} always takes"
REFERENCE = "Correct means: the label of the undamaged picture, {label} ({share})."
NO_REFERENCE = "The undamaged picture is not known, so nothing here can be called correct."
WILL_HAPPEN = {
    "dga-guided": "Press Run all fifteen: each picture is noised until the discriminator no longer "
    "sees the damage, then rebuilt with guidance from there.",
    "dga": "Press Run all fifteen: each picture is noised until the discriminator no longer "
    "sees the damage, then rebuilt freely from there.",
    "dda": "Press Run all fifteen: each picture is noised to the same fixed depth, "
    "then rebuilt with guidance from there.",
    "dga-plus": "Press Run all fifteen: of each picture, simple damage is undone first; "
    "only the rest is noised and rebuilt.",
}

METHODS = {name: SYSTEMS[name] for name in ("dga-guided", "dga", "dda", "dga-plus")}
ORDERS = {"family": "Family", "depth": "Depth", "gain": "Gain"}
VERDICTS = {
    "corrected": "Corrected",
    "still-wrong": "Still wrong",
    "made-wrong": "Made wrong",
    "still-right": "Still right",
    "changed": "Changed",
    "unchanged": "Unchanged",
}

PICTURE = "Picture"
UPLOAD = "Own picture"
DAMAGED = "Already damaged"
SEVERITY = "Severity"
METHOD = "Method"
ORDER = "Order"
RUN = "Run all fifteen"
CANCEL = "Cancel"
TABLE = "Table (CSV)"

STATUS = {
    "empty": "Nothing has been computed yet.",
    "waiting": "Waiting for the models",
    "read": "Reading the labels",
    "forward": "Forward: {done} of {total} pictures have their depth",
    "reverse": "Reverse: step {done} of {total}",
    "done": "All fifteen in {seconds}",
}
CANCELLED = (
    "Cancelled. {done} of {total} pictures were rebuilt; press Run all fifteen to start again."
)
TOO_LONG = (
    "The run took longer than {seconds:.0f} seconds and was stopped; "
    "a lower severity needs fewer steps."
)

WELL = "rebuilt picture"
NOT_FINISHED = "not finished"
OF = "of {steps}"
AS_IT_IS = "left as it is"
INVERSE = "the inverse alone"
AT_MAXIMUM = "the maximum"
FIXED = "fixed"
CORRUPTED_ALT = "{title}, corrupted{label}"
REBUILT_ALT = "{title}, rebuilt{label}"
UNDER_WAY_ALT = "{title}, being rebuilt"
DEPTH_ALT = "Depth {depth} of {steps}"

NOTE_LINK = "Select a card to open it on the Adapt page with the same picture, severity and seed."
NOTE_OWN = "Own pictures are not part of any link, so these cards do not open on the Adapt page."
NOTE_DOT = (
    "Filled dot: the discriminator stopped there. Hollow dot: it was still sure, and the picture "
    "went to the maximum depth or, if no depth hides the damage, was left as it is."
)
NOTE_DOT_PLUS = (
    "Filled dot: the discriminator stopped there, on noise that begins with the picture's own. "
    "Hollow dot: it was still sure."
)
NOTE_FIXED = "DDA asks no discriminator: every picture goes to the same depth."
NOTE_GAIN = "Gain: how much more likely rebuilding made the undamaged picture's label."
NOTE_SETTINGS = ("Seed {seed}", "Threshold τ {tau:.2f}", "Maximum depth {depth}")
NOTE_SETTINGS_PLUS = (
    "Seed {seed}",
    "Threshold τ {tau:.2f}, on noise {noise_tau:.2f}",
    "At most {depth} deeper than its own noise",
)
NOTE_SETTINGS_FIXED = ("Seed {seed}", "Fixed depth {depth}")

CSV_COLUMNS = (
    "corruption",
    "family",
    "severity",
    "seed",
    "method",
    "depth",
    "crossed",
    "label_before",
    "probability_before",
    "label_after",
    "probability_after",
    "label_undamaged",
    "probability_undamaged",
    "verdict",
)
