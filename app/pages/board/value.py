"""A board as plain values for the page's script; every sentence is made here."""

from __future__ import annotations

from collections import Counter
from typing import Any

from app.parts.marks import mark
from app.runs.board import COLUMNS, DAMAGED, DEEPEST, SEED, Board, Row
from app.runs.links import write
from app.runs.sprites import OUTCOME_QUALITY, picture_uri
from app.runs.watch import alike, fixed_depth
from app.server.limits import MAX_OWN
from app.words import board as words
from app.words.try_it import EXAMPLE_TITLES
from dga.corruptions import CORRUPTIONS, family_of
from dga.request import Request
from dga.sentences import percent
from dga.stopping import Stop
from dga.titles import title

ALL = len(CORRUPTIONS)
MEASURED = ("forward", "reverse", "row")
KINDS_SHOWN = 40  # of more than that none can be picked from a list


def board_value(board: Board, notice: str = "") -> dict[str, Any]:
    """All that the screen shows, cells apart so that only what changed travels to the browser."""
    classes = board.profile.classifier.classes
    told = line_value(board) | {
        "key": board.key,
        "notice": notice,
        "lead": lead(board),
        "rows": [_row(board, row) for row in board.rows],
        "kinds": [] if board.example or len(classes) > KINDS_SHOWN else list(classes),
    }
    if board.method:
        return told | atlas_value(board)
    totals = [total(board, name) for name in COLUMNS]
    return told | {"headline": headline(board), "totals": totals}


def atlas_value(board: Board) -> dict[str, Any]:
    """An atlas's totals; ``headlines``, ``counts``: of each depth as the fixed one.

    ``known``: rows that are filled and whose class is known; 0: there are no totals.
    """
    deepest = min(DEEPEST, board.profile.schedule.steps)
    known = [(row.right, row.stop.t_star) for row in board.rows if row.right and row.stop]
    own = sum(right[depth] for right, depth in known)
    best = sum(any(right) for right, _ in known)
    counts = [sum(right[depth] for right, _ in known) for depth in range(deepest + 1)]

    def told(depth: int, fixed: int) -> str:
        than = words.MORE if own > fixed else words.FEWER if own < fixed else words.EQUAL
        known = {"whose": words.ITS if own == 1 else words.THEIR, "than": than.format(fixed=fixed)}
        return words.COUNTED.format(own=own, depth=depth, best=best, **known)

    return {
        "headlines": [headline(board, told(*pair)) for pair in enumerate(counts)],
        "counts": counts,
        "known": len(known),
        "own": own,
        "best": best,
        "fixed": board.profile.dda_depth,
        "failed": board.phase in ("cancelled", "error"),
    }


def line_value(board: Board) -> dict[str, Any]:
    """What the line of choices stands at."""
    return {
        "image": board.example or "own",
        "severity": board.severity,
        "method": board.method,
        "running": board.running,
        "files": bool(board.complete),
    }


def status_value(board: Board) -> dict[str, Any]:
    """What is going on, with its progress; what was left out or failed."""
    done, total = board.progress
    atlas = {"row": min(int(done) + 1, total), "rest": words.REST if board.method else ""}
    rows = {"done": len(board.complete), "total": len(board.rows)}
    known = rows if board.phase == "cancelled" else {"done": done, "total": total}
    name = "recorded" if board.recorded else board.phase
    if name == "cancelled" and board.shown is not board:
        name = "for_nothing"
    text = words.STATUS.get(name, "")
    left = ", ".join(f"{name} ({reason})" for name, reason in board.unreadable.items())
    return {
        "words": text.format(seconds=board.seconds, **known, **atlas),
        "progress": [done, total] if board.phase in MEASURED and total else None,
        "error": board.error or (words.UNREADABLE.format(names=left) if left else ""),
    }


def headline(board: Board, told_of_atlas: str = "") -> str:
    """One sentence with the totals that matter, once every row is there.

    ``told_of_atlas``: them in words, for an atlas.
    """
    known = words.HEADINGS | words.ATLAS if board.method else words.HEADINGS
    if not board.example and not board.rows:
        return known["own"].format(most=MAX_OWN)
    finished = 0 < len(board.complete) == len(board.rows)
    name = "done" if finished else "running" if board.phase != "empty" else "empty"
    title = EXAMPLE_TITLES.get(board.example or "", words.PICTURE).lower()
    told = {"all": ALL, "subject": words.SUBJECT.format(title=title), "told": told_of_atlas}
    told["damaged"], told["guided"], told["plus"] = (
        [row.verdict(column) for row in board.rows].count("right")
        for column in (DAMAGED, "dga-guided", "dga-plus")
    )
    changed = Counter((row.verdict(DAMAGED), row.verdict("dga-plus")) for row in board.rows)
    told |= {"gained": changed["wrong", "right"], "lost": changed["right", "wrong"]}
    if not board.example:
        named = sum(row.truth is not None for row in board.rows)
        run = "own_empty" if name == "empty" else "own_run"
        name = "own_named" if named and finished else run
        count = named if name == "own_named" else len(board.rows)
        told["pictures"] = words.PICTURES.get(count, words.MORE_PICTURES.format(count=count))
    elif finished and not any(row.truth for row in board.rows):
        name = "running"
    return known[name].format(**told)


