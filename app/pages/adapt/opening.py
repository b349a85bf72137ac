"""What the page does with the address it was opened with."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from app.pages.adapt.input_card import InputCard
from app.pages.adapt.takeaway import link_value
from app.parts.examples import Example
from app.parts.html import html
from app.runs import links
from app.runs.links import Link
from app.runs.run_state import blank_timeline
from app.runs.session import Session


@dataclass(frozen=True)
class Opening:
    """The components that an address fills in."""

    session: Session
    examples: list[Example]
    card: InputCard
    dda_depth: gr.Slider
    timeline: gr.HTML
    link: gr.HTML
    notice: gr.HTML

    def outputs(self) -> list[Any]:
        """Every component that :meth:`fill` writes to."""
        card = self.card
        controls = [card.as_is, *card.settings(), self.dda_depth]
        return [*controls, self.timeline, self.link, self.notice]

    def parse(self, request: gr.Request) -> Link | None:
        """The address's link, if it is one."""
        names = [example.name for example in self.examples]
        query = dict(request.query_params)
        return links.parse(query, self.session.profile, names, names[0] if names else "")

    def fill(self, link: Link, start: bool) -> dict[Any, Any]:
        """Controls, tau and notices from a link; ``start``: then press Adapt."""
        card, profile = self.card, self.session.profile
        values = links.filled(profile, link.settings)
        chosen = [example for example in self.examples if example.name == link.image]
        damaged_here = link.settings.corruption is not None
        tau = blank_timeline(profile, link.settings.stopping(profile))
        written = links.write(profile, link.settings, link.image)
        paths, scale, max_depth, rule = card.advanced
        updates = {
            card.picture: chosen[0].path if chosen else None,
            card.as_is: not damaged_here,
            card.corruption: gr.update(value=link.settings.corruption, interactive=damaged_here),
            card.severity: gr.update(value=link.settings.severity, interactive=damaged_here),
            card.seed: link.settings.seed,
            self.dda_depth: link.settings.dda_depth,
            self.timeline: tau | {"key": secrets.token_hex(4), "linked": True},
            self.link: link_value(written, own=not chosen, press=link.image, start=start),
            self.notice: notice_html(link.notices),
        }
        advanced = {paths: "paths", scale: "scale", max_depth: "max_depth", rule: "rule"}
        return updates | {component: values[name] for component, name in advanced.items()}


def notice_line() -> gr.HTML:
    """An empty line above the page's cards."""
    return html(notice_html(()), elem_id="notice")


def notice_html(notices: tuple[str, ...]) -> str:
    """What of an address was not understood; nothing if all was."""
    lines = "".join(f"<p>{escape(notice)}</p>" for notice in notices)
    return f'<div class="notice" role="status">{lines}</div>'
