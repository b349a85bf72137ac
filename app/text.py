"""The page's words and its theme."""

from __future__ import annotations

import gradio as gr
from gradio.themes.utils import fonts

TITLE = "DGA"
TAGLINE = "Just enough noise to forget the damage, then a rebuilt picture."
FOOTER = "Runs on this machine. Uploaded pictures are deleted within an hour."
PAGES = (  # name, path
    ("Adapt", ""),
    ("Fifteen corruptions", "fifteen"),
    ("Analysis", "analysis"),
    ("Learn", "learn"),
)

RESULTS_TITLE = "Five pictures, one classifier"
SAME_LABEL = "agrees with the clean picture"
OTHER_LABEL = "does not"
SEED_HELP = "The seed fixes the corruption and all the noise: the same seed gives the same result."

NO_CORRUPTION = "none"
CORRUPTION_NAMES = {
    "gaussian_noise": "Gaussian",
    "shot_noise": "Shot",
    "impulse_noise": "Impulse",
    "defocus_blur": "Defocus",
    "glass_blur": "Glass",
    "motion_blur": "Motion",
    "zoom_blur": "Zoom",
    "snow": "Snow",
    "frost": "Frost",
    "fog": "Fog",
    "brightness": "Brightness",
    "contrast": "Contrast",
    "elastic_transform": "Elastic",
    "pixelate": "Pixelate",
    "jpeg_compression": "JPEG",
}
CORRUPTION_PHRASES = {
    "gaussian_noise": "Gaussian noise",
    "shot_noise": "shot noise",
    "impulse_noise": "impulse noise",
    "defocus_blur": "defocus blur",
    "glass_blur": "glass blur",
    "motion_blur": "motion blur",
    "zoom_blur": "zoom blur",
    "elastic_transform": "elastic transform",
    "jpeg_compression": "JPEG compression",
}

CARD_TITLES = {
    "input": "Corrupted",
    "x_t_star": "x at t*",
    "dga": "DGA",
    "dga-guided": "DGA + G",
    "dda": "DDA",
}
INPUT_TITLE = "Input"  # of a picture that was not corrupted here
CARD_NOTES = {
    "input": "What the classifier is given without any adaptation.",
    "x_t_star": "Noise has hidden the damage. Rebuilding starts here.",
    "dga": "Rebuilt freely from x at t*.",
    "dga-guided": "Rebuilt from x at t*, keeping the input's coarse shapes.",
    "dda": "Rebuilt with guidance from a fixed depth, whatever the picture.",
}
CARD_WAITING = {
    "input": "The picture as it goes in",
    "x_t_star": "The picture plus noise",
    "dga": "Rebuilt freely",
    "dga-guided": "Rebuilt with guidance",
    "dda": "Rebuilt from a fixed depth",
}
UNTOUCHED_NOTE = "t* = 0: already looks like source, so the picture is left as it is."
NEVER_CROSSED_NOTE = "Not below τ by the maximum depth, {depth}, so this starts there."
LEFT_NOTE = "No depth hides this damage, so the picture is left as it is."
INTERRUPTED = "Not finished"

