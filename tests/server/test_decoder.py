"""Strangers' pictures are decoded in processes of their own."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app.server import decoder as apart
from app.server.decoder import Decoder
from app.server.limits import PHOTO_PIXELS
from dga.data import uploads
from dga.data.uploads import UploadError
from tests.fuzz import blocks
from tests.fuzz.files import seeds

SQUARE = b"p" + struct.pack(">III", 32, 32, 0) + bytes(32 * 32 * 3)
ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes to fork")


@pytest.fixture
def decoder() -> Iterator[Decoder]:
    made = Decoder()
    yield made
    made.close()


@pytest.fixture
def png(tmp_path: Path) -> Path:
    path = tmp_path / "a.png"
    path.write_bytes(blocks.saved("PNG"))
    return path


def process_of(decoder: Decoder) -> int:
    assert decoder._process is not None
    return decoder._process.pid


@pytest.mark.parametrize("name", seeds())
def test_the_same_pixels(decoder: Decoder, tmp_path: Path, name: str) -> None:
    path = tmp_path / "picture"
    path.write_bytes(seeds()[name]())
    for size in (24, 64):
        found = decoder.read_square(path, size)
        assert np.array_equal(found, uploads.read_square(path, size))
        assert found.flags.writeable


@pytest.mark.parametrize("content", [b"", b"words", seeds()["png"]()[:99], b"\x89PNG\r\n\x1a\n"])
def test_the_same_sentences(decoder: Decoder, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "no picture"
    path.write_bytes(content)
    said = []
    for read in (decoder.read_square, uploads.read_square):
        with pytest.raises(UploadError) as refused:
            read(path, 64)
        said.append(str(refused.value))
    assert said[0] == said[1]


def test_no_picture_at_all(decoder: Decoder, tmp_path: Path) -> None:
    with pytest.raises(UploadError, match="Choose a picture first"):
        decoder.read_square(None, 64)
    with pytest.raises(UploadError, match="There is no such file"):
        decoder.read_square(tmp_path / "nothing", 64)


def test_names_of_any_bytes(decoder: Decoder, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"\xff ' \n.png")
    Path(name).write_bytes(blocks.saved("PNG"))
    assert decoder.read_square(name, 32).shape == (32, 32, 3)


def test_it_comes_back_when_it_is_killed(decoder: Decoder, png: Path) -> None:
    first = decoder.read_square(png, 32)
    process = process_of(decoder)
    os.kill(process, signal.SIGKILL)
    assert np.array_equal(decoder.read_square(png, 32), first)
    assert process_of(decoder) != process


def test_it_ends_with_the_page(decoder: Decoder) -> None:
    """The page's end of the line closes, however the page ends."""
    decoder.start()
    process = decoder._process
    assert process is not None
    decoder._line.close()
    assert process.wait(10) == 0
    decoder.close()  # and once more does no harm


@pytest.mark.parametrize(
    "answer",
    [
        *(b"", b"p", b"pfew", SQUARE[:-1], SQUARE + b"x", b"x" + SQUARE[1:], b"s\xff"),
        b"p" + struct.pack(">III", 16, 64, 0) + SQUARE[13:],
    ],
    ids=["a crash", "nothing", "few", "too few", "too many", "unknown", "no words", "no square"],
)
def test_answers_that_are_none_become_one_sentence(
    decoder: Decoder, png: Path, monkeypatch, answer: bytes
) -> None:
    monkeypatch.setattr(decoder, "_answer", lambda asked: answer)
    with pytest.raises(UploadError, match=r"cannot be decoded|\ufffd"):
        decoder.read_square(png, 32)


def program(decoder: Decoder, code: str) -> subprocess.Popen[bytes]:
    """One that takes a picture's place in the line, and does something else."""
    decoder._line, theirs = socket.socketpair()
    take = "import os, socket, time; line = socket.socket(fileno=0); "
    with theirs:
        decoder._process = subprocess.Popen(
            [sys.executable, "-c", take + code], stdin=theirs, start_new_session=True
        )
    return decoder._process


def test_one_that_ends_before_it_took_the_picture_is_asked_again(
    decoder: Decoder, png: Path
) -> None:
    whole = decoder.read_square(png, 32)
    decoder.close()
    process = program(decoder, "socket.recv_fds(line, 99, 1); os._exit(3)")
    assert np.array_equal(decoder.read_square(png, 32), whole)
    assert process.wait(10) == 3