def lead(board: Board) -> str:
    """What right means, or what happens next."""
    if board.phase == "empty" and (board.example or (board.method and board.rows)):
        press = words.PRESS_ATLAS if board.method else words.PRESS
        return press.format(deepest=DEEPEST, all=ALL)
    truths = {row.truth for row in board.rows}
    if board.example and (truth := board.rows[0].truth):
        article = "an" if truth[0] in "aeiou" else "a"
        also = words.POSSIBLE if board.method else words.OPEN
        return words.RIGHT.format(truth=f"{article} {truth}", also=also)
    named = [words.RIGHT_OWN, words.POSSIBLE] if board.method else [words.RIGHT_OWN]
    unnamed = words.UNNAMED_ATLAS if board.method else words.UNNAMED
    return " ".join(named * bool(truths - {None}) + [unnamed] * (not truths or None in truths))


def total(board: Board, column: str) -> dict[str, Any]:
    """How many of a column are right, a mark a row, and what the method did with them."""
    verdicts = [row.verdict(column) for row in board.rows]
    known = len(board.rows) - verdicts.count("")
    read, first = [row for row in board.rows if row.cell(column).said], column == DAMAGED
    return {
        "name": column,
        "title": words.AS_IT_CAME if first and not board.example else words.COLUMNS[column],
        "mark": mark(column),
        "right": verdicts.count("right") if known else None,
        "of": words.TOTAL.format(known=known) if known else words.TOTAL_NONE if read else "",
        "marks": [verdict == "right" for verdict in verdicts],
        "why": words.REASONS.get(column) or (_why(board, column, read) if read else ""),
    }


def _why(board: Board, column: str, read: list[Row]) -> str:
    system = board.systems[column]
    if depth := fixed_depth(system):
        return words.REASONS["fixed"].format(depth=depth)
    counts: Counter[str] = Counter()
    for row in read:
        cell = row.cells[column]
        if system.explain:
            counts["left" if cell.found == words.LEFT else "repaired"] += 1
        elif cell.stop:
            counts[way(cell.stop) if cell.stop.t_star else "left"] += 1
    names = ("crossed", "maximum", "repaired", "left")
    return ", ".join(words.REASONS[name].format(n=counts[name]) for name in names if counts[name])


def way(stop: Stop) -> str:
    """How the paper's search ended: a key of ``words.UNDER`` and ``words.HOW``."""
    if stop.t_star:
        return "crossed" if stop.crossed else "maximum"
    return "left" if stop.crossed else "hopeless"


def how(board: Board, row: Row, column: str) -> str:
    """How the damage was explained, or where it stopped."""
    cell = row.cells[column]
    if column == DAMAGED or cell.stop is None:
        return words.HOW[DAMAGED]
    system, name = board.systems[column], way(cell.stop)
    if system.explain:
        return cell.found
    if fixed_depth(system):
        twins = (s.name for s in board.systems.values() if s != system and alike(s, system))
        cells = map(row.cell, twins)
        same = any(c.said and c.stop and c.stop.t_star == cell.stop.t_star for c in cells)
        name = "same" if same else "dda"
    return words.HOW[name].format(depth=cell.stop.t_star)


def link(board: Board, row: Row) -> str:
    """Address of Try it with this picture and damage, an upload's own."""
    profile = board.profile
    rule, severity = profile.stopping, board.severity or 1
    damage = row.name if board.example else None
    request = Request(damage, severity, rule.tau, SEED, profile.dda_depth, rule.paths)
    method = f"&method={board.method}" if board.method else ""
    return f"./{write(profile, request, board.example)}{method}"


def _row(board: Board, row: Row) -> dict[str, Any]:
    stop = row.stop
    told = {
        "name": title(row.name) if board.example else row.name,
        "family": title(family_of(row.name)) if board.example else "",
        "under": words.UNDER[way(stop)].format(depth=stop.t_star) if stop else "",
        "truth": row.truth,
        "link": link(board, row),
        "file": row.file,
    }
    if not board.method:
        return told | {"cells": [_shown(board, row, name) for name in COLUMNS]}
    if row.depths is None or stop is None:
        return told
    said = [(one.label, round(one.probability, 3)) for one in row.depths.predictions]
    own = {"own": stop.t_star, "sure": stop.crossed}
    return told | own | {"said": said, "right": row.right}


def _shown(board: Board, row: Row, column: str) -> dict[str, Any]:
    cell = row.cell(column)
    told: dict[str, Any] = {"verdict": row.verdict(column)}
    if cell.image is not None:
        told["src"] = picture_uri(cell.image, OUTCOME_QUALITY)
    if cell.said:
        told["said"] = f"{cell.said.label} {percent(cell.said.probability)}"
        told["how"] = how(board, row, column)
    return told
