"""Words that several pages share."""

from __future__ import annotations

TITLE = "DGA"
TAGLINE = "Repair a damaged picture with just enough noise"
SKIP = "Skip to the content"
KINDS = (
    "knows ",
    "{n} kinds of things",
    " · {size} \N{MULTIPLICATION SIGN} {size} px",
)  # a phone: the second
ANY_PHOTO = "photos up to 1 megapixel"
PAPER = "Paper"
STRAYED = "The link's part “{part}” is not here: "
WHAT_DEPTH_IS = "Depth: how much noise goes in before all of it is taken out again."
BY_ARROWS = "Arrow keys go from one to the next."
DESCRIPTION = (
    "Repair a damaged picture with just enough noise: discriminator-guided adaptive diffusion, "
    "live in the browser, with every depth, three methods and what was measured."
)
FOOTER = (
    "Runs on this machine. Uploaded pictures are deleted within an hour. "
    "Lake: photograph by danielbuechele, CC BY 2.0, cropped."
)
PAGES = (  # name, path
    ("Try it", ""),
    ("Photo", "photo"),
    ("Board", "board"),
    ("Findings", "findings"),
    ("Learn", "learn"),
)
NO_CORRUPTION = "none"
PRESET_WORDS = {"detail": "{picture}, {damage} {severity}"}

# While a run waits in the queue
WAITING_PLACE = "Waiting, {place} in line"
ORDINALS = {1: "1st", 2: "2nd", 3: "3rd"}  # from 4 to 20, as many as may wait: "th"