RECORDED = "Recorded with the shipped models. Drag τ or scrub; Adapt runs it again."
NEVER_BEGAN = "Cancelled before it began."
NO_MEMORY = (
    "The server's memory ran out during this run; try again in a moment, or with fewer noise paths."
)
NO_FILE = "The server could not read or write a file; its log says why. Please try again later."
FAILED = "The run failed unexpectedly; the server's log says why. Please try again."
GATE_WORDS = {
    "closed": "There is nothing at this address.",
    "long": "The request is too long: a picture may have 20 MB.",
    "foreign_site": "Another site's page cannot use this server.",
    "crowded": "Too many requests at once from this address. Please try again in a moment.",
    "full": "The server has no room for more pictures now. Please try again in some minutes.",
    "quota": "As many pictures as fit have come from your network within an hour. "
    "Please try again later.",
    "misunderstood": "The request could not be understood.",
    "failed": "The request failed unexpectedly; the server's log says why. Please try again.",
    "foreign": "Only uploads are opened, neither addresses nor the server's own files: "
    "upload the picture first.",
}
BUSY_WORDS = {
    "full": "The server is busy: {count} runs are waiting. Please try again in a minute.",
    "address": "The server is busy: {count} runs from your network are waiting. "
    "Please try again in a minute.",
    "visitor": "{count} of your runs are waiting already. Please try again when one is done.",
}
REFUSED = "The server is too busy for another run now. Please try again in a minute."
WAITING_PLACE = "Waiting, {place} in line"
ORDINALS = {1: "1st", 2: "2nd", 3: "3rd"}  # from 4 to 20, as many as may wait: "th"
PRESET_WORDS = {
    "title": "Recorded runs: choose one to look through it",
    "detail": "{picture}, {damage} {severity}",
}
PROGRESS = {
    "forward": "Forward {done} of {total}",
    "paths": "Forward, noise path {path} of {paths}: {done} of {total}",
    "reverse": "{method} {done} of {total}",
}

# {t}, {steps}, {tau}, {max} and the labels are filled in by the timeline's script.
TIMELINE_WORDS = {
    "axis": "Confidence",
    "axis_more": ["that the picture", "is corrupted"],
    "depth": "depth",
    "high": "looks corrupted",
    "low": "looks like source",
    "max": "max depth {max}",
    "horizon": "not below τ by {horizon}",
    "later": "dotted: computed, not needed",
    "band": "band: spread of {paths} noise paths",
    "spread": "{low}\u2013{high} over {paths} noise paths",
    "spread_same": "{low} on each of {paths} noise paths",
    "spread_some": "{low}\u2013{high} on {n} of {paths} noise paths",
    "spread_none": "none of {paths} noise paths crosses in time",
    "example": "Your picture's curve will be drawn here",
    "tau": "Threshold tau",
    "tau_help": "Drag τ: t* follows at once, nothing is computed.",
    "quantile_help": "Quantile rule: a bound for each depth, learnt from clean pictures, takes "
    "the place of τ, so there is nothing to drag.",
    "bound_line": "bound of clean pictures",
    "threshold": "τ",
    "bound": "the bound",
    "progress": "Progress",
    "empty": "Choose a picture, then press Adapt.",
    "waiting": "Waiting for the model",
    "forward": "Adding noise until the discriminator can no longer tell.",
    "reverse": "The discriminator stopped after {t} of {steps} steps.",
    "reverse_zero": "The picture already looks like source.",
    "reverse_never": "The confidence did not fall below {limit} by the maximum depth of {t}.",
    "reverse_left": "The confidence stayed above {limit} for {horizon} steps.",
    "done": "The discriminator stopped after {t} of {steps} steps, and {before} {verb} {after}.",
    "done_zero": "The picture already looks like source, so it is left as it is: {before}.",
    "done_never": "The confidence did not fall below {limit} in time, so noise went in to the "
    "maximum depth of {t}, and {before} {verb} {after}.",
    "done_left": "No noise up to depth {horizon} hides this damage, so the picture is left as it "
    "is: {before}.",
    "pill_left": "left as it is",
    "verb_same": "stayed",
    "verb_other": "became",
    "moved": "At τ {tau} the discriminator stops after {t} of {steps} steps. "
    "Press Adapt to rebuild from there.",
    "moved_zero": "At τ {tau} the picture already looks like source and would be left as it is.",
    "moved_never": "The confidence does not fall below τ {tau} in time, so noise would go in to "
    "the maximum depth of {t}. Press Adapt to rebuild from there.",
    "moved_left": "The confidence stays above τ {tau} for {horizon} steps: the picture would be "
    "left as it is.",
    "again": "Adapt again for t*\u00a0=\u00a0{t}",
    "again_depth": "Adapt again for depth {t}",
    "cancelled": "Stopped before the end.",
    # The film and the panel beside it.
    "methods": {"dga": "DGA", "dga-guided": "DGA + G", "dda": "DDA"},
    "forward_way": "Forward →",
    "forward_more": "noise goes in",
    "reverse_way": "← Reverse",
    "reverse_more": "the picture is rebuilt",
    "read_lanes": "The same axis, read from right to left. Every lane ends at depth 0.",
    "lane": {
        "dga": ["{n} step, not guided", "{n} steps, not guided"],
        "dga-guided": ["{n} step, guided by the input", "{n} steps, guided by the input"],
        "dda": ["{n} step, fixed depth", "{n} steps, fixed depth"],
    },
    "lane_short": ["{n} step", "{n} steps"],
    "lane_zero": "0 steps: left as it is",
    "direction": "Direction of time",
    "playhead": "Playhead",
    "play": "Play",
    "pause": "Pause",
    "jump": "Jump",
    "back": "One step back",
    "next": "One step on",
    "nowhere": "no frame yet",
    "at_depth": "depth {depth}",
    "at_forward": "forward, depth {depth}, confidence {confidence}",
    "at_reverse": "reverse, {method}, depth {depth}, step {step} of {steps}",
    "read_forward": "depth {depth}: {confidence}",
    "read_reverse": "{method}, depth {depth}: step {step} of {steps}",
    "noised": "Noised input",
    "input": "Input",
    "confidence": "confidence {c}{range}",
    "range": " ({low}\u2013{high})",
    "came_from": "The input it came from",
    "power": "{share} of its power is left",
    "hardly": "Hardly any",
    "past": "; {steps} past t*, not used",
    "steps": ["{n} step", "{n} steps"],
    "step_left": "step {step} of {steps} · {left} to go",
    "step_last": "step {step} of {steps}, the last",
    "estimate": "Clean estimate",
    "estimate_more": "what the network would return from here",
}

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


