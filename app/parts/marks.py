"""Marks of the methods, ticks and crosses."""

from __future__ import annotations

SIGNS = {"ok": '<path d="M1.5 6.5l3 3 6-7"/>', "bad": '<path d="M2 2l8 8M10 2l-8 8"/>'}
SHAPES = {
    "clean": '<path d="M1 11V1h10v10z" fill="none" stroke="currentColor" stroke-width="2"/>',
    "damaged": '<rect x="1" y="1" width="10" height="10" rx="1"/>',
    "noised": '<circle cx="6" cy="6" r="4.6" fill="none" stroke="currentColor" '
    'stroke-width="2.4"/>',
    "dga": '<circle cx="6" cy="6" r="5.5"/>',
    "dga-guided": '<path d="M6 0l6 6-6 6-6-6z"/>',
    "dda": '<path d="M6 .5L12 11.5H0z"/>',
    "dga-plus": '<path d="M4.2 .3h3.6v3.9h3.9v3.6H7.8v3.9H4.2V7.8H.3V4.2h3.9z"/>',
}


def mark(name: str) -> str:
    """A method's mark, in its colour."""
    kind = 'class="mark" viewBox="0 0 12 12" aria-hidden="true" fill="currentColor"'
    return f"<svg {kind}>{SHAPES[name]}</svg>"
