"""Fonts and colours."""

from __future__ import annotations

import gradio as gr
from gradio.themes.utils import fonts


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
