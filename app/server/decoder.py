"""Pictures of strangers are decoded apart: a fresh process for each, with little to reach for.

A decoder that writes where it must not ends its own process and nobody else's, and finds
nothing of another visitor in its memory. ``python -m app.server.decoder`` is the small process that
these are forked from; where there is no fork (Windows) the page's own process decodes.
"""

from __future__ import annotations

import atexit
import contextlib
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
from pathlib import Path

import numpy as np
from PIL import Image

from app.server.limits import PHOTO_PIXELS
from app.server.turns import TURNS, Turns
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
_SIZE = struct.Struct(">III")  # height and width of a photograph, pixels that it came with
_DAMAGED = "This picture cannot be decoded; please save it as PNG or choose another."
_TRIES = 2

_log = logging.getLogger(__name__)


class Decoder:
    """The process that pictures are decoded from, by turns; it starts when it is needed."""

    def __init__(self, turns: Turns = TURNS) -> None:
        self._turns = turns
        self._line: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def read_square(self, path: str | Path | None, size: int) -> Pixels:
        """As :func:`dga.data.uploads.read_square`, in a process of its own."""
        if not path or not _HAS_FORK:
            return uploads.read_square(path, size)
        content = self._decoded(path, size)
        if len(content) == size * size * 3:
            return np.frombuffer(content, np.uint8).reshape(size, size, 3).copy()
        raise UploadError(_DAMAGED)

    def read_photograph(self, path: str | Path | None) -> tuple[Pixels, int]:
        """As :func:`dga.data.uploads.read_photograph`, in a process of its own."""
        if not path or not _HAS_FORK:
            return uploads.read_photograph(path, PHOTO_PIXELS)
        content = self._decoded(path, 0)
        if len(content) > _SIZE.size:
            height, width, came = _SIZE.unpack_from(content)
            if len(content) == _SIZE.size + height * width * 3:
                pixels = np.frombuffer(content, np.uint8, offset=_SIZE.size)
                return pixels.reshape(height, width, 3).copy(), came
        raise UploadError(_DAMAGED)

    def _decoded(self, path: str | Path, size: int) -> bytes:
        """What a picture was decoded to. Raises ``UploadError``."""
        with self._turns.turn():
            answer = self._answer(b"%d " % size + os.fsencode(Path(path).absolute()))
        kind, content = answer[:1], answer[1:]
        if kind == _PIXELS:
            return content
        if kind == _SENTENCE:
            raise UploadError(content.decode(errors="replace"))
        _log.warning("A picture's decoder ended without an answer")
        raise UploadError(_DAMAGED)

    def start(self) -> None:
        """Have the process ready before the first picture comes."""
        if _HAS_FORK:
            with self._turns.turn():
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
        """Ask, and once more where the process has been killed in between.

        Every picture has a pipe of its own: no decoder can answer in another's name.
        """
        for _ in range(_TRIES):
            reading, writing = os.pipe()
            try:
                socket.send_fds(self._running(), [asked], [writing])
            except OSError:
                self._process = None
            os.close(writing)
            try:
                answer = self._read(reading)
            finally:
                os.close(reading)
            if answer:  # at least that it was taken
                return answer[1:]
            self._process = None
        return b""

    def _read(self, pipe: int) -> bytes:
        """All until nobody can write any more, which must be soon, and little."""
        content, end = b"", time.monotonic() + PATIENCE
        while len(content) <= MOST:
            if not select.select([pipe], [], [], max(0.0, end - time.monotonic()))[0]:
                assert self._process is not None
                os.killpg(self._process.pid, signal.SIGKILL)  # with all that it forked
                self._process = None
                return _TAKEN
            piece = os.read(pipe, 2**20)
            if not piece:
                break
            content += piece
        return content

    def _running(self) -> socket.socket:
        if self._line is None or self._process is None or self._process.poll() is not None:
            self._line, theirs = socket.socketpair()
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "app.server.decoder"],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    env=os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
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
    """Have a forked process write what ``work`` returns into the pipe ``answer``, if it can."""
    if os.fork():
        return
    try:
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)  # the line is not for a decoder
        _confine(memory, seconds)
        with os.fdopen(answer, "wb") as pipe:
            pipe.write(work())
    finally:
        os._exit(0)


def _confine(memory: int, seconds: int) -> None:
    """No more memory and time than a picture needs, no files written, no core dumped."""
    import resource  # not on Windows

    limits = {
        resource.RLIMIT_DATA: memory,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
    }
    for kind, most in limits.items():
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (most if hard < 0 else min(most, hard), hard))
    signal.alarm(seconds)  # the wall's clock: a file may lie on a disk that does not answer


def _decoded(path: bytes, size: int) -> bytes:
    try:
        if size:
            return _PIXELS + uploads.read_square(os.fsdecode(path), size).tobytes()
        pixels, came = uploads.read_photograph(os.fsdecode(path), PHOTO_PIXELS)
        return _PIXELS + _SIZE.pack(*pixels.shape[:2], came) + pixels.tobytes()
    except UploadError as error:
        return _SENTENCE + str(error).encode()


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
        apart(lambda path=path, size=size: _decoded(path, int(size)), pipes[0])  # type: ignore[misc]
        os.close(pipes[0])


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        serve(socket.socket(fileno=0))
