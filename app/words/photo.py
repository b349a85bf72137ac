"""The words of page Photo."""

from __future__ import annotations

from app.words.errors import GONE

PHOTOGRAPHS = {"astronaut": "Astronaut", "cat": "Cat", "rocket": "Rocket", "coffee": "Coffee"}
COUNTED = {1: "one place", 2: "two places", 3: "three places", 4: "four places"}
MANY = "{n} places"
TOWARDS = {"right": "to the right", "left": "to the left", "bottom": "downwards", "top": "upwards"}
RUN, CANCEL, DONE = "Repair it", "Cancel", "Done"
DB = "{value} dB"

# The sentence: what is said of a photograph by its phase, the repaired one apart.
_EACH = "Each place of the photo gets a depth of its own."
HEADINGS = {
    "empty": ("Press Repair it.", _EACH),
    "wait": ("Waiting for the networks.", _EACH),
    "working": ("Looking for damage.", _EACH),
    "working_at": ("Repairing it.", _EACH, "{done} of {total} places are done."),
    "cancelled": ("Stopped.", "Nothing was changed: press Repair it to begin again."),
    "cancelled_at": ("Stopped at {done} of {total} places.", "Press Repair it to begin again."),
    "error": ("Nothing was repaired.", "Press Repair it to try again."),
    "nothing": ("Nothing to repair: depth 0 everywhere.",),
    "not_found": ("Nothing was found: depth 0 everywhere.",),
    "returned": ("It is returned as it came.",),
    "damage_it": ("To see a repair, switch “My photo is already damaged” off and damage it.",),
    "returned_quality": ("It is returned as it came: {own}.",),
}
FOUND = {  # in the sentence; name of its gauge, and what that says
    "exposure": ("Changed exposure", "exposure", "put back"),
    "blur": ("Blur", "sharpness", "put back"),
    "impulses": ("Single wrong pixels", "single pixels", "wrong ones replaced"),
    "little": ("A little noise", "noise", "a little"),
    "places": ("Noise in {count}", "noise", "in {count}"),
    "grows": ("Noise that grows {towards}", "noise", "grows {towards}"),
    "everywhere": ("Noise everywhere", "noise", "everywhere"),
}
AS_IS, NO_NOISE = "unchanged", "none found"
DEPTHS = {
    "range": "Depth {low} to {high} there, 0 elsewhere",
    "one": "Depth {high} there, 0 elsewhere",
    "range_all": "Depth {low} to {high}",
    "one_all": "Depth {high}",
    "zero": "Depth 0 everywhere",
}
THIRD = {
    "best": "The best single depth gives {best}.",
    "left": "{share} of the photo was left as it is.",
    "no_left": "No part of it was left as it is.",
}
BEFORE = "Damaged: {before}; more is closer to the undamaged photo. "
CLOSE_UPS = {
    "shallow": "at {depth}: too shallow",
    "deep": "at {depth}: too deep",
    "own": "at {own}",
}

SCRIPT = {  # what the page's script says by itself
    "each": "A depth for each place gives {own}.",
    "single": "Depth {depth} everywhere: {here}.",
    "single_unknown": "Depth {depth} everywhere.",
    "unknown": "The link's {part} “{value}” is not here: {used} is shown instead.",
    "each_own": "a depth for each place",
    "single_waits": "What it gives is being computed.",
    "damaged": "Damaged",
    "repaired": "Repaired",
    "undamaged": "Undamaged",
    "came": "As it came",
    "before": "From before",
    "so_far": "Repaired so far",
    "single_tag": "Depth {depth} everywhere",
    "depth": "depth",
    "one": "One depth everywhere",
    "for_each": "for each place",
    "everywhere": "everywhere",
    "drawing": "Depth {depth}: {done} of {total}",
    "draw": "Find the best single depth",
    "later": "drawn when it is repaired",
    "shares": "How much of the photo lies at each depth",
    "no_single": "No single depth suits both places",
    "does_single": "Does one depth suit all places?",
    "strokes": "{n} strokes",
    "stroke": "1 stroke",
    "paint": "Paint on the photo",
    "seconds": "repaired in {seconds} s",
    "looked": "looked at in {seconds} s",
    "recorded": "recorded",
    "too_large": "This photo has {has} MB; up to {most} MB can be taken.",
    "sending": "Sending …",
    "own_detail": "up to {most} MB",
    "lost": GONE,
}
LABELS = {  # what stands on the page
    "picture": "The photo, damaged left of the divider and repaired right of it",
    "divider": "Divider between damaged and repaired",
    "show": "Show depths",
    "hold": "Hold to see it undamaged",
    "actual": "One pixel of the photo as one of the screen",
    "left_alone": "left alone",
    "deep": "deep",
    "for_each_place": "A depth for each place",
    "each_short": "Each place",
    "one_short": "One depth",
    "way": "Which repair is shown",
    "chart": "Quality for one depth everywhere, in dB",
    "stop": "Stop",
    "found": "Found",
    "photo": "Photo",
    "own": "Your photo",
    "already": "My photo is already damaged",
    "damage": "Damage it yourself",
    "two": "Noise in two places",
    "ramp": "Noise grows to the right",
    "kinds": "15 kinds of damage",
    "or_all": "or choose",
    "own_strokes": "My strokes",
    "severity": "Severity",
    "brush": "Paint",
    "close": "Close",
    "noise": "Noise",
    "blur": "Blur",
    "dark": "Dark",
    "size": "Size",
    "strength": "Strength",
    "undo": "Undo",
    "files": "Download",
    "png": "Photo",
    "map": "Depth map",
    "csv": "CSV",
}
LOOKING = "Looking for damage"
RUNNING = "Repairing, {done} of {total} places"
BUSY = "Others are served, or this machine is slow: it is not repaired by itself."
REDUCED = "Your photo has {came} megapixels and was reduced to {used}. "
NO_PHOTO = "This photo is not here: choose one."
NOT_KEPT = "There is no repaired photo of yours here any more: choose one again."
NO_DEPTH = "One depth everywhere is a whole number from 0 to {deepest}."
BAD_DAMAGE = "This damage is not known: choose one of those on the page."
BAD_STROKES = "At most {most} strokes can be painted, of 16 to 240 pixels each."
SMALL = "This photo is too small to be damaged like that; each side must have 32 pixels."
TOO_LONG = "The repair took longer than {seconds:.0f} seconds and was stopped; try a smaller photo."
