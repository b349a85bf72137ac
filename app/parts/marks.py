"""Marks of the methods, ticks and crosses."""

from __future__ import annotations

SIGNS = {"ok": '<path d="M1.5 6.5l3 3 6-7"/>', "bad": '<path d="M2 2l8 8M10 2l-8 8"/>'}
_SHAPES = {
    "input": '<rect x="1" y="1" width="10" height="10"/>',
    "x_t_star": '<circle cx="6" cy="6" r="4.5" fill="none" stroke="currentColor" '
    'stroke-width="2.5"/>',
    "dga": '<circle cx="6" cy="6" r="5.5"/>',
    "dga-guided": '<path d="M6 0l6 6-6 6-6-6z"/>',
    "dda": '<path d="M6 .5L12 11.5H0z"/>',
    "dga-plus": '<path d="M6 0l1.5 4.2 4.5.2-3.5 2.7 1.2 4.3L6 8.9l-3.7 2.5 1.2-4.3L0 4.4l4.5-.2z"'
    "/>",
}


def mark(name: str) -> str:
    """A method's mark, in its colour."""
    return (
        f'<svg class="mark" viewBox="0 0 12 12" aria-hidden="true" fill="currentColor">'
        f"{_SHAPES[name]}</svg>"
    )


def sign(kind: str, word: str) -> str:
    """A tick (``ok``) or a cross (``bad``) that is read out as ``word``."""
    return (
        f'<span class="{kind}" role="img" aria-label="{word}" title="{word}">'
        f'<svg viewBox="0 0 12 12">{SIGNS[kind]}</svg></span>'
    )