def title_of(corruption: str) -> str:
    """``Gaussian noise``."""
    phrase = CORRUPTION_PHRASES.get(corruption, CORRUPTION_NAMES[corruption])
    return phrase[0].upper() + phrase[1:]


def theme() -> gr.themes.Base:
    """Gradio's plainest theme with the page's fonts and colours."""
    base = gr.themes.Base(
        font=[fonts.LocalFont("IBM Plex Sans", weights=(400, 700)), "Inter", "system-ui"],
        font_mono=["ui-monospace", "monospace"],
    )
    colours = {
        "body_background_fill": ("#F5F6F8", "#0E1117"),
        "body_text_color": ("#161A23", "#EEF0F5"),
        "body_text_color_subdued": ("#656C7D", "#949CAE"),
        "background_fill_primary": ("#FFFFFF", "#161A23"),
        "background_fill_secondary": ("#F0F1F5", "#1E2430"),
        "border_color_primary": ("#DFE2E9", "#2B3240"),
        "border_color_accent": ("#4338CA", "#8B87FF"),
        "color_accent_soft": ("#EEEDFC", "#22233F"),
        "block_background_fill": ("#FFFFFF", "#161A23"),
        "block_label_text_color": ("#161A23", "#EEF0F5"),
        "block_title_text_color": ("#161A23", "#EEF0F5"),
        "input_background_fill": ("#FFFFFF", "#161A23"),
        "input_border_color": ("#DFE2E9", "#2B3240"),
        "input_border_color_focus": ("#4338CA", "#8B87FF"),
        "button_primary_background_fill": ("#4338CA", "#8B87FF"),
        "button_primary_background_fill_hover": ("#372DB0", "#9D99FF"),
        "button_primary_text_color": ("#FFFFFF", "#0E1117"),
        "button_secondary_background_fill": ("#F0F1F5", "#1E2430"),
        "button_secondary_background_fill_hover": ("#E4E6ED", "#2B3240"),
        "button_secondary_text_color": ("#161A23", "#EEF0F5"),
        "slider_color": ("#B7791F", "#E9B84B"),
    }
    values = {"color_accent": "#4338CA", "block_border_width": "0px", "block_shadow": "none"}
    for name, (light, dark) in colours.items():
        values[name], values[f"{name}_dark"] = light, dark
    return base.set(**values)
