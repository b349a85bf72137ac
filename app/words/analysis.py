"""The words of page Analysis."""

from __future__ import annotations

# Anchor, title, lead and the names that the exhibits begin with; the last takes all others.
ANALYSIS_SECTIONS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    (
        "does-it-help",
        "Does it help?",
        "Accuracy of a frozen classifier on corrupted pictures: as they are, and after each "
        "system of the paper.",
        ("table-1", "table-2", "comparisons", "gains"),
    ),
    (
        "where-does-it-stop",
        "Where does it stop?",
        "The depth t* at which the discriminator stopped the forward process.",
        ("depths", "table-3", "stopping-rules"),
    ),
    (
        "per-picture",
        "Is the depth really per picture?",
        "The chosen depths against the same depths shuffled, one depth for all, and the best "
        "that any choice could do.",
        ("controls", "accuracy-depth"),
    ),
    (
        "discriminator",
        "What does the discriminator know?",
        "How well it tells corrupted from clean at each depth, how far its confidence can be "
        "trusted, and how the classifier sees the same pictures.",
        ("discriminator", "calibration", "studies", "features"),
    ),
    (
        "cost",
        "What does it cost?",
        "Accuracy against seconds an image.",
        ("accuracy-time",),
    ),
    ("more", "More", "What else these results hold.", ()),
)
ANALYSIS_WORDS = {
    "title": "The paper's tables and figures, for these models",
    "intro": "Ours beside the paper's. The paper's numbers are for ImageNet-C at 256 px with "
    "Swin-T and these models see {size} px, so compare the pattern and not the level. Brackets "
    "and bars are 95 % intervals.",
    "contents": "On this page",
    "severity_info": "What was run at one severity only is always shown.",
    "made_by": "Made by 1 command",
    "made_by_several": "Made by {n} commands",
    "copy": "Copy",
    "copied": "Copied",
    "of": "of {title}",
    "lacks": "Not in it: {reason}.",
    "not_made": "Not made, and why",
    "empty": "There are no results for {profile} yet.",
    "damaged": "The results for {profile} cannot be shown: {problem}",
    "empty_help": "These commands make them; then start the page again. The first takes hours "
    "on a CPU and goes on where it stopped if <code>--resume</code> is added.",
}
