"""What surrounds every page: header, links between pages, styles."""

from __future__ import annotations

from app.parts.html import html, rendered, static
from app.runs.session import Session
from app.words import common as words

_ICONS = {
    "": "M8 2.5a5.5 5.5 0 1 0 5.5 5.5M8 5v3h3",
    "photo": "M2 3h12v10H2zM2 11l3.5-3.5L8 10l2.5-3L14 10.5",
    "board": "M2.5 2.5H7V7H2.5zM9 2.5h4.5V7H9zM2.5 9H7v4.5H2.5zM9 9h4.5v4.5H9z",
    "findings": "M3 13V8M8 13V3M13 13V6",
    "learn": "M1.5 6L8 3l6.5 3L8 9zM4 7.5V11c2 2 6 2 8 0V7.5",
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
        f"src: url({_FONT}{name}.woff2); font-display: optional; }}</style>"
        for name, weight in (("Regular", 400), ("Bold", 700))
    )
    return f'<meta name="description" content="{words.DESCRIPTION}">{fonts}<style>{styles}</style>'


def first_screen(
    session: Session, page: str, heading: str, text: str = "", picture: str = ""
) -> str:
    """What is seen while scripts load, as HTML: the header and what a page opens with.

    It goes as soon as the page itself has as much to show.
    """
    there = "#head .bar-inner" if page else "#try h1:not(:empty)"
    there = "#ph-stage .ph-after[src]" if picture else there
    said = f'<h1>{heading}</h1><p class="lead">{text}</p>' if page and heading else heading
    said = f"{picture}<div>{said}</div>" if picture else said
    script = (static() / "shared/first.js").read_text("utf-8")
    return (
        f'<div id="first" data-there="{there}"><div>{_header(session, page)}</div>'
        f'<div class="first-{page or "try"}">{said}</div></div><script>{script}</script>'
    )


def foot() -> None:
    """The line at the end of every page."""
    html(f"<p>{words.FOOTER}</p>", elem_id="foot")


def header(session: Session, page: str) -> None:
    """The header of a page, whose links are one Tab stop."""
    html(_header(session, page), scripts=["shared/header"], elem_id="head")


def _header(session: Session, page: str) -> str:
    """Name, links and what the models know; ``page``: which one is open."""
    profile = session.profile
    names = profile.classifier.classes
    kinds = [text.format(n=len(names), size=profile.image_size) for text in words.KINDS]
    return rendered(
        "shared/header",
        words=words,
        page=page,
        icons=_ICONS,
        focus=_FOCUS,
        names=names,
        kinds=kinds,
    )
