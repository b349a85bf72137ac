"""What a visitor asks of the Board, answered as updates of it."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import PurePath
from typing import Any

import gradio as gr

from app.pages.board.value import board_value, line_value, status_value
from app.pages.run_handlers import RunHandlers, Update, answered, told
from app.parts.examples import Example
from app.parts.pictures import uri
from app.presets.boards import Boards
from app.runs.board import DAMAGED, DEEPEST, METHODS, Board, Cell, Row, key_of, run
from app.runs.session import Session
from app.runs.visitors import Visitors
from app.server.decoder import read_square
from app.server.errors import RequestError
from app.server.limits import MAX_OWN
from app.server.queue_position import QueuePositions, place_words
from app.server.request_body import is_upload
from app.server.turns import TURNS
from app.server.upload_folder import kept
from app.words import board as words
from dga.corruptions import SEVERITIES
from dga.data.uploads import UploadError
from dga.io.parsing import shortened

PICTURE_INTERVAL = 0.5  # seconds between two previews
SEVERITY, OWN = 5, "own"
LONGEST_NAME = 80
_TOKEN = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class BoardComponents:
    """The components that handlers read and write."""

    line: gr.HTML
    screen: gr.HTML
    status: gr.HTML
    run: gr.Button
    cancel: gr.Button
    sheet: gr.HTML
    saved: gr.File
    timer: gr.Timer


@dataclass(frozen=True)
class Asked:
    """``owner``: whose boards; ``image``: an example's name or ``own``; ``notice``: not known.

    ``method``: of an atlas, else empty; ``told``: all that the page's script said.
    """

    owner: str
    image: str
    severity: int
    method: str
    notice: str
    told: Mapping[str, Any]

    @property
    def key(self) -> str:
        severity = None if self.image == OWN else self.severity
        return f"{self.owner} {key_of(self.image, severity, self.method)}"


def parse(text: object, visitor: str, examples: Sequence[str], fixed: int) -> Asked:
    """A question in JSON, all optional: ``token``, ``image``, ``severity``, ``atlas``, ``dda``.

    ``fixed``: the depth that an atlas opens with; another, ``dda``, is the page's own affair.

    The token, which only this visitor's browser knows, outlives a reload. Never raises: what is
    not known is replaced by the page's own and named in the notice.
    """
    asked = told(text)
    token = str(asked.get("token"))
    owner = token if _TOKEN.fullmatch(token) else visitor
    known: dict[str, tuple[Any, Collection[Any]]] = {  # usual and allowed values
        "image": (examples[0], (*examples, OWN)),
        "severity": (SEVERITY, SEVERITIES),
        "atlas": ("", ("", *METHODS)),
        "dda": (fixed, range(DEEPEST + 1)),
    }
    values, notices = list[Any](), []
    for name, (usual, allowed) in known.items():
        given = str(usual if asked.get(name) is None else asked[name])
        values.append(next((value for value in allowed if str(value) == given), usual))
        if given != str(values[-1]):
            used, value = usual or words.LABELS["pictures"], shortened(given)
            notices.append(words.UNKNOWN_LINK.format(name=name, value=value, used=used))
    image, severity, method, _ = values
    return Asked(owner, image, severity, method, " ".join(notices), asked)


def named_kind(file: str, classes: Sequence[str]) -> str | None:
    """The class whose name stands in a file's name; None where none or several do."""
    text = f" {re.sub('[^a-z]+', ' ', PurePath(file).stem.lower())} "
    found = set()
    for name in sorted(classes, key=len, reverse=True):  # "big cat" is no "cat"
        if f" {name.lower()} " in text:
            found.add(name)
            text = text.replace(f" {name.lower()} ", " ")
    return found.pop() if len(found) == 1 else None


