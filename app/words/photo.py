"""The words of page Photo."""

from __future__ import annotations

PHOTOGRAPHS = {"astronaut": "Astronaut", "cat": "Cat", "rocket": "Rocket", "coffee": "Coffee"}
COUNTED = {1: "one place", 2: "two places", 3: "three places", 4: "four places"}
MANY = "{n} places"
TOWARDS = {"right": "to the right", "left": "to the left", "bottom": "downwards", "top": "upwards"}

HEADINGS = {  # three lines
    "wait": "Waiting for the networks.",
    "empty": "Press Repair it.",
    "empty_second": "Each place of the photo gets a depth of its own.",
    "working": "Looking for damage.",
    "working_second": "Each place of the photo gets a depth of its own.",
    "working_third": "{done} of {total} places looked at.",
    "cancelled": "Stopped.",
    "cancelled_at": "Stopped at {done} of {total} places.",
    "cancelled_second": "Nothing was changed: press Repair it to begin again.",
    "error": "Nothing was repaired.",
    "nothing": "Nothing to repair: depth 0 everywhere.",
    "nothing_found": "Nothing was found: depth 0 everywhere.",
    "returned": "It is returned as it came.",
    "returned_quality": "It is returned as it came: {own}.",
    "range": "Depth {low} to {high} there, 0 elsewhere",
    "one": "Depth {high} there, 0 elsewhere",
    "range_all": "Depth {low} to {high}",
    "one_all": "Depth {high}",
    "zero": "Depth 0 everywhere",
    "best": "The best single depth gives {best}.",
    "left": "{share} of the photo was left as it is.",
    "no_left": "No part of it was left as it is.",
    "each": "A depth for each place gives {own}.",
    "single": "Depth {depth} everywhere: {here}.",
    "single_unknown": "Depth {depth} everywhere.",
    "single_waits": "What it gives is being computed.",
}
DB = "{value} dB"
FOUND = {
    "exposure": "Changed exposure",
    "blur": "Blur",
    "impulses": "Single wrong pixels",
    "places": "Noise in {count}",
    "grows": "Noise that grows {towards}",
    "everywhere": "Noise everywhere",
}
GAUGES = {
    "exposure": "exposure",
    "blur": "sharpness",
    "impulses": "single pixels",
    "noise": "noise",
}
AS_IS = "as it is"
UNDONE = {"exposure": "put back", "blur": "put back", "impulses": "wrong ones replaced"}
NOISES = {"none": "none found", "places": "in {count}", "grows": "grows {towards}"}
NOISES |= {"everywhere": "everywhere"}
BEFORE = "Damaged: {before}."
WHAT_DEPTH_IS = "Depth: how much noise goes in before all of it is taken out again."
CLOSE_UPS = {
    "shallow": "at {depth}: too shallow",
    "deep": "at {depth}: too deep",
    "own": "at {own}",
}

LABELS = {
    "picture": "The photo, damaged left of the divider and repaired right of it",
    "divider": "Divider between damaged and repaired",
    "damaged": "Damaged",
    "repaired": "Repaired",
    "undamaged": "Undamaged",
    "came": "As it came",
    "looked": "{done} of {total} places",
    "single_tag": "Depth {depth} everywhere",
    "depth": "depth",
    "show": "Show depths",
    "hold": "Hold to see it undamaged",
    "left_alone": "left alone",
    "deep": "deep",
    "each": "A depth for each place",
    "one": "One depth everywhere",
    "each_short": "Each place",
    "one_short": "One depth",
    "way": "Which repair is shown",
    "for_each": "for each place",
    "everywhere": "everywhere",
    "axis": "One depth everywhere",
    "chart": "Quality for one depth everywhere, in dB",
    "draw": "Find the best single depth",
    "drawing": "Depth {depth}: {done} of {total}",
    "stop": "Stop",
    "later": "drawn when it is done",
    "shares": "How much of the photo lies at each depth",
    "no_single": "No single depth suits both places",
    "does_single": "Does one depth suit all places?",
    "found": "Found",
    "photo": "Photo",
    "own": "Your photo",
    "own_detail": "up to {most} MB",
    "already": "My photo is already damaged",
    "damage": "Damage it yourself",
    "two": "Noise in two places",
    "ramp": "Noise grows to the right",
    "kinds": "15 kinds of damage",
    "or_all": "or choose",
    "own_strokes": "My strokes",
    "severity": "Severity",
    "brush": "Brush",
    "noise": "Noise",
    "blur": "Blur",
    "dark": "Dark",
    "size": "Size",
    "strength": "Strength",
    "undo": "Undo",
    "strokes": "{n} strokes",
    "stroke": "1 stroke",
    "paint": "Paint on the photo",
    "seconds": "repaired in {seconds} s",
    "recorded": "recorded",
    "too_large": "This photo has {has} MB; up to {most} MB can be taken.",
    "sending": "Sending …",
    "save": "Download",
    "csv": "Depths (table)",
}
RUN, CANCEL = "Repair it", "Cancel"
LOOKING = "Looking for damage"
RUNNING = "Repairing, {done} of {total} places"
REDUCED = "Your photo has {came} megapixels; it is repaired at {used}."
NO_PHOTO = "Choose a photo first."
NOT_KEPT = "There is no repaired photo of yours here any more: press Repair it."
NO_DEPTH = "One depth everywhere is a whole number from 0 to {deepest}."
BAD_DAMAGE = "This damage is not known: choose one of those on the page."
BAD_STROKES = "At most {most} strokes can be painted, of 16 to 240 pixels each."
SMALL = "This photo is too small to be damaged like that; each side must have 32 pixels."
TOO_LONG = (
    "The repair took longer than {seconds:.0f} seconds and was stopped; "
    "a smaller photo has fewer places."
)
