"""What surrounds every page: header, links between pages, styles."""

from __future__ import annotations

from app.parts.html import html, static
from app.runs.session import Session
from app.words.common import FOOTER, PAGES, TAGLINE, TITLE


def styles() -> str:
    """The sheets of all parts; ``page.css`` first, so that the others may refine it."""
    sheets = sorted(static().rglob("*.css"), key=lambda path: (path.name != "page.css", path.name))
    return "\n".join(path.read_text("utf-8") for path in sheets)


def foot() -> None:
    """The line at the end of every page."""
    html(f"<p>{FOOTER}</p>", elem_id="foot")


def _navigation(page: str) -> str:
    """Links relative to any page, so that they also hold behind a proxy's path."""
    links = "".join(
        f'<a href="./{path}"{" aria-current=page" if path == page else ""}>{name}</a>'
        for name, path in PAGES
    )
    return f'<nav aria-label="Pages">{links}</nav>'


def header(session: Session, page: str) -> str:
    """Name, links and the profile; ``page``: which one is open."""
    profile = session.profile
    device = "GPU" if session.device == "cuda" else "CPU"
    logo = (
        '<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" '
        'fill="var(--acc)"/><path d="M7 9c7 0 8 14 18 14" fill="none" stroke="var(--on-acc)" '
        'stroke-width="3" stroke-linecap="round"/><circle cx="16" cy="16.5" r="3.5" '
        'fill="var(--acc)" stroke="var(--on-acc)" stroke-width="2.5"/></svg>'
    )
    return (
        f'<div class="bar-inner">{logo}<b>{TITLE}</b><span class="tag">{TAGLINE}</span>'
        f'{_navigation(page)}<span class="profile"><b>{profile.name}</b> · '
        f"{profile.image_size} px · {device}</span></div>"
    )
