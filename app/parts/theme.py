"""Fonts and colours."""

from __future__ import annotations

import gradio as gr


def theme() -> gr.themes.Base:
    """Gradio's plainest theme with the page's fonts and colours."""
    base = gr.themes.Base(
        font=[gr.themes.LocalFont("IBM Plex Sans", weights=(400, 700)), "Inter", "system-ui"],
        font_mono=["ui-monospace", "monospace"],
    )
    card = ("background_fill_primary", "block_background_fill", "input_background_fill")
    ink = ("body_text_color", "block_label_text_color", "block_title_text_color")
    accent = ("border_color_accent", "input_border_color_focus", "button_primary_background_fill")
    sunk = ("background_fill_secondary", "button_secondary_background_fill")
    # As in page.css, which changes them for the dark theme.
    values = {
        "body_background_fill": "var(--bg)",
        "body_text_color_subdued": "var(--ink3)",
        "button_primary_background_fill_hover": "color-mix(in srgb, var(--acc) 85%, var(--ink))",
        "button_primary_text_color": "var(--on-acc)",
        "button_secondary_background_fill_hover": "var(--line)",
        "color_accent_soft": "var(--acc-soft)",
        "block_border_width": "0px",
        "block_shadow": "none",
        **dict.fromkeys(card, "var(--card)"),
        **dict.fromkeys(ink, "var(--ink)"),
        **dict.fromkeys(accent, "var(--acc)"),
        **dict.fromkeys(sunk, "var(--sunk)"),
        **dict.fromkeys(("border_color_primary", "input_border_color"), "var(--line)"),
    }
    values |= {f"{name}_dark": value for name, value in values.items()}
    return base.set(color_accent="var(--acc)", **values)