def test_it_is_not_waited_for_for_ever(
    decoder: Decoder, png: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is what it forked left behind."""
    monkeypatch.setattr(apart, "PATIENCE", 1)
    process = program(decoder, "os.fork(); time.sleep(60)")
    with pytest.raises(UploadError, match="cannot be decoded"):
        decoder.read_square(png, 32)
    assert process.wait(10) == -signal.SIGKILL
    monkeypatch.undo()  # a busy machine may need more than that to start the next one
    assert decoder.read_square(png, 32).shape == (32, 32, 3)


def test_no_more_is_read_than_an_answer_has(
    decoder: Decoder, png: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "MOST", 10_000)
    endless = (
        "_, (pipe,), *_ = socket.recv_fds(line, 9999, 1)\nwhile True: os.write(pipe, b'p' * 99)"
    )
    process = program(decoder, endless)
    with pytest.raises(UploadError, match="cannot be decoded"):
        decoder.read_square(png, 32)
    assert process.wait(10) == 1  # its pipe was closed while it wrote


def answered(work: Callable[[], bytes], **limits: int) -> bytes:
    """What comes out of the pipe of one picture."""
    reading, writing = os.pipe()
    apart.apart(work, writing, **limits)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        return pipe.read()


def test_only_the_fork_dies() -> None:
    assert answered(lambda: b"fine") == b"fine"
    assert answered(lambda: os.kill(os.getpid(), signal.SIGKILL)) == b""  # type: ignore[arg-type, return-value]
    assert answered(lambda: 1 / 0) == b""  # type: ignore[arg-type, return-value]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are not told here")
def test_it_cannot_ask_or_answer_in_another_name() -> None:
    """It has a pipe of its own, and no line."""

    code = """if True:
        import os, socket
        from pathlib import Path
        from app.server import decoder
        files = lambda *_: [os.readlink(f) for f in Path("/proc/self/fd").iterdir() if f.exists()]
        decoder._decoded = lambda *_: b"%d" % sum(name.startswith("socket") for name in files())
        decoder.serve(socket.socket(fileno=0))
    """
    ours, theirs = socket.socketpair()
    reading, writing = os.pipe()
    with ours, theirs, os.fdopen(reading, "rb") as pipe:
        subprocess.Popen([sys.executable, "-c", code], stdin=theirs, cwd=ROOT)
        socket.send_fds(ours, [b"32 /a"], [writing])
        os.close(writing)
        assert pipe.read() == b"t0"


def test_time_is_limited() -> None:
    begun = time.monotonic()
    assert answered(lambda: time.sleep(60), seconds=1) == b""  # type: ignore[arg-type, return-value]
    assert time.monotonic() - begun < 20


def test_memory_is_limited() -> None:
    def greedy() -> bytes:
        try:
            return b"%d" % len(np.ones(2 * apart.MEMORY, np.uint8))
        except MemoryError:
            return b"too much"

    assert answered(greedy) == b"too much"


def test_no_file_is_written(tmp_path: Path) -> None:
    def writes() -> bytes:
        try:
            return b"%d" % (tmp_path / "a").write_bytes(b"mark")
        except OSError:
            return b"refused"

    assert answered(writes) == b"refused"
    assert not (tmp_path / "a").read_bytes()


def test_a_photograph_keeps_its_size_up_to_a_limit(decoder: Decoder, tmp_path: Path) -> None:
    for width, height in ((90, 60), (1500, 1000), (4000, 3000)):
        path = tmp_path / f"{width}.png"
        Image.effect_noise((width, height), 50).convert("RGB").save(path, compress_level=1)
        found, came = decoder.read_photograph(path)
        theirs, _ = uploads.read_photograph(path, PHOTO_PIXELS)
        assert np.array_equal(found, theirs)
        assert found.flags.writeable
        assert came == width * height
        assert 0.7 * min(came, PHOTO_PIXELS) < found.shape[0] * found.shape[1] <= PHOTO_PIXELS
        assert abs(found.shape[1] / found.shape[0] - width / height) < 0.01
    with pytest.raises(UploadError, match="Choose a picture first"):
        decoder.read_photograph(None)


@pytest.mark.parametrize("content", [b"", bytes(5), bytes(12), bytes(40)])
def test_a_photograph_of_another_size_than_told_is_none(
    decoder: Decoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setattr(decoder, "_answer", lambda *_: b"p" + content)
    with pytest.raises(UploadError, match="cannot be decoded"):
        decoder.read_photograph(tmp_path / "a.png")
