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
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

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
_REQUEST = struct.Struct(">II")  # side of the square or 0 for all of it, length of the path
_SIZE = struct.Struct(">III")  # height and width of a photograph, pixels that it came with
_ANSWER = struct.Struct(">cI")  # one of the kinds, length of what follows
_PIXELS, _SENTENCE, _ENDED = b"p", b"s", b"e"
_DAMAGED = "This picture cannot be decoded; please save it as PNG or choose another."
_TRIES = 2

_log = logging.getLogger(__name__)


class Decoder:
    """The process that pictures are decoded from, by turns; it starts when it is needed."""

    def __init__(self, turns: Turns = TURNS) -> None:
        self._turns = turns
        self._process: subprocess.Popen[bytes] | None = None

    def read_square(self, path: str | Path | None, size: int) -> Pixels:
        """As :func:`dga.data.uploads.read_square`, in a process of its own."""
        if not path or not _HAS_FORK:
            return uploads.read_square(path, size)
        content = self._read(path, size)
        if len(content) == size * size * 3:
            return np.frombuffer(content, np.uint8).reshape(size, size, 3).copy()
        raise UploadError(_DAMAGED)

    def read_photograph(self, path: str | Path | None) -> tuple[Pixels, int]:
        """As :func:`dga.data.uploads.read_photograph`, in a process of its own."""
        if not path or not _HAS_FORK:
            return uploads.read_photograph(path, PHOTO_PIXELS)
        content = self._read(path, 0)
        if len(content) > _SIZE.size:
            height, width, came = _SIZE.unpack_from(content)
            if len(content) == _SIZE.size + height * width * 3:
                pixels = np.frombuffer(content, np.uint8, offset=_SIZE.size)
                return pixels.reshape(height, width, 3).copy(), came
        raise UploadError(_DAMAGED)

    def _read(self, path: str | Path, size: int) -> bytes:
        """What a picture was decoded to. Raises ``UploadError``."""
        with self._turns.turn():
            kind, content = self._answer(os.fsencode(Path(path).absolute()), size)
        if kind == _PIXELS:
            return content
        if kind == _SENTENCE:
            raise UploadError(content.decode(errors="replace"))
        _log.warning("A picture's decoder ended with status %r", content[:40])
        raise UploadError(_DAMAGED)

    def start(self) -> None:
        """Have the process ready before the first picture comes."""
        if _HAS_FORK:
            with self._turns.turn():
                self._running()

    def close(self) -> None:
        """End the process; the next picture starts another."""
        process, self._process = self._process, None
        if process is None or process.stdin is None or process.stdout is None:
            return
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
        process.stdout.close()

    def _answer(self, path: bytes, size: int) -> tuple[bytes, bytes]:
        """Ask, and once more where the process has been killed in between."""
        for _ in range(_TRIES):
            process = self._running()
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                process.stdin.write(_REQUEST.pack(size, len(path)) + path)
                process.stdin.flush()
                if not select.select([process.stdout], [], [], PATIENCE)[0]:
                    os.killpg(process.pid, signal.SIGKILL)  # with all that it forked
                    self._process = None
                    break
                kind, length = _ANSWER.unpack(process.stdout.read(_ANSWER.size))
                content = process.stdout.read(length)
            except (OSError, struct.error):
                content, length = b"", -1
            if len(content) == length:
                return kind, content
            self._process = None
        return _ENDED, b"of the process that it comes from"

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "app.server.decoder"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
                start_new_session=True,  # Ctrl+C is for the page, which then closes the pipe
            )
        return self._process


_decoder = Decoder()
read_square, start = _decoder.read_square, _decoder.start
read_photograph = _decoder.read_photograph
atexit.register(_decoder.close)


def apart(
    work: Callable[[], bytes], memory: int = MEMORY, seconds: int = SECONDS, most: int = MOST
) -> bytes:
    """What ``work`` returns in a forked process; how it ended otherwise, framed as an answer.

    No more than ``most`` bytes are read; whoever writes more has its pipe closed.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.close(reading)
            _let_go()
            _confine(memory, seconds)
            with os.fdopen(writing, "wb") as answer:
                answer.write(work())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        content = answer.read(most)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return content if status == 0 else _framed(_ENDED, str(status).encode())


def _let_go() -> None:
    """The page's own pipes are not for a decoder, which might answer in another's name."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(nothing, number)


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


def checked(answer: bytes) -> bytes:
    """The answer if it is one and no more; a decoder that was taken over may say anything.

    What lay behind it in the pipe would be taken for the answer to the next visitor.
    """
    if len(answer) >= _ANSWER.size:
        kind, length = _ANSWER.unpack_from(answer)
        if kind in (_PIXELS, _SENTENCE, _ENDED) and len(answer) == _ANSWER.size + length:
            return answer
    return _framed(_ENDED, b"an answer of another form")


def _framed(kind: bytes, content: bytes) -> bytes:
    return _ANSWER.pack(kind, len(content)) + content


def _decoded(path: bytes, size: int) -> bytes:
    try:
        if size:
            return _framed(_PIXELS, uploads.read_square(os.fsdecode(path), size).tobytes())
        pixels, came = uploads.read_photograph(os.fsdecode(path), PHOTO_PIXELS)
        return _framed(_PIXELS, _SIZE.pack(*pixels.shape[:2], came) + pixels.tobytes())
    except UploadError as error:
        return _framed(_SENTENCE, str(error).encode())


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Until the page closes the pipe, which it does even when it is killed."""
    Image.init()  # all formats' modules, once for all that are forked from here
    while header := requests.read(_REQUEST.size):
        size, length = _REQUEST.unpack(header)
        path = requests.read(length)
        answer = apart(lambda path=path, size=size: _decoded(path, size))  # type: ignore[misc]
        answers.write(checked(answer))
        answers.flush()


if __name__ == "__main__":
    _serve(sys.stdin.buffer, sys.stdout.buffer)
