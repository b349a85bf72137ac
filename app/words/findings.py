"""The words of page Findings: questions, and sentences that are filled from the results' tables."""

from __future__ import annotations

from app.words.common import STRAYED
from app.words.errors import GONE

QUESTIONS = {
    "help": "Does it help?",
    "depth": "Is the depth really chosen per picture?",
    "found": "What does it find in a picture?",
    "clean": "Does it leave clean pictures alone?",
    "cost": "What does it cost?",
}
METHODS = {
    "source": "Nothing done",
    "dda": "Fixed depth (DDA)",
    "dga": "Own depth, unguided (DGA)",
    "dga-guided": "Own depth (DGA + G)",
    "dga-plus": "With diagnosis (DGA+), ours",
    "tent": "Tent",
    "dga-plus+tent": "Diagnosis and Tent, ours",
}
NAMES = {  # within a sentence
    "dda": "the fixed depth",
    "dga": "own depth without guidance",
    "dga-guided": "own depth",
    "dga-plus": "diagnosis",
    "tent": "Tent",
    "dga-plus+tent": "diagnosis and Tent",
}

# One bold sentence a question, chosen and filled by app/pages/findings/answers.py.
NOT_MEASURED = "Not measured yet for these models: the table “{table}” is missing."
DAMAGED = "The tables that would answer this are damaged."
HELP = {
    "yes": "Yes: with {method}, {accuracy} of 100 damaged pictures are read right, {points} more "
    "than if nothing is done.",
    "no": "No: with {method}, {accuracy} of 100 damaged pictures are read right, {points} fewer "
    "than if nothing is done.",
    "open": "Not decided: {method} and doing nothing differ by {points} in 100 pictures, which "
    "may be chance.",
}
HELP_MORE = {
    "interval": "The gain lies between {low} and {high} with 95 % confidence.",
    "below": "Below doing nothing ({source}): {names}.",
    "paper": "Gain of the paper's method, {method}: {points} ({low} to {high}).",
    "ahead": "Ahead of this: {rival}, by {points} points ({low} to {high}).",
    "tent": "Tent is a known method that changes the classifier itself, on many pictures at once.",
    "harms": "Where {method} does harm: {names}.",
}
HELP_BELOW = {"no": "{method} ({accuracy})", "open": "{method} ({accuracy}, may be chance)"}
DEPTH = {
    "surely": "Yes: another picture's {what} costs {clauses}.",
    "partly": "In part: another picture's {what} costs {clauses}.",
    "hardly": "Hardly: another picture's {what} costs {clauses}.",
    "yes": "{points} points",
    "no": "{points} points",
    "open": "nothing certain",
}
WHOLE_DEPTH = ("noise", "depth")  # what decides how deep, the weightiest first
PERMUTED = {"noise": "noise level", "depth": "depth", "explanation": "all that is found"}
AMONG = {"wild": "among all pictures", "same": "where both were damaged alike"}
GIVEN = {
    "wild": "Points lost when taken from any other picture",
    "same": "Points lost when taken from one damaged alike",
}
FOUND = {
    "mostly": "Mostly what was done: of 100 pictures each, {parts}.",
    "partly": "Partly what was done: of 100 pictures each, {parts}.",
    "noise": "noise in {share} noisy",
    "blur": "blur in {share} blurred",
    "clean": "nothing in {share} undamaged",
}
KINDS = {
    "exposure_alone": "Expo\N{SOFT HYPHEN}sure", "sharpness_alone": "Sharp\N{SOFT HYPHEN}ness",
    "noise_alone": "Noise", "several": "Several", "nothing": "Nothing",
}  # fmt: skip
GROUPS = {
    "noise": "Noise", "blur": "Blur", "weather": "Weather", "digital": "Digital",
    "clean": "Undamaged",
}  # fmt: skip
CLEAN = {
    "yes": "Yes: {same} of 100 come back exactly as they were, and accuracy moves by {points} "
    "points.",
    "nearly": "Nearly: {same} of 100 come back exactly as they were, and accuracy moves by "
    "{points} points.",
    "most": "A loss of {most} points cannot be ruled out.",
    "no": "No: {method} costs {points} points of accuracy on clean pictures.",
}
COST = "{own} seconds a picture with {method}{others}; choosing the depth included."
COST_OTHER = ", {seconds} with {method}"
READING = {
    "help": "Read right of 100, mean of 15 kinds of damage. Whiskers: 95 % intervals.",
    "depth": "Each picture was repaired with what was found in another; lines are 95 % intervals. "
    "Damaged alike: by the same kind at the same severity. Noise level: how noisy the diagnosis "
    "takes a picture to be, which sets its depth.",
    "found": "Rows: what was done to a picture. Columns: what was found, alone or several at once.",
    "clean": "Change of accuracy on undamaged pictures, in points. Green: within 1 point. Though "
    "nothing is found (answer 3), a picture may still be rebuilt from a depth.",
    "cost": "Seconds a picture, of the machine that measured: compare them only with each other.",
}
# What a link shows; which recorded run that is: app/pages/findings/shown.py.
SEE = {
    "help": "See one that diagnosis mends",
    "depth": "See one picture's own depth",
    "found": "See what was found in one",
    "clean": "Try an undamaged one",
    "cost": "See what one picture cost",
}
FINDINGS_WORDS = {
    "title": "What we found, in five answers",
    "intro": "Learn explains the methods; the tables below hold every number and say on how many "
    "photographs. Photographs not used for tuning were not used for training, either.",
    "severity": "Severity",
    "elsewhere": "Not measured at severity {asked}: what has a severity is shown at {at}.",
    "of_damage": "Severity of the damage",
    "table": "The whole table",
    "details": "Chart and details",
    "all": "All results",
    "all_more": "{n} tables and figures, each with its command. Brackets and bars are 95 % "
    "intervals; differences are rounded after subtracting. The paper's numbers are for ImageNet-C "
    "at 256 px with Swin-T; these models see {size} px, so compare the pattern, not the level.",
    "made_by": "How it is made",
    "numbers": "The figure's numbers",
    "panel": "Panel",
    "series": "What",
    "interval": "Interval",
    "table_mark": "table",
    "figure_mark": "figure",
    "copy": "Copy",
    "copied": "Copied",
    "lost": GONE,
    "strayed": STRAYED + "the whole page is shown.",
    "of": "of {title}",
    "not_made": "What is missing, and why",
    "empty": "There are no results for {profile} yet.",
    "damaged": "The results for {profile} cannot be shown: {problem}",
    "empty_help": "These commands make them; then start the page again. The first takes hours "
    "on a CPU and goes on where it stopped if <code>--resume</code> is added.",
    "cite": "Cite and reuse",
    "cite_more": "The method is the paper's; the diagnosis, DGA+, is ours, in this project's code.",
    "paper": "Paper (arXiv)",
    "authors_code": "The authors' code",
    "cards": "Model cards",
    "licence": "Code and weights: MIT licence. The weights were trained on pictures of "
    "Tiny-ImageNet, whose terms allow non-commercial research only.",
}
MAKE = (  # the results, from pictures to the page
    "python -m dga evaluate --profile {profile} --data DATA/val.zip "
    "--methods source,tent,dda,dga,dga-guided,dga-plus --out runs/severity-5",
    "python -m dga evaluate --profile {profile} --data DATA/val.zip "
    "--methods source,dga-plus --corruptions clean --out runs/clean",
    "python -m dga figures runs --out {folder}",
)
PAPER = "https://arxiv.org/abs/2604.23636"
AUTHORS_CODE = "https://github.com/fmolivato/dgadiffusion/"
BIBTEX = """@misc{olivato2026dga,
  title = {Discriminator-Guided Adaptive Diffusion for Source-Free
           Test-Time Adaptation under Image Corruptions},
  author = {Olivato, Francesco and Beyan, Cigdem and Murino, Vittorio},
  year = {2026},
  eprint = {2604.23636},
  archivePrefix = {arXiv},
  primaryClass = {cs.CV}
}"""
