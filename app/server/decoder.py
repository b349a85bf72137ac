"""Pictures of strangers are decoded apart: a fresh process for each, with little to reach for.

A decoder that writes where it must not ends its own process and nobody else's, and finds
nothing of another visitor in its memory. :func:`main` is the small process that
these are forked from; where there is no fork (Windows) the page's own process decodes.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import logging
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from app.server.limits import PHOTO_PIXELS
from app.server.turns import TURNS
from dga.data import uploads
from dga.data.uploads import UploadError
from dga.images import Pixels
from dga.io.shipped import ROOT

MEMORY = 2**30  # bytes of data; an upload takes a quarter of that
MOST = 16 * 2**20  # bytes of an answer; the largest square takes 196,608, a photograph 3 MB
SECONDS = 10  # others wait; the slowest that is read takes four
PATIENCE = 2 * SECONDS  # for the answer: a decoder that was taken over may stop its own clock

_HAS_FORK = hasattr(os, "fork")
_TAKEN, _PIXELS, _SENTENCE = b"t", b"p", b"s"  # a request, and what follows
_HEAD = struct.Struct(">III")  # of pixels: height and width, and how many the picture came with
_DAMAGED = "This picture cannot be decoded; please save it as PNG or choose another."

# Somebody's own app.py may be found before this package, whatever folder this starts in.
_START = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r}); from app.server.decoder import main; main()"
)
_NONE = "Choose a picture first: upload one, paste one or pick an example."

_log = logging.getLogger(__name__)


class Decoder:
    """The process that pictures are decoded from, by turns; it starts when it is needed."""

    def __init__(self) -> None:
        self._line: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def read_square(self, path: str | Path | None, size: int) -> Pixels:
        """As :func:`dga.data.uploads.read_square`, in a process of its own."""
        return self._pixels(path, size)[0]

    def read_photograph(self, path: str | Path | None) -> tuple[Pixels, int]:
        """As :func:`dga.data.uploads.read_photograph`, in a process of its own."""
        return self._pixels(path, 0)

    def _pixels(self, path: str | Path | None, size: int) -> tuple[Pixels, int]:
        if not path:
            raise UploadError(_NONE)
        if not _HAS_FORK:
            with TURNS.turn():  # one at a time bounds the memory
                return _read(path, size)
        with TURNS.turn():
            answer = self._answer(b"%d " % size + os.fsencode(Path(path).absolute()))
        kind, content = answer[:1], answer[1 + _HEAD.size :]
        if kind == _SENTENCE:
            raise UploadError(answer[1:].decode(errors="replace"))
        if kind != _PIXELS:
            _log.warning("A picture's decoder ended without an answer")
        elif len(answer) > _HEAD.size:
            height, width, came = _HEAD.unpack_from(answer, 1)
            asked_for = size in (0, height) and size in (0, width)
            if asked_for and len(content) == height * width * 3 > 0:
                shape = (height, width, 3)
                return np.frombuffer(content, np.uint8).reshape(shape).copy(), came
        raise UploadError(_DAMAGED)

    def start(self) -> None:
        """Have the process ready before the first picture comes."""
        if _HAS_FORK:
            with TURNS.turn():
                self._running()

    def close(self) -> None:
        """End the process; the next picture starts another."""
        if self._line is not None and self._process is not None:
            self._line.close()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()

    def _answer(self, asked: bytes) -> bytes:
        """Ask, and once more where the process has been killed in between."""
        for _ in range(2):
            reading, writing = os.pipe()  # its own: no decoder can answer in another's name
            with os.fdopen(reading, "rb", 0) as pipe:
                with os.fdopen(writing, "wb"), contextlib.suppress(OSError):
                    socket.send_fds(self._running(), [asked], [writing])
                answer = self._read(pipe)
            if answer:  # at least that it was taken
                return answer[1:]
            self._process = None
        return b""

    def _read(self, pipe: io.FileIO) -> bytes:
        """All until nobody can write any more, which must be soon, and little."""
        content, end = b"", time.monotonic() + PATIENCE
        while len(content) <= MOST:
            if not select.select([pipe], [], [], max(0.0, end - time.monotonic()))[0]:
                assert self._process is not None
                os.killpg(self._process.pid, signal.SIGKILL)  # with all that it forked
                self._process = None
                return _TAKEN
            if not (piece := pipe.read(2**20)):
                break
            content += piece
        return content

    def _running(self) -> socket.socket:
        if self._line is None or self._process is None or self._process.poll() is not None:
            self._line, theirs = socket.socketpair()
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _START],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    cwd=ROOT,
                    env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
                    start_new_session=True,  # Ctrl+C is for the page, whose end then closes
                )
        return self._line


_decoder = Decoder()
read_square, start = _decoder.read_square, _decoder.start
read_photograph = _decoder.read_photograph
atexit.register(_decoder.close)


def apart(
    work: Callable[[], bytes], answer: int, memory: int = MEMORY, seconds: int = SECONDS
) -> None:
    """Have a forked process write what ``work`` returns into the pipe ``answer``, if it can.

    It has no more memory and time than a picture needs, writes no file and dumps no core.
    """
    import resource  # not on Windows

    if os.fork():
        return
    try:
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)  # the line is not for a decoder
        limits = {resource.RLIMIT_DATA: memory, resource.RLIMIT_CPU: seconds}
        limits |= dict.fromkeys((resource.RLIMIT_FSIZE, resource.RLIMIT_CORE), 0)
        for kind, most in limits.items():
            _, hard = resource.getrlimit(kind)
            resource.setrlimit(kind, (most if hard < 0 else min(most, hard), hard))
        signal.alarm(seconds)  # the wall's clock: a file may lie on a disk that does not answer
        with os.fdopen(answer, "wb") as pipe:
            pipe.write(work())
    finally:
        os._exit(0)


def _read(path: str | Path, size: int) -> tuple[Pixels, int]:
    """A square of so many pixels a side, or with 0 a photograph; how many pixels that had."""
    if size:
        return uploads.read_square(path, size), 0
    return uploads.read_photograph(path, PHOTO_PIXELS)


def _decoded(path: str, size: int) -> bytes:
    try:
        pixels, came = _read(path, size)
    except UploadError as error:
        return _SENTENCE + str(error).encode()
    return _PIXELS + _HEAD.pack(*pixels.shape[:2], came) + pixels.tobytes()


def serve(line: socket.socket) -> None:
    """Until the page closes its end, which it does even when it is killed."""
    Image.init()  # all formats' modules, once for all that are forked from here
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that have ended
    while True:
        asked, pipes, *_ = socket.recv_fds(line, 2**16, 1)
        if not asked:
            return
        size, path = asked.split(b" ", 1)
        os.write(pipes[0], _TAKEN)
        apart(partial(_decoded, os.fsdecode(path), int(size)), pipes[0])
        os.close(pipes[0])


def main() -> None:
    """Entry of the process that decoders are forked from; the page is at its standard input."""
    with contextlib.suppress(KeyboardInterrupt):
        serve(socket.socket(fileno=0))
