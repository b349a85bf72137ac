"""Tables and figures as HTML: titles, sortable tables, downloads and commands."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from urllib.parse import quote

from app.pages.findings.exhibits import Exhibit, TableContent
from app.words.findings import FINDINGS_WORDS as WORDS

NOTHING = "\N{EN DASH}"
DOWNLOADS = ("csv", "png", "json")
_NUMBER = re.compile(r"[+\u2212-]?\d")
_PERCENT = re.compile(r"\d+(\.\d+)?")
_INTERVAL = re.compile(rf"^([+\u2212-]?\d\S*) (\(.+(?:{NOTHING}| to ).+\))$")
_EMPHASIS = re.compile(r"^\*{1,2}(.+?)\*{1,2}$")
DOWN = (
    '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M8 2v8M4.5 7L8 10.5 11.5 7M3 13.5h10"/>'
    "</svg>"
)


def exhibit_html(exhibit: Exhibit) -> str:
    """The whole exhibit, folded under its title; after the title's first comma, what it is on."""
    title, _, more = exhibit.title.partition(", ")
    detail = f" <small>{escape(more[:1].upper() + more[1:])}</small>" if more else ""
    shown = ""
    if exhibit.content:
        shown = table_html(exhibit.content, exhibit.title, exhibit.name.startswith("table-2"))
    elif "png" in exhibit.downloads:  # which a browser asks for when its fold is opened
        alt = escape(f"{exhibit.title}. {exhibit.caption}")
        source = address(exhibit, "png")
        shown = f'<img class="ex-figure" loading="lazy" alt="{alt}" src="{source}">'
    return (
        f'<details class="ex" id="{exhibit.key}"><summary>{escape(title)}{detail}</summary>'
        f"{shown}{text_html(exhibit)}</details>"
    )


def address(exhibit: Exhibit, ending: str) -> str:
    """Where a file is served, relative to the page."""
    return f"gradio_api/file={quote(str(exhibit.downloads[ending]))}"


def text_html(exhibit: Exhibit) -> str:
    """Caption, what is wrong, downloads and commands."""
    notes = "".join(f'<p class="ex-note">{escape(note)}</p>' for note in exhibit.problems)
    links = "".join(download(exhibit, ending, "tool") for ending in DOWNLOADS)
    return (
        f'<div class="ex-text"><p class="ex-caption">{escape(exhibit.caption)}</p>{notes}'
        f'<div class="ex-tools">{links}</div><details class="ex-made">'
        f"<summary>{WORDS['made_by']}</summary>{commands_html(exhibit.commands)}</details></div>"
    )


def download(exhibit: Exhibit, ending: str, look: str = "") -> str:
    """A link to one of the exhibit's files, empty where it has none of this ending."""
    if ending not in exhibit.downloads:
        return ""
    of = escape(WORDS["of"].format(title=exhibit.title))
    return (
        f'<a class="{look}" href="{address(exhibit, ending)}" '
        f'download="{exhibit.name}.{ending}">{DOWN}{ending.upper()}'
        f'<span class="hidden-words"> {of}</span></a>'
    )


def commands_html(commands: Iterable[str]) -> str:
    """Commands, one a line, with a button that copies them all."""
    lines = "".join(f"<code>{escape(command)}</code>" for command in commands)
    return (
        f'<div class="commands"><pre tabindex="0">{lines}</pre>'
        f'<button type="button" class="tool copy-lines">{WORDS["copy"]}</button></div>'
    )


def table_html(table: TableContent, title: str, heated: bool = False) -> str:
    """The table in a box that scrolls sideways; its headers are buttons that sort.

    ``heated``: cells of percentages are the darker the more they are.
    """
    numeric = [_is_numeric(row[i] for row in table.rows) for i in range(len(table.columns))]
    head = "".join(
        f'<th scope="col"{_kind(is_number)}><button type="button">{escape(name)}</button></th>'
        for name, is_number in zip(table.columns, numeric, strict=True)
    )
    body = "".join(_row(row, numeric, heated) for row in table.rows)
    return (
        f'<div class="ex-table{" heated" if heated else ""}" tabindex="0" role="region" '
        f'aria-label="{escape(title)}"><table>'
        f'<caption class="hidden-words">{escape(title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _is_numeric(cells: Iterable[str]) -> bool:
    known = [cell for cell in cells if cell != NOTHING]
    return bool(known) and all(_NUMBER.match(cell) for cell in known)


def _kind(is_number: bool) -> str:
    return ' class="n"' if is_number else ""


def _row(row: tuple[str, ...], numeric: list[bool], heated: bool) -> str:
    name = row[0]
    quoted = ' class="paper"' if _EMPHASIS.match(name) else ""
    first = f'<th scope="row"{_kind(numeric[0])}>{_cell(name)}</th>'
    others = "".join(
        f"<td{_kind(is_number)}{_heat(cell) if heated else ''}>{_cell(cell)}</td>"
        for cell, is_number in zip(row[1:], numeric[1:], strict=True)
    )
    return f"<tr{quoted}>{first}{others}</tr>"


def _heat(cell: str) -> str:
    found = _PERCENT.match(cell)
    return f' style="--share:{float(found[0]):.0f}%"' if found else ""


def _cell(cell: str) -> str:
    """Escaped; intervals after a value are set smaller."""
    return _INTERVAL.sub(r"\1 <small>\2</small>", escape(_EMPHASIS.sub(r"\1", cell)))
