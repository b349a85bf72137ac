"""What surrounds every page: header, links between pages, styles."""

from __future__ import annotations

from html import escape

from app.parts.html import html, static
from app.runs.session import Session
from app.words.common import DESCRIPTION, FOOTER, KINDS, PAGES, PAPER, SKIP, TAGLINE, TITLE

_ICONS = {
    "": '<path d="M8 2.5a5.5 5.5 0 1 0 5.5 5.5M8 5v3h3"/>',
    "board": '<path d="M2.5 2.5H7V7H2.5zM9 2.5h4.5V7H9zM2.5 9H7v4.5H2.5zM9 9h4.5v4.5H9z"/>',
    "findings": '<path d="M3 13V8M8 13V3M13 13V6"/>',
    "learn": '<path d="M1.5 6L8 3l6.5 3L8 9zM4 7.5V11c2 2 6 2 8 0V7.5"/>',
}
_FONT = "static/fonts/IBMPlexSans/IBMPlexSans-"
# Not the address's: a link is relative to the page's base, which is another page's.
_FOCUS = (
    "event.preventDefault();const m=document.getElementById('main')"
    "||document.querySelector('main');m.tabIndex=-1;m.focus()"
)


def head() -> str:
    """Description, fonts and the sheets of all parts; ``page.css`` first, which others refine."""
    sheets = sorted(static().rglob("*.css"), key=lambda path: (path.name != "page.css", path.name))
    styles = "\n".join(path.read_text("utf-8") for path in sheets)
    # Asked for at once; Gradio's own sheet, which names them too, comes with its scripts.
    fonts = "".join(
        f'<link rel="preload" as="font" type="font/woff2" crossorigin href="{_FONT}{name}.woff2">'
        f'<style>@font-face {{ font-family: "IBM Plex Sans"; font-weight: {weight}; '
        f"src: url({_FONT}{name}.woff2); font-display: fallback; }}</style>"
        for name, weight in (("Regular", 400), ("Bold", 700))
    )
    return f'<meta name="description" content="{DESCRIPTION}">{fonts}<style>{styles}</style>'


def first_screen(session: Session, page: str, heading: str, text: str = "") -> str:
    """What is seen while scripts load, as HTML: the header and the words that a page opens with.

    It goes as soon as the page itself has as much to show.
    """
    there = "#head .bar-inner" if page else ".try h1:not(:empty)"
    words = f'<h1>{heading}</h1><p class="lead">{text}</p>' if page and heading else heading
    script = (static() / "shared/first.js").read_text("utf-8")
    return (
        f'<div id="first" data-there="{there}"><div>{header(session, page)}</div>'
        f'<div class="first-{page or "try"}">{words}</div></div><script>{script}</script>'
    )


def foot() -> None:
    """The line at the end of every page."""
    html(f"<p>{FOOTER}</p>", elem_id="foot")


def _navigation(page: str) -> str:
    """Links relative to any page, so that they also hold behind a proxy's path."""
    links = "".join(
        f'<a href="./{path}"{" aria-current=page" if path == page else ""}>'
        f'<svg viewBox="0 0 16 16" aria-hidden="true">{_ICONS[path]}</svg>{name}</a>'
        for name, path in PAGES
    )
    return f'<nav aria-label="Pages">{links}</nav>'


def _kinds(session: Session) -> str:
    """How many kinds of things the classifier knows; a click lists them."""
    profile = session.profile
    names = profile.classifier.classes
    knows, words, more = (text.format(n=len(names), size=profile.image_size) for text in KINDS)
    listed = escape(", ".join(sorted(names)))
    return (
        f'<details class="kinds"><summary><i>{knows}</i>{words}<i>{more}</i></summary>'
        f"<div>{listed}</div></details>"
    )


def header(session: Session, page: str) -> str:
    """Name, links and what the models know; ``page``: which one is open."""
    logo = (
        '<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" '
        'fill="var(--acc)"/><path d="M7 9c7 0 8 14 18 14" fill="none" stroke="var(--on-acc)" '
        'stroke-width="3" stroke-linecap="round"/><circle cx="16" cy="16.5" r="3.5" '
        'fill="var(--acc)" stroke="var(--on-acc)" stroke-width="2.5"/></svg>'
    )
    return (
        f'<a class="skip" href="#main" onclick="{_FOCUS}">{SKIP}</a>'
        f'<div class="bar-inner">{logo}<b>{TITLE}</b><span class="tag">{TAGLINE}</span>'
        f'{_navigation(page)}{_kinds(session)}<a class="paper" href="./findings#cite">{PAPER}</a>'
        "</div>"
    )