class BoardHandlers(RunHandlers[Board]):
    """One run a visitor; ``asked``: the question of :func:`parse`."""

    def __init__(
        self,
        session: Session,
        examples: Sequence[Example],
        components: BoardComponents,
        line: QueuePositions,
        boards: Boards,
    ) -> None:
        super().__init__(line, (components.run, components.cancel), components.timer)
        self.session, self.components, self.boards = session, components, boards
        self.examples = {example.name: example for example in examples}
        self.kept = Visitors[Board](lambda board: board.running)
        self._damaged = lru_cache(maxsize=32)(self._damage)

    def parsed(self, visitor: str, text: object) -> Asked:
        return parse(text, visitor, tuple(self.examples), self.session.profile.dda_depth)

    def board(self, asked: Asked) -> Board:
        """The visitor's own run, else the recorded one, else what can be run."""
        known = self._last(asked)
        if asked.image == OWN:
            own = self._last(replace(asked, method="")) or Board(
                self.session.profile, None, None, []
            )
            current = known if known and known.files == own.files else None  # since no new ones
            return current or own.again(asked.method)
        recorded = known or self.boards.find(asked.image, asked.severity, asked.method)
        return recorded or self._damaged(asked.image, asked.severity).again(asked.method)

    def _last(self, asked: Asked) -> Board | None:
        last = self.kept.last(asked.key)
        return last and last.shown

    def _damage(self, name: str, severity: int) -> Board:
        """Without a network; only examples: an upload is forgotten with its file."""
        with TURNS.turn():  # fifteen corruptions are work
            return Board.of_example(self.session.profile, self.examples[name], severity)

    @answered
    def show(self, visitor: str, asked: Asked) -> Update:
        """What the address or a choice asks for; a run under way goes on and is shown."""
        if self.line.has(visitor):
            return {self.components.status: gr.skip()}
        return self._opened(self.board(asked), asked.notice)

    def _opened(self, board: Board, notice: str) -> Update:
        label = words.RUN if board.example else words.RUN_OWN
        button = gr.update(value=label, interactive=bool(board.rows) and not board.running)
        return self.shown(board, notice) | {self.components.run: button}

    @answered
    def drop(self, visitor: str, asked: Asked) -> Update:
        """Pictures of the visitor's own take the place of her last ones; nothing is run yet."""
        files = asked.told.get("files")
        given = files if isinstance(files, list) else []
        once = {str(file.get("path")): file for file in given if isinstance(file, Mapping)}
        given = list(once.values())
        rows, unreadable, size = [], {}, self.session.profile.image_size
        for file in given[:MAX_OWN]:
            path, name = str(file.get("path")), str(file.get("name")).replace("\\", "/")
            name = PurePath(name).name[-LONGEST_NAME:] or "picture"  # short enough for a row
            try:
                if not is_upload(path):
                    raise RequestError(words.NOT_KEPT)
                pixels = read_square(path, size)
            except (UploadError, RequestError) as error:
                unreadable[name] = str(error).rstrip(".")
                continue
            truth = named_kind(name, self.session.profile.classifier.classes)
            rows.append(Row(name, truth, {DAMAGED: Cell(pixels)}, file=path))
        board = Board(self.session.profile, None, None, rows, unreadable=unreadable)
        notice = words.LABELS["too_many"].format(most=MAX_OWN) if len(given) > MAX_OWN else ""
        if not rows:
            raise RequestError(f"{words.NOTHING_READ} {status_value(board)['error']}".strip())
        asked = replace(asked, image=OWN)
        self.kept.put(replace(asked, method="").key, board)
        return self._opened(replace(self.board(asked), unreadable=unreadable), notice)

    @answered
    def name(self, visitor: str, asked: Asked) -> Update:
        """What an own picture shows, as the visitor says; "" for not known."""
        views = (replace(asked, image=OWN, method=method) for method in ("", *METHODS))
        boards = {view.method: self.board(view) for view in views}
        truth, numbers = asked.told.get("truth"), map(str, range(len(boards[""].rows)))
        if (row := str(asked.told.get("row"))) not in numbers:
            raise RequestError(words.NOT_KEPT)
        classes = self.session.profile.classifier.classes
        before = (board.before for board in boards.values() if board.before)
        for board in (*boards.values(), *before):  # shown again where this run finishes no row
            board.rows[int(row)].truth = str(truth) if truth in classes else None
        return self.shown(boards[asked.method])

    @answered
    def pictures(self, visitor: str, asked: Asked) -> Update:
        """A row's pictures from every depth, in one sheet."""
        board = self.board(asked)
        sheets = {str(n): row.depths.sheet for n, row in enumerate(board.rows) if row.depths}
        if (row := str(asked.told.get("row"))) not in sheets:
            raise RequestError(words.NOT_KEPT)
        src = uri(sheets[row], "webp")
        return {self.components.sheet: {"key": board.key, "row": row, "src": src}}

    @answered
    def save(self, visitor: str, asked: Asked) -> Update:
        """The table or, with the rebuilt pictures, the ZIP as a file."""
        board = self.board(asked)
        if not board.complete:
            raise RequestError(words.NOT_KEPT)
        kind = "csv" if asked.told.get("file") == "csv" else "zip"
        content = board.csv().encode() if kind == "csv" else board.zip()
        return {self.components.saved: kept(io.BytesIO(content), f"board-{board.key}.{kind}")}

    def wait(self, place: int) -> Update:
        text = place_words(place) if place else words.STATUS["wait"]
        return self._said(text) | {self.timer: gr.Timer(active=place > 0)}

    def begin(self, visitor: str, *asked: Any) -> Board:
        wanted = self.parsed(visitor, asked[0] if asked else "")
        if wanted.notice:
            raise RequestError(wanted.notice)
        before = self.board(wanted)
        known = self.kept.last(wanted.key) if wanted.image != OWN else before
        board = (known or self._damaged(wanted.image, wanted.severity)).again(wanted.method)
        if not board.rows:
            raise RequestError(words.NO_PICTURES)
        board.phase, board.before = "wait", replace(before, before=None)
        return self.kept.put(wanted.key, board)

    def news(self, board: Board) -> Iterator[Update]:
        """Progress after every step, pictures a few times a second."""
        shown = 0.0
        for _ in run(self.session, board):
            if time.monotonic() - shown < PICTURE_INTERVAL:
                if not board.method:  # an atlas takes many small steps
                    yield {self.components.status: status_value(board)}
                continue
            yield self.shown(board)
            shown = time.monotonic()
        if board.example:
            self.boards.keep(board)
        yield self.shown(board)

    def shown(self, board: Board, notice: str = "") -> Update:
        parts = self.components
        return {
            parts.line: line_value(board.shown),
            parts.screen: board_value(board.shown, notice),
            parts.status: status_value(board),
        }

    def complain(self, visitor: str, sentence: str) -> Update:
        return self._said("", sentence)

    def _said(self, text: str, error: str = "") -> Update:
        return {self.components.status: {"words": text, "progress": None, "error": error}}
