"""The words of page Findings: questions, and sentences that are filled from the results' tables."""

from __future__ import annotations

from dga.titles import SYSTEMS

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
    "dga": "Own depth (DGA)",
    "dga-guided": "Guided (DGA + G)",
    "dga-plus": "DGA+, ours",
    "tent": "Tent",
    "dga-plus+tent": "DGA+ and Tent, ours",
}
NAMES = {
    name: SYSTEMS[name].replace(" ", "\N{NO-BREAK SPACE}") for name in METHODS if name != "source"
}

# One bold sentence a question, chosen and filled by app/pages/findings/answers.py.
NOT_MEASURED = "Not measured yet for these models: the table “{table}” is missing."
DAMAGED = "The tables that would answer this are damaged."
HELP = {
    "yes": "Yes: of 100 damaged pictures {method} has {accuracy} read right, {points} more than if "
    "nothing is done.",
    "no": "No: of 100 damaged pictures {method} has {accuracy} read right, {points} fewer than if "
    "nothing is done.",
    "open": "Not decided: {method} and doing nothing differ by {points} in 100 pictures, which "
    "may be chance.",
}
HELP_MORE = {
    "interval": "The gain lies between {low} and {high} with 95 % confidence.",
    "paper": "The paper's {method}: {points} ({low} to {high}).",
    "ahead": "{rival} is ahead by {points} points ({low} to {high}){why}.",
    "tent": ", but it changes the classifier, on many pictures at once",
    "harms": "It does harm on {names}.",
}
DEPTH = {
    "yes": "Yes: {method} loses {clauses}.",
    "partly": "In part: {method} loses {clauses}.",
    "hardly": "Hardly: {method} loses {clauses}.",
    "loss": "{size} points with another picture's {what} {where}",
    "chance": "nothing beyond chance ({points} points) with another picture's {what} {where}",
    "open": "Not decided: {method} loses {clauses}.",
    "unmeasured": "Not measured for {methods}.",
}
WHOLE_DEPTH = ("noise", "depth")  # what decides how deep, the weightiest first
PERMUTED = {"noise": "noise level", "depth": "depth", "explanation": "explanation"}
AMONG = {
    "wild": "where all kinds and severities of damage are mixed",
    "same": "where all are damaged alike",
}
SHORT = {"wild": "mixed", "same": "same damage"}
AT = ", at severity {severity}"
FOUND = {
    "mostly": "Mostly what was done to it: {parts}.",
    "partly": "Only in part what was done to it: {parts}.",
    "noise": "noise in {share} of 100 noisy pictures",
    "blur": "lost sharpness in {share} of 100 blurred ones",
    "clean": "nothing in {share} of 100 undamaged ones",
}
KINDS = ("exposure", "sharpness", "noise", "nothing")
GROUPS = {
    "noise": "Noise", "blur": "Blur", "weather": "Weather", "digital": "Digital",
    "clean": "Undamaged",
}  # fmt: skip
CLEAN = {
    "yes": "Yes: {same} of 100 come back exactly as they were, and accuracy moves by {points} "
    "points.",
    "nearly": "Nearly: {same} of 100 come back exactly as they were; accuracy moves by {points} "
    "points, and a loss of {most} cannot be ruled out.",
    "no": "No: {method} costs {points} points of accuracy on clean pictures.",
}
COST = "{own} seconds a picture for {method}{others}; choosing the depth is in it."
COST_OTHER = ", {seconds} for {method}"
READING = {
    "help": "Bars: read right of 100, mean of 15 kinds of damage. Whiskers: 95 % intervals.",
    "depth": "What a picture loses when it gets another's choice, in points with 95 % intervals.",
    "found": "Rows: what was done to the picture. Columns: what was found, in how many of 100.",
    "clean": "Change of accuracy on undamaged pictures, in points. Green: within 1 point.",
    "cost": "Seconds of the machine that measured: compare them only with each other.",
}
SEE = {
    "help": "See one such picture",
    "depth": "See one picture's depth",
    "found": "See what was found in one",
    "clean": "Try an undamaged one",
    "cost": "See what one picture cost",
}
FINDINGS_WORDS = {
    "title": "What we found, in five answers",
    "intro": "Every number comes from the tables below; their titles say on how many photographs. "
    "Those never used for tuning were never used for training either.",
    "severity": "Severity",
    "of_damage": "Severity of the damage",
    "table": "The whole table",
    "measured": "How it was measured",
    "read_right": "read right of 100",
    "seconds": "seconds a picture, choosing the depth included",
    "all": "All results",
    "all_more": "{n} tables and figures, each with its command. Brackets and bars are 95 % "
    "intervals. The paper's numbers are for ImageNet-C at 256 px with Swin-T; these models see "
    "{size} px, so compare the pattern, not the level.",
    "made_by": "How it is made",
    "copy": "Copy",
    "copied": "Copied",
    "of": "of {title}",
    "not_made": "What is missing, and why",
    "empty": "There are no results for {profile} yet.",
    "damaged": "The results for {profile} cannot be shown: {problem}",
    "empty_help": "These commands make them; then start the page again. The first takes hours "
    "on a CPU and goes on where it stopped if <code>--resume</code> is added.",
    "cite": "Cite and reuse",
    "cite_more": "The method is the paper's; DGA+ is ours, in this project's code.",
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
