"""The words of the Board."""

from __future__ import annotations

from app.words.common import WHAT_DEPTH_IS
from dga.titles import PLAIN

SUBJECT = "One {title}"
PICTURE = "picture"
COLUMNS = PLAIN
ATLAS_METHODS = {"dga": "Unguided", "dga-guided": "Guided"}
AS_IT_CAME = "As it came"  # the first column of own pictures

HEADINGS = {
    "empty": "{subject}, damaged in {all} ways. How many can be put right?",
    "running": "{subject}, damaged in {all} ways.",
    "done": "{subject}, damaged in {all} ways: {damaged} read right before any repair, "
    "{guided} from its own depth, {plus} with diagnosis ({gained} gained, {lost} lost).",
    "own": "Up to {most} pictures of your own, each by every method.",
    "own_empty": "{pictures} of your own: press Run.",
    "own_run": "{pictures} of your own, each by every method.",
    "own_named": "{pictures} whose kind is named: {damaged} read right before any repair, "
    "{guided} from its own depth, {plus} with diagnosis ({gained} gained, {lost} lost).",
}
ATLAS = {  # of one example, or of own pictures whose kind is named
    "empty": "{subject}, damaged in {all} ways. At which depths is it read right?",
    "own_empty": "{pictures} of your own. What is read at each depth?",
    "own": "Up to {most} pictures of your own, each rebuilt from every depth.",
    "own_run": "{pictures} of your own: what is read at each depth.",
    "done": "{subject}, damaged in {all} ways: {told}",
    "own_named": "{pictures} whose kind is named: {told}",
}
COUNTED = "{own} right at {whose} own depth, {than} at depth {depth}. Possible: {best}."
MORE, EQUAL, FEWER = "more than the {fixed}", "as many as", "fewer than the {fixed}"
ITS, THEIR = "its", "their"
RIGHT = f"Right means: read as what it is, {{truth}}. {{also}} {WHAT_DEPTH_IS}"
OPEN = '<span class="by-mouse">Point at a picture for what it was read as; click to open it in '
OPEN += 'Try it.</span><span class="by-touch">Touch a picture to open it in Try it.</span>'
POSSIBLE = "Possible: right from at least one depth."
RIGHT_OWN = "Right means: read as the kind that you named."
UNNAMED = "What a picture shows is not known until you name it: without that nothing is called "
UNNAMED += "right or wrong."
UNNAMED_ATLAS = "What a picture shows is not known until you name it under Pictures: until then "
UNNAMED_ATLAS += "colour says how sure the reading is, not whether it is right."
PRESS = "Press Run all {all}: every picture by four methods, in one run."
PRESS_ATLAS = "Press Run: every picture is noised to each depth from 0 to {deepest} and rebuilt "
PRESS_ATLAS += "from there, a row at a time."
PICTURES = {1: "One picture"}
MORE_PICTURES = "{count} pictures"

TOTAL = "of {known} right"
TOTAL_NONE = "not named"
REASONS = {
    "damaged": "before any repair",
    "dga": "own depth, coarse shapes not kept",
    "crossed": "{n} stopped by the detector",
    "maximum": "{n} at the deepest",
    "left": "{n} left alone",
    "repaired": "{n} repaired",
    "fixed": "all from depth {depth}",
}
UNDER = {
    "crossed": "depth {depth}",
    "maximum": "depth {depth}, the deepest",
    "left": "left as it is",
    "hopeless": "too sure: left alone",
}
HOW = {
    "damaged": "before any repair",
    "crossed": "stopped at depth {depth}",
    "maximum": "the detector did not stop by {depth}, the deepest allowed",
    "left": "the detector is not sure of damage: left as it is",
    "hopeless": "the detector is too sure of damage at any depth: left alone",
    "dda": "fixed depth {depth}",
    "same": "fixed depth {depth}: the same picture as from its own",
}
EXPLAINED = {"impulses": "single wrong pixels"}  # kinds of damage whose name does not do
INVERSE = "diagnosed as {damage}"
NOT_EXPLAINED = "rebuilt from depth {depth}"
LEFT = "left as it is"

LABELS = {
    "change": "Change",
    "severity": "Severity",
    "view": "Show",
    "pictures": "Pictures",
    "atlas": "Atlas",
    "method": "Method",
    "fixed": "Fixed depth {depth}",
    "drag": "fixed depth: drag it",
    "own_column": "own",
    "range": "depths right",
    "at_each": "Right at this depth",
    "of": "of {known}",
    "depth": "depth",
    "own_depth": "own depth",
    "count": "right",
    "possible": "possible",
    "legend_right": "read right, the surer the stronger",
    "legend_wrong": "wrong, likewise",
    "legend_sure": "no kind named: the surer the stronger",
    "unsure": "still sure of damage at {deepest}, the deepest allowed (at 0: too sure, left alone)",
    "open": "Open in Try it",
    "own": "Own pictures",
    "table": "Table (CSV)",
    "zip": "Pictures (ZIP)",
    "right": "read as what it is",
    "wrong": "read as something else",
    "under": "Under a name: where the detector stopped",
    "name": "name it",
    "pending": "being rebuilt",
    "empty": "not rebuilt yet",
    "drop": "Choose up to {most} pictures of your own, or drop them here",
    "dropped": "Damaged or not; a row each. They stay on this machine for at most an hour. "
    "What a picture shows can be in its file's name: {kind}.jpg.",
    "uploading": "Sending {done} of {total}",
    "too_many": "At most {most} pictures at a time; the first {most} were taken.",
    "command": "A whole folder, the same way:",
}
COMMAND = "python -m dga adapt FOLDER --methods dga,dga-guided,dga-plus,dda"
RUN, RUN_OWN, CANCEL = "Run all 15", "Run", "Cancel"
UNREADABLE = "Left out: {names}."
NOTHING_READ = "None of these can be read as a picture."
NO_PICTURES = "Drop a picture first."
NOT_KEPT = "These pictures are no longer on this machine; please drop them again."
UNKNOWN_LINK = "{name}={value} is not known here; {used} is shown."

STATUS = {
    "wait": "Waiting for the models",
    "read": "Reading the pictures",
    "forward": "{done} of {total} pictures have their depth",
    "reverse": "Rebuilding: step {done} of {total}",
    "row": "Row {row} of {total}",
    "done": "Done in {seconds:.0f} s",
    "cancelled": "Cancelled: {done} of {total} rows are finished.{rest}",
    "for_nothing": "Cancelled before any row was finished: these are the results from before",
    "recorded": "Recorded",
}
STOPPED = "The run took longer than {seconds:.0f} seconds and was stopped; "
TOO_LONG = STOPPED + "a lower severity needs fewer steps."
TOO_LONG_ATLAS = STOPPED + "press Run for the other rows."
REST = " Run goes on with the others."
TOO_SLOW = "This machine is too slow for an atlas: a row takes 33 repairs, each of minutes."
